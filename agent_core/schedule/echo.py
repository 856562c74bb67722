"""What a timing means, in words and by its next moments; pure."""

from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent_core.schedule.slots import Slot, walk
from agent_core.schedule.timing import Cron, Once, Timing, moment

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))
SHOWN = 3
"""Next moments that are named before a job counts."""


def describe_timing(timing: Timing) -> str:
    """The meaning of a timing: `At 08:00 on Monday`."""
    if isinstance(timing, Cron):
        return CronSim(timing.expression, datetime(2024, 1, 1)).explain()
    if isinstance(timing, Once):
        return f"Once, {_show(timing.at)}"
    for name, size in _UNITS:
        if timing.seconds % size == 0:
            count = timing.seconds // size
            return f"Every {name}" if count == 1 else f"Every {count} {name}s"
    raise AssertionError("every number of seconds is some seconds")


def describe_next(timing: Timing, zone: ZoneInfo, waited: Slot | None, reader: ZoneInfo) -> str:
    """The next moments as they stand on the reader's clock, the zone named."""
    if waited is None:
        return "never again"
    slots = islice(walk(timing, zone, waited), SHOWN)
    shown = "; ".join(show_moment(slot.at, reader) for slot in slots)
    return f"{shown} ({reader.key})"


def show_moment(at: int, reader: ZoneInfo) -> str:
    """A moment in milliseconds on the reader's clock: `Mon 2026-11-23 08:00`."""
    return _show(moment(at).astimezone(reader))


def _show(local: datetime) -> str:
    return f"{_DAYS[local.weekday()]} {local:%Y-%m-%d %H:%M}"
