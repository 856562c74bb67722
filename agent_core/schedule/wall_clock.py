"""Slots, and the moments at which the clock of a time zone shows a local time. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from agent_core.schedule.triggers import milliseconds, show_stamp

SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A due moment. `at` is in milliseconds since the epoch; `name` is unique within the job."""

    name: str
    at: int


@lru_cache(maxsize=1024)
def find_zone(name: str) -> ZoneInfo:
    """Load a time zone by its IANA name. Raises `ValueError` with a sentence."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not a time zone; use one like Europe/Berlin") from error


def is_zone(name: str) -> bool:
    """Return whether a name is that of a time zone; one in the database may be outdated."""
    try:
        find_zone(name)
    except ValueError:
        return False
    return True


def slot_at(named: datetime, zone: ZoneInfo) -> Slot:
    """Return the slot of a local time; if the clock skips that time, the end of the gap.

    If the clock shows the time twice, `fold` selects one of the two.
    """
    shown = named.replace(tzinfo=zone)
    landed = shown.astimezone(UTC).astimezone(zone)
    if landed.replace(tzinfo=None) != named:
        shown = _end_of_gap(named, zone)
    return Slot(name=show_stamp(named), at=milliseconds(shown))


def next_change(zone: ZoneInfo, start: datetime, end: datetime) -> datetime | None:
    """Find the next clock change after `start` and not after `end`."""
    offset = start.astimezone(zone).utcoffset()
    while start < end:
        step = min(start + _DAY, end)
        if step.astimezone(zone).utcoffset() == offset:
            start = step
            continue
        while step - start > SECOND:
            middle = start + (step - start) // 2
            if middle.astimezone(zone).utcoffset() == offset:
                start = middle
            else:
                step = middle
        return step.replace(microsecond=0)
    return None


def _end_of_gap(named: datetime, zone: ZoneInfo) -> datetime:
    """Find the moment at which the clock skips a local time.

    Within the gap, fold 0 uses the offset before the jump, and fold 1 the offset after it. So the
    two moments are on both sides of the jump.
    """
    before = named.replace(tzinfo=zone, fold=1).astimezone(UTC)
    behind = named.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return next_change(zone, before, behind) or behind
