"""Read words for a calendar rule, such as "half an hour before sunset on Fridays, ten times". Pure.

`spoken_times` reads single moments and plain repetitions; these are what a cron expression can't
say: times of the sun, steps within hours, working days, days that are left out, and an end.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from agent_core.time_phrases import MONTHS, rewrite

Fields = dict[str, Any]
Read = Callable[[str], Fields | None]
"""Reads words for a plain time into the fields of a job."""

_MONTH = "|".join(name for names in MONTHS for name in names)
_NOT = r",? (?:except|but not|not|außer|nicht)"
_HOLIDAYS = re.compile(
    rf"{_NOT} (?:on |at |an |am )?(?:public |bank )?(?:holidays|feiertagen|feiertags)$"
)
_LEFT_OUT = re.compile(
    rf"{_NOT} (?:from|vom|von) (?P<first>.+?) (?:to|until|bis)(?: zum)? (?P<last>.+)$"
)
_COUNT = re.compile(r",? (?P<count>\d{1,4}) ?(?:times|mal)$")
_UNTIL = re.compile(r",? (?:until|bis)(?: zum)? (?P<end>.+)$")
_MONTH_END = re.compile(rf"(?:the )?(?:end of|ende) (?P<month>{_MONTH})")
_SUN = re.compile(
    r"(?:(?P<earlier>.+?),? )??"
    r"(?:(?P<n>\d{1,3}|an?|half an|eine|eine halbe) (?P<unit>min\w*|hours?|stunden?)"
    r" (?P<side>before|after|vor|nach) |(?:at|bei) )?"
    r"(?P<event>sunset|sunrise|sonnenuntergang|sonnenaufgang)(?:,? (?P<days>.+))?"
)
_HOUR = r"(?:\d{1,2}(?:[:.]\d\d)?)(?: ?[ap]\.?m\.?| uhr)?"
_STEPS = re.compile(
    rf"(?:every|alle) (?P<n>\d{{1,3}}) (?P<unit>min\w*|hours?|stunden?)"
    rf" (?:between|from|zwischen|von) (?P<first>{_HOUR}) (?:and|to|until|und|bis) (?P<last>{_HOUR})"
    r"(?:,? (?P<days>.+))?"
)
_PLACED = re.compile(
    r"(?:on |am )?(?:the )?(?P<which>first|1st|erste[nr]?|last|letzte[nr]?)"
    r" (?P<work>work(?:ing )?|business |arbeits|werk)?(?:day|tag) "
    r"(?:(?:of|in) (?:the|each|every) month|(?:des|jeden|jedes|im|eines) monats?)(?P<clock> .+)?"
)
_BEFORE_END = re.compile(
    r"(?P<n>\d{1,2}) (?:days?|tage?) (?:before the (?:month ends|end of (?:the|each) month)"
    r"|vor (?:dem )?monatsende)(?P<clock> .+)?"
)
_WORKING_DAYS = "BYDAY=MO,TU,WE,TH,FR"
_SUN_NAMES = {"sonnenuntergang": "sunset", "sonnenaufgang": "sunrise"}


def read_rule(words: str, now: datetime, read: Read) -> Fields | None:
    """Return the times, the rule and the limits that words mean; None for other words.

    `read` reads a plain time: the days, the hours and the dates within these words.
    """
    plain, limits = _take_limits(rewrite(words), now, read)
    found = _read_sun(plain, read) or _read_steps(plain, read) or _read_place(plain, read)
    if found is None and limits:
        found = read(plain)
    repeats = found is not None and ("rule" in found or "every_minutes" in found)
    return {**found, **limits} if found and repeats else None


def _take_limits(plain: str, now: datetime, read: Read) -> tuple[str, Fields]:
    """Return words without the limits at their end, and the limits."""
    limits: Fields = {}
    while True:
        if found := _HOLIDAYS.search(plain):
            limits["skip"] = (*limits.get("skip", ()), "holidays")
        elif (found := _LEFT_OUT.search(plain)) and (span := _read_span(found, read)):
            limits["skip"] = (*limits.get("skip", ()), span)
        elif found := _COUNT.search(plain):
            limits["count"] = int(found["count"])
        elif (found := _UNTIL.search(plain)) and (end := _read_end(found["end"], now, read)):
            limits["until"] = end
        else:
            return plain, limits
        plain = plain[: found.start()]


def _read_span(found: re.Match[str], read: Read) -> str:
    first, last = _read_day(found["first"], read), _read_day(found["last"], read)
    if not first or not last:
        return ""
    if last < first:  # from December to January
        year = date.fromisoformat(last).year + 1
        last = f"{year}{last[4:]}"
    return f"{first}/{last}"


def _read_end(words: str, now: datetime, read: Read) -> str:
    found = _MONTH_END.fullmatch(words)
    if found is None:
        return _read_day(words, read)
    number = next(at for at, names in enumerate(MONTHS, 1) if found["month"] in names)
    year = now.year + (number < now.month)
    following = date(year + number // 12, number % 12 + 1, 1)
    return f"{following - timedelta(days=1)}"


def _read_day(words: str, read: Read) -> str:
    """Return the date that words name; "" for other words."""
    return ((read(words) or {}).get("at") or "")[:10]


def _read_clock(words: str, read: Read) -> str:
    """Return the time of day that words such as " at 9" name, `09:00`; "" for other words."""
    return ((read(f"2000-01-01{words}") or {}).get("at") or "")[11:16]


def _read_days(words: str | None, read: Read) -> str | None:
    """Return the rule of days that repeat; None for others."""
    if not words:
        return "FREQ=DAILY"
    found = read(f"{words} at 9:00") or {}
    return found.get("rule")


def _read_sun(plain: str, read: Read) -> Fields | None:
    found = _SUN.fullmatch(plain)
    days = (found["earlier"] or found["days"]) if found else None
    rule = _read_days(days, read) if days else None
    if found is None or rule is None:
        return None
    event = _SUN_NAMES.get(found["event"], found["event"])
    if not found["n"]:
        return {"times": (event,), "rule": rule}
    minutes = _reckon(found["n"], found["unit"])
    sign = "-" if found["side"] in ("before", "vor") else "+"
    return {"times": (f"{event}{sign}{minutes}",), "rule": rule}


def _reckon(count: str, unit: str) -> int:
    """Return the minutes of "half an hour", "an hour" or "20 minutes"."""
    size = 1 if unit.startswith("min") else 60
    if count in ("half an", "eine halbe"):
        return size // 2
    return (int(count) if count.isdecimal() else 1) * size


def _read_steps(plain: str, read: Read) -> Fields | None:
    found = _STEPS.fullmatch(plain)
    rule = _read_days(found["days"], read) if found else None
    if found is None or rule is None:
        return None
    first, last = (_read_clock(f" at {found[name]}", read) for name in ("first", "last"))
    if not first or not last:
        return None
    return {"times": (f"{first}-{last}/{_reckon(found['n'], found['unit'])}",), "rule": rule}


def _read_place(plain: str, read: Read) -> Fields | None:
    """Read the first or last day, or working day, of each month, and days before its end."""
    if found := _BEFORE_END.fullmatch(plain):
        days = f"BYMONTHDAY=-{int(found['n']) + 1}"
    elif found := _PLACED.fullmatch(plain):
        place = -1 if found["which"].startswith(("last", "letzt")) else 1
        is_work = found["work"] is not None
        days = f"{_WORKING_DAYS};BYSETPOS={place}" if is_work else f"BYMONTHDAY={place}"
    else:
        return None
    clock = _read_clock(found["clock"] or "", read)
    return {"times": (clock,), "rule": f"FREQ=MONTHLY;{days}"} if clock else None
