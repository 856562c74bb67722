"""Calendar rules: days by RFC 5545, with times of day, limits and skipped days. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Literal, cast
from urllib.parse import quote, unquote, urlsplit

ALWAYS = datetime(1970, 1, 1)
"""The start of a rule without a start."""
Frequency = Literal["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
SunEvent = Literal["sunrise", "sunset"]
DAY_NAMES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
WORKING_DAYS = tuple((0, weekday) for weekday in range(5))
_FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_MOST_INTERVAL = 400
_MOST_OFFSET = 180
_MOST_ITEMS = 100
_LONGEST_RULE = 300
_PARTS = ("FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS")
_WEEKDAY = re.compile(r"([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?:-([01]?\d|2[0-3]):([0-5]\d)/(\d{1,4}))?")
_SUN = re.compile(r"(sunrise|sunset)([+-]\d{1,3})?")
_REGION = re.compile(r"[A-Z]{2}(-[A-Z0-9]{1,3})?")
_STAMP = "%Y%m%dT%H%M%S"
_DAY = "%Y%m%d"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRule:
    """The days of a rule, as RFC 5545 counts them.

    `weekdays` are pairs of an ordinal (0 for every one) and a weekday (0 for Monday).
    """

    frequency: Frequency
    interval: int = 1
    weekdays: tuple[tuple[int, int], ...] = ()
    month_days: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()

    @property
    def names_days(self) -> bool:
        """True unless the rule takes its day from its start."""
        return self.frequency == "DAILY" or bool(self.weekdays or self.month_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTime:
    """A time of day, or each `step` minutes from `first` to `last`; in minutes from midnight."""

    first: int
    last: int
    step: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SunTime:
    """A time of the sun, moved by `offset` minutes; a negative offset is earlier."""

    event: SunEvent
    offset: int = 0


TimeOfDay = ClockTime | SunTime
Spans = tuple[tuple[date, date], ...]
"""Pairs of the first and the last day of a span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """A personal calendar: its address or file name, and its days off as last read."""

    at: str
    spans: Spans = ()

    @property
    def name(self) -> str:
        """The file name, or the host of an address, whose path may be a secret."""
        return urlsplit(self.at).hostname or self.at if "://" in self.at else self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrenceRule:
    """Times of day on the days of a rule, from `start` to `until`, both local and inclusive.

    The start is also the origin of an interval; `ALWAYS` means no start. `without` are spans that
    are skipped, as first and last days. `region` skips the public holidays of a country (ISO 3166),
    `calendar` the days off of a personal calendar. Positions such as the first working day don't
    count skipped holidays and days off.

    `place` is the latitude and longitude for times of the sun, in degrees.
    """

    days: DayRule
    times: tuple[TimeOfDay, ...]
    start: datetime
    until: datetime | None = None
    without: Spans = ()
    region: str = ""
    calendar: Calendar | None = None
    place: tuple[float, float] | None = None


def read_days(text: str) -> DayRule:
    """Parse an RRULE. Raises `ValueError` with a sentence and the nearest rule."""
    words = "".join(text.upper().split()).removeprefix("RRULE:").strip(";")
    if len(words) > _LONGEST_RULE:
        raise ValueError(f"a rule has at most {_LONGEST_RULE} characters")
    parts = dict[str, str]()
    for part in words.split(";"):
        name, _, value = part.partition("=")
        if name in parts:
            raise ValueError(f"the rule has {name} twice")
        parts[name] = value
    frequency = parts.get("FREQ", "")
    if frequency in ("HOURLY", "MINUTELY", "SECONDLY"):
        raise ValueError(
            f"FREQ={frequency} is no rule of days; the nearest is FREQ=DAILY with"
            ' times ["00:00-23:59/60"], or every_minutes; the least is 1 minute'
        )
    if frequency not in _FREQUENCIES:
        raise ValueError(
            f"{text!r} is no rule of days; the nearest have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY,"
            " such as FREQ=WEEKLY;BYDAY=MO, or FREQ=WEEKLY;INTERVAL=4 for each fourth week"
        )
    _refuse_parts(parts)
    days = DayRule(
        frequency=cast(Frequency, frequency),
        interval=_read_interval(parts),
        weekdays=tuple(_read_weekday(one) for one in _split(parts, "BYDAY")),
        month_days=tuple(_read_numbers(parts, "BYMONTHDAY", 31)),
        months=tuple(_read_numbers(parts, "BYMONTH", 12)),
        positions=tuple(_read_numbers(parts, "BYSETPOS", 366)),
    )
    _check_days(days, parts)
    return days


def _refuse_parts(parts: dict[str, str]) -> None:
    foreign = [name for name in parts if name not in _PARTS]
    if not foreign:
        return
    nearest = _join((name, value) for name, value in parts.items() if name in _PARTS)
    ways = {"COUNT": "count", "UNTIL": "until", "BYHOUR": "times", "BYMINUTE": "times"}
    hints = dict.fromkeys(ways[name] for name in foreign if name in ways)
    hint = f" with {' and '.join(hints)} as arguments" if hints else ""
    raise ValueError(f"a rule can't have {', '.join(foreign)}; the nearest is {nearest}{hint}")


def _read_interval(parts: dict[str, str]) -> int:
    text = parts.get("INTERVAL", "1")
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_INTERVAL:
        raise ValueError(
            f"INTERVAL is 1 to {_MOST_INTERVAL}; the nearest is"
            f" {_join({**parts, 'INTERVAL': str(_MOST_INTERVAL)}.items())}"
        )
    return int(text)


def _read_weekday(text: str) -> tuple[int, int]:
    found = _WEEKDAY.fullmatch(text)
    if found is None:
        day = text[-2:] if text[-2:] in DAY_NAMES else "MO"
        raise ValueError(f"{text} is no weekday of a rule; the nearest is BYDAY=-1{day}, or {day}")
    return int(found[1] or 0), DAY_NAMES.index(found[2])


def _read_numbers(parts: dict[str, str], name: str, most: int) -> list[int]:
    least = 1 if name == "BYMONTH" else -most
    found = []
    for text in _split(parts, name):
        number = int(text) if re.fullmatch(r"[+-]?\d{1,3}", text) else 0
        if number == 0 or not least <= number <= most:
            nearest = most if name == "BYMONTH" else -1
            raise ValueError(f"{name}={text} does not exist; the nearest is {name}={nearest}")
        found.append(number)
    return list(dict.fromkeys(found))


def _check_days(days: DayRule, parts: dict[str, str]) -> None:
    """Refuse combinations that RFC 5545 does not define. Raises `ValueError`."""
    if days.frequency in ("DAILY", "WEEKLY") and any(nth for nth, _ in days.weekdays):
        nearest = _join({**parts, "FREQ": "MONTHLY"}.items())
        raise ValueError(f"an ordinal weekday needs a month or a year; the nearest is {nearest}")
    if days.frequency == "WEEKLY" and days.month_days:
        nearest = _join({**parts, "FREQ": "DAILY", "INTERVAL": "1"}.items())
        raise ValueError(f"a weekly rule has no BYMONTHDAY; the nearest is {nearest}")
    if days.positions and (days.frequency in ("DAILY", "WEEKLY") or not days.names_days):
        nearest = _join((name, value) for name, value in parts.items() if name != "BYSETPOS")
        raise ValueError(
            "BYSETPOS chooses among the BYDAY or BYMONTHDAY of a month or a year;"
            f" the nearest is {nearest}"
        )


def _split(parts: dict[str, str], name: str) -> list[str]:
    return parts[name].split(",") if name in parts else []


def _join(parts: Iterable[tuple[str, str]]) -> str:
    return ";".join(f"{name}={value}" for name, value in parts)


def read_time(text: str) -> TimeOfDay:
    """Parse `18:30`, `09:00-17:00/90` or `sunset-30`. Raises `ValueError` with a sentence."""
    words = "".join(text.lower().split())
    if sun := _SUN.fullmatch(words):
        offset = int(sun[2] or 0)
        if abs(offset) > _MOST_OFFSET:
            most = _MOST_OFFSET if offset > 0 else -_MOST_OFFSET
            raise ValueError(f"{text} is too far from it; the nearest is {sun[1]}{most:+d}")
        return SunTime(event=cast(SunEvent, sun[1]), offset=offset)
    clock = _CLOCK.fullmatch(words)
    if clock is None:
        raise ValueError(
            f"{text!r} is not a time of day; the nearest forms are 18:30, 09:00-17:00/90 (each 90"
            " minutes from 9 to 17), sunrise and sunset-30 (minutes); midnight is 00:00"
        )
    first = int(clock[1]) * 60 + int(clock[2])
    if clock[3] is None:
        return ClockTime(first=first, last=first)
    last, step = int(clock[3]) * 60 + int(clock[4]), int(clock[5])
    if last <= first:
        raise ValueError(
            f"{text} goes over midnight; the nearest is two jobs, one up to 23:59 and one from"
            " 00:00 on the days after"
        )
    if step < 1:
        raise ValueError(f"{text} has no step; the nearest is 1 minute")
    return ClockTime(first=first, last=last, step=step)


def read_without(text: str) -> tuple[date, date]:
    """Parse a day, or a span `2026-12-24/2027-01-06`. Raises `ValueError` with a sentence."""
    first, _, last = text.strip().partition("/")
    try:
        span = date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError:
        raise ValueError(
            f"{text!r} can't be left out; the nearest are a day, 2026-12-24, a span,"
            " 2026-12-24/2027-01-06, the public holidays of a country, holidays:AT, and a"
            " calendar, calendar work.ics"
        ) from None
    if span[1] < span[0]:
        raise ValueError(f"{text} ends before it begins")
    return span


def is_within(spans: Spans, day: date) -> bool:
    """Return whether a day is in one of the spans."""
    return any(first <= day <= last for first, last in spans)


def is_region(text: str) -> bool:
    """Return whether a text has the form of a country or of one of its parts: `DE`, `DE-BY`."""
    return _REGION.fullmatch(text) is not None


def dump_days(days: DayRule) -> str:
    """Format the days as an RRULE."""
    parts = [("FREQ", str(days.frequency))]
    if days.interval > 1:
        parts.append(("INTERVAL", str(days.interval)))
    weekdays = [f"{nth or ''}{DAY_NAMES[weekday]}" for nth, weekday in days.weekdays]
    lists = (
        ("BYMONTH", days.months),
        ("BYMONTHDAY", days.month_days),
        ("BYDAY", weekdays),
        ("BYSETPOS", days.positions),
    )
    parts += [(name, ",".join(map(str, values))) for name, values in lists if values]
    return _join(parts)


def dump_time(time: TimeOfDay) -> str:
    """Format a time of day as `read_time` reads it."""
    if isinstance(time, SunTime):
        return f"{time.event}{time.offset:+d}" if time.offset else time.event
    first = show_clock(time.first)
    return first if time.first == time.last else f"{first}-{show_clock(time.last)}/{time.step}"


def show_clock(minute: int) -> str:
    """Format minutes since midnight: `08:05`."""
    return f"{minute // 60:02}:{minute % 60:02}"


def dump_rule(rule: RecurrenceRule) -> str:
    """Format a rule as iCalendar properties, separated by spaces.

    RFC 5545 has no names for several times a day, holidays and the sun: these begin with `X-`.
    """
    days = dump_days(rule.days)
    if rule.until:
        days += f";UNTIL={rule.until:{_STAMP}}"
    properties = [
        f"DTSTART:{rule.start:{_STAMP}}",
        f"RRULE:{days}",
        f"X-TIMES:{','.join(map(dump_time, rule.times))}",
    ]
    if rule.without:
        properties.append(f"X-WITHOUT:{_dump_spans(rule.without)}")
    if rule.region:
        properties.append(f"X-HOLIDAYS:{rule.region}")
    if rule.calendar:
        properties.append(f"X-CALENDAR:{quote(rule.calendar.at, safe='/:')}")
        properties.append(f"X-DAYS-OFF:{_dump_spans(rule.calendar.spans)}")
    if rule.place:
        properties.append(f"GEO:{rule.place[0]};{rule.place[1]}")
    return " ".join(properties)


def list_skipped(rule: RecurrenceRule) -> list[str]:
    """List the skipped days and holidays, in the form of a job's field."""
    spans = [f"{first}/{last}" if first != last else f"{first}" for first, last in rule.without]
    region = [f"holidays:{rule.region}"] if rule.region else []
    return [*spans, *region, *([f"calendar {rule.calendar.at}"] if rule.calendar else [])]


def _dump_spans(spans: Spans) -> str:
    return ",".join(f"{first:{_DAY}}/{last:{_DAY}}" for first, last in spans)


def _load_spans(text: str) -> Spans:
    pairs = (span.split("/") for span in text.split(",") if span)
    return tuple((date.fromisoformat(first), date.fromisoformat(last)) for first, last in pairs)


@lru_cache(maxsize=1024)
def load_rule(text: str) -> RecurrenceRule:
    """Parse the result of `dump_rule`. Raises `ValueError` on any other text."""
    parts = dict(part.split(":", 1) for part in text.split(" ") if ":" in part)
    try:
        days, _, until = parts["RRULE"].partition(";UNTIL=")
        times, start = parts["X-TIMES"].split(","), parts["DTSTART"]
    except KeyError as error:
        raise ValueError(f"{text!r} is no rule") from error
    at, days_off = unquote(parts.get("X-CALENDAR", "")), _load_spans(parts.get("X-DAYS-OFF", ""))
    place = [float(degrees) for degrees in parts.get("GEO", "").split(";") if degrees]
    return RecurrenceRule(
        days=read_days(days),
        times=read_times(times),
        start=datetime.strptime(start, _STAMP),
        until=datetime.strptime(until, _STAMP) if until else None,
        without=_load_spans(parts.get("X-WITHOUT", "")),
        region=parts.get("X-HOLIDAYS", ""),
        calendar=Calendar(at=at, spans=days_off) if at else None,
        place=(place[0], place[1]) if len(place) == 2 else None,
    )


def read_times(texts: Iterable[str]) -> tuple[TimeOfDay, ...]:
    """Parse times of day. Raises `ValueError` with a sentence."""
    times = tuple(dict.fromkeys(map(read_time, texts)))
    if not 1 <= len(times) <= _MOST_ITEMS:
        raise ValueError(f"give 1 to {_MOST_ITEMS} times")
    return times
