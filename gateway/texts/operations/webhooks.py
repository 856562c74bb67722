"""Sentences about outgoing webhooks."""

from agent_core.localization import Text

DEAD_WEBHOOK = Text(
    "Your webhook **{name}** gets no more events. New ones wait until"
    " `talaria webhooks resume {number}`. Details in English: “{reason}.”"
)
