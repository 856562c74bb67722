"""Find out whether a person's words name the value of a setting. Pure."""

import re
from collections.abc import Mapping
from itertools import pairwise

from agent_core.spoken_settings import LANGUAGE_NAMES
from agent_core.time_zones import find_zone, read_hours
from agent_core.tools.clock import read_days

_WORD = re.compile(r"[^\W\d_][\w'-]*")
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2})(?:[:.](\d\d))?(?![\d:]) ?([ap]\.?m\b)?", re.IGNORECASE)
_MIDNIGHT = re.compile(r"\b(?:midnight|mitternacht)\b", re.IGNORECASE)
_NOON = 12
_MINUTES = 60
_DAYS = (
    *("mon", "tue|die|dienstag", "wed|mittwoch", "thu|donnerstag", "fri|frei"),
    *("sat|samstag|sonnabend", "sun|sonntag"),
)


_ABOUT: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "language": r"\b(?:(?:to|with|mit) (?:me|mir)|(?:answer|reply|write|schreib\w*) (?:me|mir)"
        r"|from now on|ab jetzt|ab sofort|always|immer|language|sprache|in future|künftig)\b",
        "quiet_hours": r"\b(?:quiet|messages?|disturb|silen\w*|ping\w*|notif\w*|ruhe\w*"
        r"|nachricht\w*|stör\w*|still)\b",
        "days_off": r"\b(?:off|messages?|disturb|quiet|frei|ruhe\w*|nachricht\w*|stör\w*)\b",
        "verbosity": r"\b(?:detail\w*|verbos\w*|tools?|steps?|ausführlich\w*|schritte?)\b",
    }.items()
}
"""Words without which a sentence is about something else than a setting."""
_LIVES = (
    r"(?:time ?zone|zeitzone)\b.*\b{0}|\b{0}\b.*\b(?:time ?zone|zeitzone|time|zeit)\b"
    r"|\b(?:i['’]?m|am|we['’]?re|are|live|moved|bin|sind|wohne|lebe)\b(?: \w+){{0,2}}"
    r" (?:in|to|nach) {0}\b"
)


def says_setting(sentence: str, name: str, value: str) -> bool:
    """Return whether a sentence names the value of a setting; no words name an unknown one."""
    if name in _ABOUT and not _ABOUT[name].search(sentence):
        return False
    match name:
        case "time_zone":
            return _says_zone(sentence, value)
        case "language":
            tag, said = value.partition("-")[0].casefold(), sentence.casefold()
            return any(
                re.search(rf"\b{one}\w{{0,3}}\b", said) for one in LANGUAGE_NAMES.get(tag, ())
            )
        case "quiet_hours":
            hours = read_hours(value)
            return hours is not None and set(hours) <= _list_clocks(sentence)
        case "days_off":
            return _says_days(sentence, value)
        case "verbosity":
            return re.search(rf"\b{re.escape(value)}\b", sentence, re.IGNORECASE) is not None
    return False


def _says_zone(sentence: str, value: str) -> bool:
    wanted = find_zone(value)
    words = _WORD.findall(sentence)
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    named = (one for one in (*words, *pairs) if len(one) > 2)
    return wanted is not None and any(
        find_zone(one) == wanted and re.search(_LIVES.format(re.escape(one)), sentence, re.I)
        for one in named
    )


def _list_clocks(sentence: str) -> set[int]:
    """List the minutes of the day that a sentence may name; "10" may be either half of a day."""
    found = {0} if _MIDNIGHT.search(sentence) else set[int]()
    for one in _CLOCK.finditer(sentence):
        hour, minute, half = int(one[1]) % 24, int(one[2] or 0), (one[3] or "").casefold()
        if half:
            found.add((hour % _NOON + (_NOON if half[0] == "p" else 0)) * _MINUTES + minute)
            continue
        found.add(hour * _MINUTES + minute)
        if hour < _NOON and not one[2]:
            found.add((hour + _NOON) * _MINUTES + minute)
    return found


def _says_days(sentence: str, value: str) -> bool:
    days = read_days(value)
    said = sentence.casefold()
    weekend = re.search(r"\bweekends?\b|\bwochenende", said) is not None
    return bool(days) and all(
        (weekend and day > 5) or re.search(rf"\b(?:{_DAYS[day - 1]})\w*", said) for day in days
    )
