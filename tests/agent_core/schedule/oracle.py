"""Debian's cron, minute by minute, as its manual page describes it: the oracle of the slots.

It reads expressions by itself and walks the clock one minute at a time, so that it shares nothing
with what it judges but the time zones.
"""

import calendar
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

_MINUTE = timedelta(minutes=1)
_DAYS = {name: n for n, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))}
_MONTHS = {
    name: n
    for n, name in enumerate(
        ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
        start=1,
    )
}

EXPRESSIONS = (
    *("0 8 * * 1", "30 2 * * *", "0,30 2 * * *", "30 1 * * *", "0 0 * * *", "59 23 * * *"),
    *("0 3 * * *", "15 0,1,2,3 * * *", "0 9 * * 1-5", "0 9 * * MON-FRI", "0 22 * * 0"),
    *("0 22 * * 7", "0 12 1 * *", "0 12 L * *", "0 12 LW * *", "0 12 15 * 5", "0 12 * * 5L"),
    *("0 12 * * 1#2", "0 7 29 2 *", "0 7 31 * *", "45 6 1-7 * *", "0 18 1,15 * *"),
    *("0 2 1-7,25-31 * *", "30 2 * 3,11 0", "1 1 1 1 *", "0 5-7 * * SAT", "10 2 */2 * *"),
    *("* * * * *", "*/5 * * * *", "*/30 * * * *", "0 * * * *", "30 * * * *", "0 */2 * * *"),
    *("0 */6 * * 5", "*/20 1-3 * * *", "5 */3 * * *", "* 2 * * *", "*/7 2 * * 0"),
    *("0-10/5 * 1 * *", "*/15 0 * * *"),
)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression as sets of numbers, and the day's two fields as tests."""

    minutes: frozenset[int]
    hours: frozenset[int]
    months: frozenset[int]
    day: str
    weekday: str
    is_wildcard: bool

    def names(self, local: datetime) -> bool:
        """True if the expression names this local minute."""
        return (
            local.minute in self.minutes
            and local.hour in self.hours
            and local.month in self.months
            and self._names_day(local)
        )

    def _names_day(self, local: datetime) -> bool:
        by_day, by_weekday = _is_day(self.day, local), _is_weekday(self.weekday, local)
        if self.day.startswith("*") or self.weekday.startswith("*"):
            return by_day and by_weekday
        return by_day or by_weekday


def read(text: str) -> Expression:
    """An expression of five fields."""
    minute, hour, day, month, weekday = text.split()
    return Expression(
        minutes=_numbers(minute, 0, 59),
        hours=_numbers(hour, 0, 23),
        months=_numbers(month, 1, 12, _MONTHS),
        day=day,
        weekday=weekday,
        is_wildcard=minute.startswith("*") or hour.startswith("*"),
    )


def runs(
    text: str, zone: ZoneInfo, start: datetime, end: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """(when it runs in UTC, the local minute that it runs for), within [start, end), both UTC.

    The clock is looked at each minute. Put forward by less than three hours: jobs at set times
    that were jumped over run at once, those with a star go by the new time. Put back: jobs at
    set times wait until the clock has caught up, those with a star go by the new time.
    """
    expression = read(text)
    if not expression.is_wildcard:
        yield from run_set_times(expression.names, zone, start, end)
        return
    for moment, local in _walk_clock(zone, start, end):
        if expression.names(local):
            yield moment, local


def run_set_times(
    names: Callable[[datetime], bool], zone: ZoneInfo, start: datetime, end: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """The same for set times that a test of local minutes names."""
    seen = (start - _MINUTE).astimezone(zone).replace(tzinfo=None)
    for moment, local in _walk_clock(zone, start, end):
        while seen < local:
            seen += _MINUTE
            if names(seen):
                yield moment, seen


@lru_cache(maxsize=64)
def _walk_clock(
    zone: ZoneInfo, start: datetime, end: datetime
) -> tuple[tuple[datetime, datetime], ...]:
    """Each minute in UTC with the local one: dozens of expressions are read off the same clock."""
    minutes = (start + n * _MINUTE for n in range(-((start - end) // _MINUTE)))
    return tuple((at, at.astimezone(zone).replace(tzinfo=None)) for at in minutes)


@cache
def transitions(zone: ZoneInfo, years: range) -> list[datetime]:
    """When a zone's clock is put forward or back in these years, to the minute."""
    found = []
    day = datetime(years.start, 1, 1, tzinfo=UTC)
    while day.year < years.stop:
        following = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != following.astimezone(zone).utcoffset():
            low, high = day, following
            while high - low > _MINUTE:
                middle = low + (high - low) // 2
                is_before = middle.astimezone(zone).utcoffset() == day.astimezone(zone).utcoffset()
                low, high = (middle, high) if is_before else (low, middle)
            found.append(high.replace(second=0, microsecond=0))
        day = following
    return found


def _numbers(
    field: str, least: int, most: int, names: dict[str, int] | None = None
) -> frozenset[int]:
    found: set[int] = set()
    for term in field.split(","):
        span, _, step = term.partition("/")
        if span == "*":
            first, last = least, most
        else:
            low, _, high = span.partition("-")
            first = _number(low, names)
            last = _number(high, names) if high else (most if step else first)
        found.update(range(first, last + 1, int(step or 1)))
    return frozenset(found)


def _number(text: str, names: dict[str, int] | None) -> int:
    return names[text] if names and text in names else int(text)


def _is_day(field: str, local: datetime) -> bool:
    last = calendar.monthrange(local.year, local.month)[1]
    if field == "L":
        return local.day == last
    if field == "LW":
        working = [
            day for day in range(1, last + 1) if calendar.weekday(local.year, local.month, day) < 5
        ]
        return local.day == working[-1]
    return local.day in _numbers(field, 1, 31)


def _is_weekday(field: str, local: datetime) -> bool:
    today = local.isoweekday() % 7
    if field.endswith("L"):
        last = calendar.monthrange(local.year, local.month)[1]
        return today == int(field[:-1]) % 7 and local.day + 7 > last
    if "#" in field:
        weekday, _, nth = field.partition("#")
        return today == int(weekday) % 7 and (local.day + 6) // 7 == int(nth)
    return today in {number % 7 for number in _numbers(field, 0, 7, _DAYS)}
