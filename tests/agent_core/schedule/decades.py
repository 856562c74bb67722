"""Holds years of slots against what cron does: each slot there, at its moment, and none twice.

Where a zone's clock is put forward or back, the hours around are held against the oracle, minute
by minute. Between two such changes a clock shows what any other shows: there, the moments that an
expression names are reckoned once for all zones, from the oracle's reading of it.
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Self
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent_core.schedule.occurrences import first_slot, last_slot, walk_slots
from agent_core.schedule.triggers import milliseconds, moment, read_cron
from agent_core.schedule.wall_clock import Slot
from tests.agent_core.schedule import oracle

AROUND = timedelta(hours=5)
"""Before and behind a change of the clock; longer than any clock is put forward or back by."""
_MINUTE = timedelta(minutes=1)
_HALF_DAY = timedelta(hours=12)
_NAIVE_EPOCH = datetime(1970, 1, 1)

Found = tuple[int, int]
"""When, in minutes since the epoch, UTC; and the local minute that it stands for, likewise."""
Span = tuple[datetime, datetime]
"""From, and until before, in UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was counted. `other` are the changes around which cronsim, told the zone, says
    something else.
    """

    slots: int = 0
    doubled: int = 0
    missing: int = 0
    changes: int = 0
    other: int = 0

    def __add__(self, more: Self) -> "Tally":
        return Tally(
            slots=self.slots + more.slots,
            doubled=self.doubled + more.doubled,
            missing=self.missing + more.missing,
            changes=self.changes + more.changes,
            other=self.other + more.other,
        )


def group_zones(names: Iterable[str], years: range) -> list[list[str]]:
    """Zones whose clocks show the same all through these years, together."""
    groups: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
    for name in sorted(names):
        zone = ZoneInfo(name)
        start = _begin(years)
        jumps = oracle.transitions(zone, years)
        offsets = [at.astimezone(zone).utcoffset() for at in (start, *jumps)]
        groups[(*jumps, *offsets)].append(name)
    return sorted(groups.values())


def count_named(text: str, years: range) -> int:
    """How many local minutes an expression names in these years."""
    return sum(len(_name_year(text, year)) for year in years)


def whole(years: range) -> list[Span]:
    """All of these years, month by month: what is held at once stays small."""
    begins = [datetime(year, month, 1, tzinfo=UTC) for year in years for month in range(1, 13)]
    return list(pairwise([*begins, datetime(years.stop, 1, 1, tzinfo=UTC)]))


def sample(zone: ZoneInfo, years: range) -> list[Span]:
    """The hours around each change of a zone's clock, and the last night of every third month."""
    near = [around(jump) for jump in oracle.transitions(zone, years)]
    midnights = [datetime(year, month, 1, tzinfo=UTC) for year in years for month in (3, 6, 9, 12)]
    days = [(midnight - _HALF_DAY, midnight + _HALF_DAY) for midnight in midnights]
    clear = [day for day in days if not any(a < day[1] and day[0] < b for a, b in near)]
    return sorted([*near, *clear])


def around(jump: datetime) -> Span:
    """The hours around a change of the clock."""
    return jump - AROUND, jump + AROUND


def hold(text: str, zone: ZoneInfo, years: range, spans: Sequence[Span]) -> Tally:
    """Hold the slots of an expression against cron within spans of these years."""
    timing, jumps = read_cron(text), oracle.transitions(zone, years)
    count, doubled, missing = 0, 0, 0
    for start, end in spans:
        expected = set(_expect(text, jumps, zone, (start, end)))
        first = first_slot(timing, zone, milliseconds(start) - 1)
        slots = list(_until(milliseconds(end), walk_slots(timing, zone, first))) if first else []
        found = {(slot.at // 60_000, _read(slot.name, zone)) for slot in slots}
        assert all(slot.at % 60_000 == 0 for slot in slots)
        count += len(slots)
        doubled += len(slots) - len({slot.name for slot in slots}) + len(found - expected)
        missing += len(expected - found)
        if slots:
            missing += last_slot(timing, zone, milliseconds(end) - 1) != slots[-1]
    return Tally(slots=count, doubled=doubled, missing=missing)


def ask_cronsim(text: str, zone: ZoneInfo, years: range) -> Tally:
    """Hold the moments around each change against cronsim's own walk in the zone."""
    jumps = oracle.transitions(zone, years)
    other = sum(_differs(text, zone, around(jump)) for jump in jumps)
    return Tally(changes=len(jumps), other=other)


def _differs(text: str, zone: ZoneInfo, span: Span) -> bool:
    timing, (start, end) = read_cron(text), span
    first = first_slot(timing, zone, milliseconds(start) - 1)
    slots = walk_slots(timing, zone, first) if first else ()
    ours = (moment(slot.at) for slot in _until(milliseconds(end), slots))
    own = CronSim(text, (start - _MINUTE).astimezone(zone))
    theirs = takewhile(lambda at: at < end, (at.astimezone(UTC) for at in own))
    return set(ours) != set(theirs)


def _until(end: int, slots: Iterable[Slot]) -> Iterable[Slot]:
    return takewhile(lambda slot: slot.at < end, slots)


def _expect(text: str, jumps: Sequence[datetime], zone: ZoneInfo, span: Span) -> Iterable[Found]:
    """What cron does within a span."""
    near = [window for window in map(around, jumps) if window[0] < span[1] and span[0] < window[1]]
    inner = (edge for window in near for edge in window)
    edges = [span[0], *(min(max(edge, span[0]), span[1]) for edge in inner), span[1]]
    assert edges == sorted(edges), "changes of the clock lie close together"
    for window in near:
        for when, local in oracle.runs(text, zone, *window):
            if span[0] <= when < span[1]:
                yield _minutes(when), _naive_minutes(local)
    for number, (start, end) in enumerate(pairwise(edges)):
        if number % 2 or start == end:
            continue  # it is near a change
        offset = start.astimezone(zone).utcoffset() or timedelta(0)
        shift = offset // _MINUTE
        for named in _list_named(text, _minutes(start) + shift, _minutes(end) + shift):
            yield named - shift, named


def _list_named(text: str, start: int, end: int) -> Iterable[int]:
    """The local minutes that an expression names from `start` on, and before `end`."""
    years = [(_NAIVE_EPOCH + edge * _MINUTE).year for edge in (start, end)]
    for year in range(years[0], years[1] + 1):
        named = _name_year(text, year)
        yield from named[bisect_left(named, start) : bisect_left(named, end)]


@lru_cache(maxsize=1024)
def _name_year(text: str, year: int) -> "array[int]":
    """Every local minute that an expression names in a year; from the oracle's reading of it."""
    expression = oracle.read(text)
    times = sorted(hour * 60 + minute for hour in expression.hours for minute in expression.minutes)
    found = array("q")
    day = datetime(year, 1, 1, min(expression.hours), min(expression.minutes))
    while day.year == year:
        if expression.names(day):
            midnight = _naive_minutes(day.replace(hour=0, minute=0))
            found.extend(midnight + time for time in times)
        day += timedelta(days=1)
    return found


def _begin(years: range) -> datetime:
    return datetime(years.start, 1, 1, tzinfo=UTC)


def _minutes(at: datetime) -> int:
    return milliseconds(at) // 60_000


def _naive_minutes(local: datetime) -> int:
    return (local - _NAIVE_EPOCH) // _MINUTE


def _read(name: str, zone: ZoneInfo) -> int:
    named = datetime.fromisoformat(name)
    return _naive_minutes(named.astimezone(zone).replace(tzinfo=None) if named.tzinfo else named)
