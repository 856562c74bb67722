"""Find the kind of change that a sentence claims."""

import re
from collections.abc import Mapping

from agent_core.agent.claims.deeds import Kind

_SETTING = (
    r"time ?zone|quiet hours|days off|language|zeitzone|ruhezeiten|einstellung|setting"
    r"|sprachantworten|voice answers"
)
_JOB = (
    r"remind|alarm|timer|schedul|wake|ping\b|nudge|hear from me|calendar|appointment|booked"
    r"|digest|keep an eye|get back to you|erinner|wecke|termin|kalender|melde mich|stups"
    r"|(?<!weiß )bescheid"
    r"|pinge|zusammenfassung|recordatorio|recordar|rappel|promemoria|ricorder|lembr|herinner"
)
# "Noted." alone is no kind: it may confirm a reminder as well as an entry of memory
_MEMORY = (
    r"remember|memor|note\b|forgotten|keep (?:it|that|this) in mind|jotted|merke|gedächtnis|vergess"
)
_MESSAGE = (
    r"\b(?:e-?mails?|messages?|texted|emailed|forwarded|sent|inform\w*|notified|told|nachrichten?"
    r"|mails?|geschickt|gesendet|weiß bescheid|geschrieben|informiert|weitergeleitet|verschickt)\b"
)
_WORDS: Mapping[Kind, re.Pattern[str]] = {
    "setting": re.compile(_SETTING, re.IGNORECASE),
    "job": re.compile(_JOB, re.IGNORECASE),
    "memory": re.compile(_MEMORY, re.IGNORECASE),
    "message": re.compile(_MESSAGE, re.IGNORECASE),
}


def find_kind(words: str) -> Kind:
    """Return what a claim is about; `any` if its words don't tell."""
    return next((kind for kind, pattern in _WORDS.items() if pattern.search(words)), "any")
