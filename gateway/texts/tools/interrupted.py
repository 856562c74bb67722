"""Sentences on calls of tools that a restart interrupted."""

from collections.abc import Sequence

from agent_core.localization import Plural, Text

_DOUBT = Text("I was restarted during this step and don't know whether it took effect: {action}")
_MORE = Plural("The same is true of {n:,} more step.", "The same is true of {n:,} more steps.")
_MOST_NAMED = 3


def describe_interrupted(actions: Sequence[str]) -> str:
    """Name the steps whose outcome is unknown; "" without any."""
    lines = [_DOUBT(action=action) for action in actions[:_MOST_NAMED]]
    if len(actions) > _MOST_NAMED:
        lines.append(_MORE(n=len(actions) - _MOST_NAMED))
    return "\n".join(lines)
