"""The occurrences (slots) of a timing in a time zone, each once and in order. Pure.

A slot is named after its local time. Cron expressions follow Debian's cron across clock changes. A
job at fixed times runs once for each of them: after the gap if the clock skips the time, and at
the
first of two if the clock repeats it. A job with a wildcard in minutes or hours follows the wall
clock, and so runs in both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent_core.schedule.triggers import (
    AGAIN,
    Cron,
    Every,
    Once,
    Timing,
    milliseconds,
    moment,
    show_stamp,
)

_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_LONGEST_REPEAT = timedelta(hours=4)
_LONGEST_SEARCH = timedelta(days=366 * 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A due moment. `at` is in milliseconds since the epoch; `name` is unique within the job."""

    name: str
    at: int


def first_slot(timing: Timing, zone: ZoneInfo, after: int) -> Slot | None:
    """Find the first slot after a moment; None if none is left."""
    if isinstance(timing, Once):
        slot = _slot_at(timing.at, zone)
        return slot if slot.at > after else None
    if isinstance(timing, Every):
        return _nth(timing, (after - timing.anchor) // (timing.seconds * 1000) + 1)
    if timing.is_wildcard:
        return next(_walk_wildcard(timing, zone, moment(after)), None)
    local = moment(after).astimezone(zone).replace(tzinfo=None, fold=0)
    return next((slot for slot in _walk_set(timing, zone, local) if slot.at > after), None)


def next_slot(timing: Timing, zone: ZoneInfo, slot: Slot) -> Slot | None:
    """Find the slot after a slot; after a clock change, both may be due at the same moment."""
    if isinstance(timing, Once):
        return None
    if isinstance(timing, Cron) and not timing.is_wildcard:
        return next(_walk_set(timing, zone, _read_name(slot.name)), None)
    return first_slot(timing, zone, slot.at)


def last_slot(timing: Timing, zone: ZoneInfo, until: int) -> Slot | None:
    """Find the newest slot at or before a moment."""
    if isinstance(timing, Once):
        slot = _slot_at(timing.at, zone)
        return slot if slot.at <= until else None
    if isinstance(timing, Every):
        return _nth(timing, (until - timing.anchor) // (timing.seconds * 1000))
    if timing.is_wildcard:
        return _last_wildcard(timing, zone, until)
    # In a repeated hour, the first occurrence of a time can be later than the time now shown.
    local = moment(until).astimezone(zone).replace(tzinfo=None, fold=0) + _LONGEST_REPEAT
    for named in CronSim(timing.expression, local, reverse=True):
        slot = _slot_at(named, zone)
        if slot.at <= until:
            return slot
    return None


def walk_slots(timing: Timing, zone: ZoneInfo, first: Slot) -> Iterator[Slot]:
    """Iterate from a slot onwards."""
    slot: Slot | None = first
    while slot:
        yield slot
        slot = next_slot(timing, zone, slot)


@lru_cache(maxsize=1024)
def find_zone(name: str) -> ZoneInfo:
    """Load a time zone by its IANA name. Raises `ValueError` with a sentence."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not a time zone; use one like Europe/Berlin") from error


def _walk_set(timing: Cron, zone: ZoneInfo, local: datetime) -> Iterator[Slot]:
    """Iterate the slots of fixed times after a local time, one per time."""
    for named in CronSim(timing.expression, local):
        yield _slot_at(named, zone)


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
        for named in CronSim(timing.expression, local):
            found = (named - offset).replace(tzinfo=UTC)
            change = _next_change(zone, begin, found)
            if change:
                break
            yield _wildcard_slot(found.astimezone(zone))
            begin = found
        else:
            return
        begin = change
        local = change.astimezone(zone).replace(tzinfo=None) - _SECOND


def _next_change(zone: ZoneInfo, start: datetime, end: datetime) -> datetime | None:
    """Find the next clock change after `start` and not after `end`."""
    offset = start.astimezone(zone).utcoffset()
    while start < end:
        step = min(start + _DAY, end)
        if step.astimezone(zone).utcoffset() == offset:
            start = step
            continue
        while step - start > _SECOND:
            middle = start + (step - start) // 2
            if middle.astimezone(zone).utcoffset() == offset:
                start = middle
            else:
                step = middle
        return step.replace(microsecond=0)
    return None


def _last_wildcard(timing: Cron, zone: ZoneInfo, until: int) -> Slot | None:
    """Search backwards in growing steps until a slot is found, then forwards to the newest."""
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


def _wildcard_slot(shown: datetime) -> Slot:
    is_repeated = shown.fold == 1
    name = f"{shown:%Y-%m-%dT%H:%M}{AGAIN if is_repeated else ''}"
    return Slot(name=name, at=milliseconds(shown))


def _slot_at(named: datetime, zone: ZoneInfo) -> Slot:
    """Build the slot of a local time, or of the end of the gap that contains it.

    `fold` selects one of two repeated times.
    """
    shown = named.replace(tzinfo=zone)
    landed = shown.astimezone(UTC).astimezone(zone)
    if landed.replace(tzinfo=None) != named:
        shown = _end_of_gap(named, zone)
    return Slot(name=show_stamp(named), at=milliseconds(shown))


def _end_of_gap(named: datetime, zone: ZoneInfo) -> datetime:
    """Find the moment at which the clock jumps over a local time.

    Inside a gap, fold 0 uses the offset from before the jump and fold 1 the one after it, so the
    two moments enclose the jump.
    """
    before = named.replace(tzinfo=zone, fold=1).astimezone(UTC)
    behind = named.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return _next_change(zone, before, behind) or behind


def _nth(timing: Every, number: int) -> Slot:
    """Build a slot by its number, which is negative if the clock was ahead when the job was
    made.
    """
    at = timing.anchor + number * timing.seconds * 1000
    return Slot(name=f"{moment(at):%Y-%m-%dT%H:%M:%SZ}", at=at)


def _read_name(name: str) -> datetime:
    return datetime.fromisoformat(name)
