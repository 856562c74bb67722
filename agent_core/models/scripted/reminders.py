"""Parse when the stand-in should remind a person, in English and German; pure."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from agent_core.models.scripted.commands import Remind

_DAYS = (
    ("sunday", "sonntag"),
    ("monday", "montag"),
    ("tuesday", "dienstag"),
    ("wednesday", "mittwoch"),
    ("thursday", "donnerstag"),
    ("friday", "freitag"),
    ("saturday", "samstag"),
)
"""Numbered as in cron expressions."""
_SETS = {
    "day": "*",
    "tag": "*",
    "morning": "*",
    "morgen": "*",
    "evening": "*",
    "abend": "*",
    "weekday": "1-5",
    "workday": "1-5",
    "werktag": "1-5",
    "weekend": "6,0",
}
_HOURS = {"evening": 20, "abend": 20, "tonight": 20, "heute abend": 20, "morning": 8, "morgen": 8}
"""Default hours of names for parts of a day."""
_HOUR = 9
_UNITS = {"m": 1, "h": 60, "s": 60, "d": 1440, "t": 1440, "w": 10_080}
"""Minutes by the first letter of a unit; "Stunde" and "Tag" are German."""

_UNIT = r"(?P<unit>m|mins?|minutes?|minuten?|h|hours?|stunden?|days?|tage?n?|tag|weeks?|wochen?)"
_DAY = "|".join(name for names in _DAYS for name in names)
_WORD = rf"(?:{_DAY}|{'|'.join(_SETS)})s?"
_CLOCK = (
    r"(?: (?:at|um|@) ?(?:(?P<h>\d{1,2})(?:[:.](?P<m>[0-5]\d))?"
    r" ?(?P<half>[ap]\.?m\.?)?(?: (?:uhr|o['’]clock))?|(?P<name>noon|midnight|mittag|mitternacht)))"
)
_SPAN = rf"in (?P<n>\d{{1,5}}|an?|one|einer?|einem) ?{_UNIT}"
_OFTEN = rf"(?:every|alle) (?P<often>\d{{1,4}}) ?{_UNIT}"
_LAST = r"(?:on )?the last (?P<work>work(?:ing )?)?day of (?:the|every|each) month" + f"{_CLOCK}?"
_EVERY = (
    rf"(?:(?:every|each|on|jeden|jede) )?(?P<set>daily|täglich|weekdays|werktags|"
    rf"(?<=every |jeden )(?:{_WORD})(?:(?:, | and | und |, and )(?:{_WORD}))*){_CLOCK}?"
)
_ONCE = (
    r"(?:(?:on|next|this|am|nächsten) )?(?P<day>today|tonight|tomorrow|the day after tomorrow|"
    rf"heute abend|heute|morgen|übermorgen|{_DAY}|\d{{4}}-\d\d-\d\d){_CLOCK}?"
)
_TODAY = f"(?P<today>){_CLOCK[:-1].replace('(?: (?:at', '(?:(?:at', 1)})"
_WHENS = (_SPAN, _OFTEN, _LAST, _EVERY, _ONCE, _TODAY)
_RECURRING = tuple(when.removesuffix("?") for when in (_LAST, _EVERY))
"""With a time of day, these words need no "remind me". Without one, they are no request: "Every day
I run".
"""
_ME = r"(?:remind me|erinnere? mich)"
_TO = r"(?:,? ?(?:to|that|about|daran,?|dass|:)|[,:])? (?P<text>.+)"
_PATTERNS = (
    *(rf"{_ME} {when}{_TO}" for when in _WHENS),
    *(rf"{when}[,:]? {_ME}{_TO}" for when in _WHENS),
    *(rf"{when}{_TO}" for when in _RECURRING),
    *(rf"{_ME}(?: (?:to|that|about|daran,?))? (?P<text>.+?),? {when}" for when in _WHENS),
)


def read_reminder(
    line: str, match: Callable[[str, str], re.Match[str] | None], now: datetime | None
) -> Remind | None:
    """Parse a line; `match` matches a pattern with the line, and `now` is the person's clock.

    Without a clock, it can't understand a day such as "tomorrow".
    """
    for pattern in _PATTERNS:
        found = match(pattern, line)
        timing = _read_timing(found, now) if found else None
        if found and timing:
            return replace(timing, text=found["text"].strip())
    return None


def _read_timing(found: re.Match[str], now: datetime | None) -> Remind | None:
    given = found.groupdict()
    if given.get("n"):
        count = int(given["n"]) if given["n"].isdecimal() else 1
        return Remind(in_minutes=count * _UNITS[given["unit"][0].lower()])
    if given.get("often"):
        return Remind(every_minutes=int(given["often"]) * _UNITS[given["unit"][0].lower()])
    named = (given.get("set") or given.get("day") or "").lower()
    clock = _read_clock(given, _HOURS.get(named.split(" and ")[0], _HOUR))
    if clock is None:
        return None
    hour, minute = clock
    if "work" in given:
        return Remind(cron=f"{minute} {hour} {'LW' if given['work'] else 'L'} * *")
    if given.get("set"):
        return Remind(cron=f"{minute} {hour} * * {_list_days(named)}")
    if now is None:
        return None
    moment = _find_moment(named, now.replace(hour=hour, minute=minute), now)
    return Remind(at=f"{moment:%Y-%m-%dT%H:%M}") if moment else None


def _read_clock(given: dict[str, str | None], default: int) -> tuple[int, int] | None:
    name, half = given.get("name"), (given.get("half") or "").lower()
    if name:
        return (12 if name.lower() in ("noon", "mittag") else 0), 0
    hour = int(given.get("h") or default)
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return (hour, int(given.get("m") or 0)) if hour < 24 else None


def _list_days(named: str) -> str:
    """Return the days of a cron expression: `1-5`, or `1,4`."""
    if named in ("daily", "täglich"):
        return "*"
    if named in ("weekdays", "werktags"):
        return "1-5"
    words = [word.removesuffix("s") for word in re.split(r", and |, | and | und ", named)]
    found = [_SETS.get(word) or str(_number_of(word)) for word in words]
    return "*" if "*" in found else ",".join(found)


def _number_of(word: str) -> int:
    return next(number for number, names in enumerate(_DAYS) if word in names)


def _find_moment(named: str, moment: datetime, now: datetime) -> datetime | None:
    """Return the next moment of a named day, at the hour of `moment`."""
    if named in ("today", "tonight", "heute", "heute abend"):
        return moment
    if named in ("tomorrow", "morgen"):
        return moment + timedelta(days=1)
    if named in ("the day after tomorrow", "übermorgen"):
        return moment + timedelta(days=2)
    if not named:
        return moment if moment > now else moment + timedelta(days=1)
    if named[0].isdecimal():
        try:
            day = datetime.strptime(named, "%Y-%m-%d")
        except ValueError:
            return None
        return moment.replace(year=day.year, month=day.month, day=day.day)
    ahead = (_number_of(named) - now.isoweekday()) % 7
    found = moment + timedelta(days=ahead)
    return found if found > now else found + timedelta(days=7)
