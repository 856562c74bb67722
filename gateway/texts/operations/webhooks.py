"""Sentences about outgoing webhooks."""

from agent_core.localization import Text

_DEAD = Text(
    "Your webhook **{name}** gets no more events. New ones wait until"
    " `talaria webhooks resume {number}`. Details in English: “{reason}.”"
)


def describe_dead_webhook(number: int, name: str, reason: str) -> str:
    """Tell a person that their webhook ended, and how it goes on."""
    return _DEAD(name=name, number=number, reason=reason)
