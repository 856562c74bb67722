"""The occurrences (slots) of a timing in a time zone, each once and in order. Pure.

When clocks change, cron expressions behave as in Debian's cron. A job at fixed times runs once for
each time: after the gap if the clock skips the time, and at the first of two if the clock repeats
it. Its slots are named after their local times. A job with a wildcard in minutes or hours follows
the wall clock, so it runs at both. Its slots, and those of an interval, are named after their
moments in UTC, so that a change of zone makes no slot another one. A calendar rule names fixed
times. An event has no slots.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent_core.schedule import rule_slots
from agent_core.schedule.rules import RecurrenceRule
from agent_core.schedule.triggers import (
    Cron,
    Every,
    Once,
    OnEvent,
    Timing,
    milliseconds,
    moment,
)
from agent_core.schedule.wall_clock import SECOND, Slot, find_zone, next_change, slot_at

__all__ = [
    "Slot",
    "count_often",
    "find_least_gap",
    "find_zone",
    "first_slot",
    "is_interval",
    "last_slot",
    "next_slot",
    "walk_after",
    "walk_slots",
]

_HOUR = 3_600_000
"""Milliseconds; what comes more often is asked about."""
_HANDFUL = 4
"""The slots of a day that are no burden, however close they are."""
_LONGEST_REPEAT = timedelta(hours=4)
_DAY = timedelta(days=1)
_LONGEST_SEARCH = timedelta(days=366 * 50)
_COMPARED = 100
"""Slots in which two schedules agree, if they mean the same."""
_SAMPLED = 240
"""The number of next slots that are checked for the shortest interval."""


def first_slot(timing: Timing, zone: ZoneInfo, after: int) -> Slot | None:
    """Find the first slot after a moment; None if none is left."""
    return next(walk_after(timing, zone, after), None)


def walk_after(timing: Timing, zone: ZoneInfo, after: int) -> Iterator[Slot]:
    """Iterate the slots after a moment."""
    if isinstance(timing, Once):
        slot = slot_at(timing.at, zone)
        return iter([slot] if slot.at > after else [])
    if isinstance(timing, Every):
        number = (after - timing.anchor) // (timing.seconds * 1000) + 1
        return _walk_every(timing, max(number, 0) if timing.begins else number)
    if isinstance(timing, RecurrenceRule):
        return rule_slots.walk_after(timing, zone, after)
    if isinstance(timing, OnEvent):
        return iter(())
    if timing.is_wildcard:
        return _walk_wildcard(timing, zone, moment(after))
    local = moment(after).astimezone(zone).replace(tzinfo=None, fold=0)
    return (slot for slot in _walk_set(timing, zone, local) if slot.at > after)


def are_alike(one: Timing, other: Timing, zone: ZoneInfo, after: int) -> bool:
    """Return whether two schedules have the same next slots, however they are written."""

    def list_moments(timing: Timing) -> list[int]:
        return [slot.at for slot in islice(walk_after(timing, zone, after), _COMPARED)]

    return list_moments(one) == list_moments(other)


def next_slot(timing: Timing, zone: ZoneInfo, slot: Slot) -> Slot | None:
    """Find the next slot after a slot; after a clock change, both may be due at the same moment."""
    if isinstance(timing, Once | OnEvent):
        return None
    if isinstance(timing, RecurrenceRule):
        return next(rule_slots.walk_behind(timing, zone, slot), None)
    if isinstance(timing, Cron) and not timing.is_wildcard:
        return next(_walk_set(timing, zone, _read_name(slot.name)), None)
    return first_slot(timing, zone, slot.at)


def last_slot(timing: Timing, zone: ZoneInfo, until: int) -> Slot | None:
    """Find the newest slot at or before a moment."""
    if isinstance(timing, OnEvent):
        return None
    if isinstance(timing, Once):
        slot = slot_at(timing.at, zone)
        return slot if slot.at <= until else None
    if isinstance(timing, Every):
        newest = until if timing.until is None else min(until, timing.until)
        return _nth(timing, (newest - timing.anchor) // (timing.seconds * 1000))
    if isinstance(timing, RecurrenceRule):
        return rule_slots.find_last(timing, zone, until)
    if timing.is_wildcard:
        return _last_wildcard(timing, zone, until)
    # In a repeated hour, a slot named later than the present local time may already be due.
    local = moment(until).astimezone(zone).replace(tzinfo=None, fold=0) + _LONGEST_REPEAT
    for named in CronSim(timing.expression, local, reverse=True):
        slot = slot_at(named, zone)
        if slot.at <= until:
            return slot
    return None


def walk_slots(timing: Timing, zone: ZoneInfo, first: Slot) -> Iterator[Slot]:
    """Iterate from a slot onwards."""
    slot: Slot | None = first
    if isinstance(timing, Cron):  # one walk is faster than a search for each slot
        yield first
        if timing.is_wildcard:
            yield from _walk_wildcard(timing, zone, moment(first.at))
        else:
            yield from _walk_set(timing, zone, _read_name(first.name))
        return
    while slot:
        yield slot
        slot = next_slot(timing, zone, slot)


def find_least_gap(timing: Timing, zone: ZoneInfo, first: Slot) -> int:
    """Find the shortest interval between the next slots, in milliseconds."""
    if isinstance(timing, Every):
        return timing.seconds * 1000
    if isinstance(timing, Once):
        return 1 << 62
    gaps = []
    slot = first
    for _ in range(_SAMPLED):
        behind = first_slot(timing, zone, slot.at)
        if behind is None:
            break
        gaps.append(behind.at - slot.at)
        slot = behind
    return min(gaps, default=1 << 62)


def is_interval(timing: Timing) -> bool:
    """Return whether a timing comes in equal steps by day and by night."""
    if isinstance(timing, Cron):
        return "*" in timing.expression.split()[1]
    return isinstance(timing, Every)


def count_often(timing: Timing, zone: ZoneInfo, first: Slot) -> int:
    """Count the slots of a day, if they come more often than hourly; 0 for others.

    A handful that stand close together is not often: pills at 8:00 and 8:30.
    """
    if isinstance(timing, Once | OnEvent) or find_least_gap(timing, zone, first) >= _HOUR:
        return 0
    end = first.at + _DAY // timedelta(milliseconds=1)
    count = sum(1 for _ in takewhile(lambda slot: slot.at < end, walk_slots(timing, zone, first)))
    return count if count > _HANDFUL else 0


def _walk_set(timing: Cron, zone: ZoneInfo, local: datetime) -> Iterator[Slot]:
    """Iterate the slots of fixed times after a local time, one per time."""
    for named in _walk_times(timing, local):
        yield slot_at(named, zone)


def _walk_times(timing: Cron, after: datetime) -> Iterator[datetime]:
    """Iterate the local times after `after` that an expression names.

    CronSim decides about the days only: it would walk minute by minute, although each day has the
    same times.
    """
    days, times = _read_expression(timing.expression)
    day, end = after.date(), after.date() + _LONGEST_SEARCH
    first = bisect_right(times, after.time())
    while day < end:
        if day.month in days.months and days.match_day(day):
            for time_of_day in times[first:]:
                yield datetime.combine(day, time_of_day)
            end = day + _LONGEST_SEARCH
        first = 0
        day += _DAY


@lru_cache(maxsize=512)
def _read_expression(expression: str) -> tuple[CronSim, list[time]]:
    """Parse an expression: return the matcher of its days, and its times of day, earliest first."""
    cron = CronSim(expression, datetime.min)
    return cron, [time(hour, at) for hour in sorted(cron.hours) for at in sorted(cron.minutes)]


def _walk_wildcard(timing: Cron, zone: ZoneInfo, after: datetime) -> Iterator[Slot]:
    """Iterate the slots after a moment at which the wall clock matches.

    Each stretch between two clock changes is searched separately; a search across a change
    could miss repeated times.
    """
    begin = after
    local = after.astimezone(zone).replace(tzinfo=None)
    while True:
        offset = begin.astimezone(zone).utcoffset()
        assert offset is not None  # noqa: S101 - the time has a zone
        for named in _walk_times(timing, local):
            found = (named - offset).replace(tzinfo=UTC)
            change = next_change(zone, begin, found)
            if change:
                break
            yield _name_moment(milliseconds(found))
            begin = found
        else:
            return
        begin = change
        local = change.astimezone(zone).replace(tzinfo=None) - SECOND


def _last_wildcard(timing: Cron, zone: ZoneInfo, until: int) -> Slot | None:
    """Search backwards in growing steps until a slot is found, then forwards to the newest slot."""
    step = timedelta(hours=2)
    start = moment(until) - step
    while step < _LONGEST_SEARCH:
        newest = None
        for slot in _walk_wildcard(timing, zone, start):
            if slot.at > until:
                break
            newest = slot
        if newest:
            return newest
        step *= 4
        start = moment(until) - step
    return None


def _walk_every(timing: Every, number: int) -> Iterator[Slot]:
    """Iterate the slots from a slot number on."""
    while slot := _nth(timing, number):
        yield slot
        number += 1


def _nth(timing: Every, number: int) -> Slot | None:
    """Return a slot by its number; None after the last slot, or before the first.

    The number is negative if the clock was ahead when the job was created.
    """
    at = timing.anchor + number * timing.seconds * 1000
    if (timing.begins and number < 0) or (timing.until is not None and at > timing.until):
        return None
    return _name_moment(at)


def _name_moment(at: int) -> Slot:
    return Slot(name=f"{moment(at):%Y-%m-%dT%H:%M:%SZ}", at=at)


def _read_name(name: str) -> datetime:
    return datetime.fromisoformat(name)
