"""Parse words for a time, such as "every monday at 19:00", in English and German; pure."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agent_core.time_phrases import MONTHS, rewrite

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
DAY_NAMES = tuple(name for names in _DAYS for name in names)
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
_DAY_MINUTES = 1440
_HALF_DAY = timedelta(hours=12)
_LAST_BARE = 7
"""The last hour that people who are awake mean in the afternoon: "at 7", said at noon."""
_LAST_DARK = 5
"""The last bare hour that people mean in the afternoon, even if they say it in the evening."""
_LATE = 21
"""From this hour on, a bare hour is one of the coming night or morning."""
_LONGEST_WAIT = 4
"""The most months until the next one with a 31st, and the present one."""
_LONGEST_LEAP = 8
"""The most years from one 29 February to the next: from 2096 to 2104."""
PLACES = (
    ("first", "1st", "erste"),
    ("second", "2nd", "zweite"),
    ("third", "3rd", "dritte"),
    ("fourth", "4th", "vierte"),
    ("last", "letzte"),
)
"""The places of a weekday in a month, the last one at the end."""
_GAPS = {
    "other": 2,
    "two": 2,
    "three": 3,
    "four": 4,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "zweite": 2,
    "dritte": 3,
    "vierte": 4,
}
"""Every how many days or weeks something comes."""
_RULE_DAYS = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")
_UNITS = {"m": 1, "h": 60, "s": 60, "d": 1440, "t": 1440, "w": 10_080}
"""Minutes by the first letter of a unit; "Stunde" and "Tag" are German."""

_UNIT = (
    r"(?P<unit>m|mins?|minutes?|minuten?|h|hrs?|hours?|stunden?|days?|tage?n?|tag|weeks?|wochen?)"
)
_DAY = "|".join(name for names in _DAYS for name in names)
_WORD = rf"(?:{_DAY}|{'|'.join(_SETS)})s?"
_CLOCK = (
    r"(?: (?:at|um|@) ?(?:(?P<h>\d{1,2})(?:[:.](?P<m>[0-5]\d))?"
    r" ?(?P<half>[ap]\.?m\.?)?(?: (?:uhr|o['’]clock))?|(?P<name>noon|midnight|mittag|mitternacht)))"
)
_SPAN = rf"in (?P<n>\d{{1,10}}|an?|one|einer?|einem) ?{_UNIT}{_CLOCK}?"
_OFTEN = rf"(?:every|alle) (?P<often>\d{{1,4}}) ?{_UNIT}(?!{_CLOCK})"
LAST = r"(?:on )?the last (?P<work>work(?:ing )?)?day of (?:the|every|each) month" + f"{_CLOCK}?"
_NUMBER = r"(?:st|nd|rd|th|\.)?"
_MONTHLY = (
    rf"(?:on |am )?(?:the |day )?(?P<nth>\d{{1,2}}){_NUMBER} (?:of )?(?:the|every|each|jedes|jeden)"
    rf" (?:month|monats?){_CLOCK}?"
)
_PLACE = "|".join(name for names in PLACES for name in names)
_NTH_DAY = (
    rf"(?:(?:on |am )?(?:the |every |each |jede[nrs]? )?)(?P<which>{_PLACE})(?:[nrs]|(?<=\d)\.)?"
    rf" (?P<weekday>{_DAY})s?"
    rf" (?:(?:of|in) (?:(?:the|every|each|a) )?month"
    rf"|(?:im|des|(?:in )?jede[mns]|eines) monats?){_CLOCK}?"
)
_MONTH = "|".join(name for names in MONTHS for name in names)
_DATE = (
    rf"(?P<yearly>every year (?=on |am ))?(?:on |am )?(?:the )?(?P<dom>\d{{1,2}}){_NUMBER}"
    rf" (?:of )?(?P<month>{_MONTH}){_CLOCK}?"
)
EVERY = (
    rf"(?:(?:every|each|on|jeden|jede) )?(?P<set>daily|täglich|weekdays|werktags|"
    rf"(?<=every |jeden )(?:{_WORD})(?:(?:, | and | und |, and )(?:{_WORD}))*){_CLOCK}?"
)
_GAPPED = (
    rf"(?:every|each|alle|jede[nrs]?) (?P<gap>\d{{1,2}}|{'|'.join(_GAPS)})(?:st|nd|rd|th|\.|[nrs])?"
    rf" (?:weeks?(?: on)? |wochen?(?: am)? )?"
    rf"(?P<each>tage|weeks?|wochen?|{_WORD}(?:(?:, | and | und |, and )(?:{_WORD}))*){_CLOCK}?"
)
_ONCE = (
    r"(?:(?:on|next|this|am|nächsten) )?(?P<day>today|tonight|tomorrow|the day after tomorrow|"
    rf"heute abend|heute|morgen|übermorgen|{_DAY}|\d{{4}}-\d\d-\d\d){_CLOCK}?"
)
_WEEKS = r"(?:an?|one|einer?|\d{1,2}) (?:weeks?|wochen?)"
_LATER = (
    rf"(?:on |am |next )?(?P<day>today|heute|tomorrow|morgen|{_DAY}) in (?P<later>{_WEEKS})"
    rf"{_CLOCK}?"
)
_WEEK_DAY = rf"in (?P<ahead>{_WEEKS}),? (?:on |am )?(?P<day>{_DAY}){_CLOCK}?"
_MONTHS_AHEAD = (
    r"in (?P<months>\d{1,2}|an?|one|einem) (?P<size>months?|monat(?:e?n?)?|years?|jahr(?:e?n?)?)"
    rf"{_CLOCK}?"
)
_DAY_OF_MONTH = (
    rf"(?:on the (?P<dom>\d{{1,2}}){_NUMBER}|on (?P<th>\d{{1,2}})(?:st|nd|rd|th)"
    rf"|am (?P<am>\d{{1,2}})\.?){_CLOCK}?"
)
_TODAY = f"(?P<today>){_CLOCK[:-1].replace('(?: (?:at', '(?:(?:at', 1)})"
WHENS = (
    *(_SPAN, _OFTEN, LAST, _NTH_DAY, _MONTHLY, _GAPPED, EVERY, _DATE, _ONCE, _TODAY),
    *(_LATER, _WEEK_DAY, _MONTHS_AHEAD, _DAY_OF_MONTH),
)
"""The patterns of words for a time; see `read_timing`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTime:
    """When something is due: one field is set, an argument of the tool for jobs.

    A `rule` comes with its `times`.
    """

    in_minutes: int = 0
    every_minutes: int = 0
    at: str = ""
    cron: str = ""
    rule: str = ""
    times: str = ""


def read_when(words: str, now: datetime | None) -> SpokenTime | None:
    """Parse the words for a time alone, such as "every monday at 19:00"; None for others.

    Without a clock, no day is understood.
    """
    plain = rewrite(words)
    for when in WHENS:
        found = re.fullmatch(when, plain, re.IGNORECASE)
        timing = read_timing(found, now) if found else None
        if timing:
            return timing
    return None


def read_timing(found: re.Match[str], now: datetime | None) -> SpokenTime | None:
    """Return the time in a match of one of `WHENS`; without a clock, no day is understood."""
    given = found.groupdict()
    if given.get("n"):
        return _read_span(given, now)
    if given.get("often"):
        return SpokenTime(every_minutes=int(given["often"]) * _UNITS[given["unit"][0].lower()])
    named = (given.get("set") or given.get("each") or given.get("day") or "").lower()
    clock = _read_clock(given, _HOURS.get(named.split(" and ")[0], _HOUR))
    if clock is None:
        return None
    hour, minute = clock
    if "work" in given:
        return SpokenTime(cron=f"{minute} {hour} {'LW' if given['work'] else 'L'} * *")
    if given.get("which"):
        day = number_of(given["weekday"].lower())
        which = given["which"].lower()
        place = next(number for number, names in enumerate(PLACES, 1) if which in names)
        return SpokenTime(cron=f"{minute} {hour} * * {day}{f'#{place}' if place < 5 else 'L'}")
    if given.get("nth"):
        day = int(given["nth"])
        return SpokenTime(cron=f"{minute} {hour} {day} * *") if 1 <= day <= 31 else None
    if given.get("set"):
        return SpokenTime(cron=f"{minute} {hour} * * {_list_days(named)}")
    if now is None:
        return None
    if given.get("gap"):
        rule = _make_rule(given["gap"].lower(), named, now)
        return SpokenTime(rule=rule, times=f"{hour:02}:{minute:02}") if rule else None
    at = now.replace(hour=hour, minute=minute)
    is_night = hour > _LAST_DARK or now.hour >= _LATE
    is_over = now >= at + _HALF_DAY and (named or is_night)
    if named in ("", "today", "heute") and _is_bare(given) and at <= now and not is_over:
        at += _HALF_DAY  # "at 5", said by day or in the evening
    if given.get("yearly"):
        month = _month_of(given["month"].lower())
        return SpokenTime(cron=f"{minute} {hour} {int(given['dom'])} {month} *")
    if given.get("month"):
        day, month = int(given["dom"]), _month_of(given["month"].lower())
        moment = _find_date(day, month, at, now)
        if moment is None and 1 <= day <= 31:
            # A date that never occurs: the reader of cron expressions says so.
            return SpokenTime(cron=f"{minute} {hour} {day} {month} *")
    else:
        moment = _find_single(given, named, at, now)
    return SpokenTime(at=f"{moment:%Y-%m-%dT%H:%M}") if moment else None


def _make_rule(gap: str, named: str, now: datetime) -> str:
    """Return the rule of "every 2 days" or of "every second monday"; "" for a gap of none."""
    count = int(gap) if gap.isdecimal() else _GAPS[gap]
    if count < 1:
        return ""
    if named.startswith(("week", "woche")) and named.removesuffix("s") not in _SETS:
        return f"FREQ=WEEKLY;INTERVAL={count};BYDAY={_RULE_DAYS[now.isoweekday() % 7]}"
    days = "*" if named == "tage" else _list_days(named)
    if days == "*":
        return f"FREQ=DAILY;INTERVAL={count}"
    return f"FREQ=WEEKLY;INTERVAL={count};BYDAY={name_days(days)}"


def name_days(weekdays: str) -> str:
    """Return the days of a cron expression, such as `1-5`, as a rule names them."""
    numbers: list[int] = []
    for part in weekdays.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return ",".join(dict.fromkeys(_RULE_DAYS[number % 7] for number in numbers))


def _read_span(given: dict[str, str | Any], now: datetime | None) -> SpokenTime | None:
    """Return a span; with a time of day, it is a number of days."""
    count = int(given["n"]) if given["n"].isdecimal() else 1
    minutes = count * _UNITS[given["unit"][0].lower()]
    if not given["h"] and not given["name"]:
        return SpokenTime(in_minutes=minutes)
    clock = _read_clock(given, _HOUR)
    if now is None or clock is None or minutes % _DAY_MINUTES:
        return None
    at = (now + timedelta(minutes=minutes)).replace(hour=clock[0], minute=clock[1])
    return SpokenTime(at=f"{at:%Y-%m-%dT%H:%M}")


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
    found = [_SETS.get(word) or str(number_of(word)) for word in words]
    return "*" if "*" in found else ",".join(found)


def number_of(word: str) -> int:
    """Return the number of a weekday, Sunday as 0."""
    return next(number for number, names in enumerate(_DAYS) if word in names)


def _month_of(named: str) -> int:
    return next(number for number, names in enumerate(MONTHS, start=1) if named in names)


def _find_date(day: int, month: int, at: datetime, now: datetime) -> datetime | None:
    """Return the next moment of a day of a month, at the hour of `at`."""
    for year in range(now.year, now.year + _LONGEST_LEAP + 1):
        try:
            found = at.replace(year=year, month=month, day=day)
        except ValueError:
            continue
        if found > now:
            return found
    return None


def _find_single(
    given: dict[str, str | Any], named: str, at: datetime, now: datetime
) -> datetime | None:
    """Return the moment of a named day, also weeks or months from now, at the hour of `at`."""
    if given.get("months"):
        return _add_months(at, given)
    if day_of_month := given.get("dom") or given.get("th") or given.get("am"):
        return _find_day(int(day_of_month), at, now)
    if weeks := given.get("ahead"):  # the day of that calendar week
        monday = at - timedelta(days=at.weekday())
        return monday + _count_weeks(weeks) + timedelta(days=(number_of(named) - 1) % 7)
    weeks = given.get("later")
    if weeks and named in DAY_NAMES and now.isoweekday() % 7 == number_of(named):
        return at + _count_weeks(weeks)
    moment = _find_moment(named, at, now)
    return moment + _count_weeks(weeks) if moment and weeks else moment


def _is_bare(given: dict[str, str | None]) -> bool:
    """Return whether a time of day may be either half of the day: "at 5" and "at 5:30"."""
    hour = given.get("h") or ""
    return not given.get("half") and len(hour) == 1 and 1 <= int(hour) <= _LAST_BARE


def _count_weeks(words: str) -> timedelta:
    count = words.split()[0]
    return timedelta(weeks=int(count) if count.isdecimal() else 1)


def _add_months(at: datetime, given: dict[str, str | Any]) -> datetime:
    """Return the same day some months or years later, or the last one of a shorter month."""
    count = int(given["months"]) if given["months"].isdecimal() else 1
    count *= 1 if given["size"].startswith("mon") else 12
    year, month = at.year + (at.month - 1 + count) // 12, (at.month - 1 + count) % 12 + 1
    return at.replace(year=year, month=month, day=min(at.day, monthrange(year, month)[1]))


def _find_day(day: int, at: datetime, now: datetime) -> datetime | None:
    """Return the next moment of a day of the month, at the hour of `at`."""
    first = at.replace(day=1)
    for _ in range(_LONGEST_WAIT):
        if 1 <= day <= monthrange(first.year, first.month)[1]:
            found = first.replace(day=day)
            if found > now:
                return found
        first = (first + timedelta(days=31)).replace(day=1)
    return None


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
    ahead = (number_of(named) - now.isoweekday()) % 7
    found = moment + timedelta(days=ahead)
    return found if found > now else found + timedelta(days=7)
