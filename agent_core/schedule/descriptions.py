"""What a job will do, in words: when, by its next moments, and how; pure."""

from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent_core.schedule.occurrences import Slot, walk
from agent_core.schedule.triggers import Cron, Once, Timing, moment
from agent_core.state.jobs.jobs import Late, NewJob, Options

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))
_LATE: dict[Late, str] = {
    "catch_up": "the newest is made up for",
    "skip": "it is left out, and I say so",
    "all": "every one is made up for",
}
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


def describe_late(job: NewJob) -> str:
    """What becomes of times that were missed."""
    return f"If it is missed: {_LATE[job.late]}"


def list_ways(job: NewJob) -> list[str]:
    """How a job is run where that is not as usual."""
    options, usual = job.options, Options()
    lines = []
    if job.is_urgent:
        lines.append("In quiet hours and on days off, too")
    if options.is_aware:
        lines.append("It sees its earlier runs")
    if options.model:
        lines.append(f"Model: {options.model}")
    if options.tools:
        lines.append(f"Tools: {', '.join(options.tools)}")
    if options.skills:
        lines.append(f"Skills: {', '.join(options.skills)}")
    if options.day_micro_dollars:
        lines.append(f"At most {show_dollars(options.day_micro_dollars)} a day")
    if options.pause_after != usual.pause_after:
        lines.append(f"Paused after {options.pause_after} failures in a row")
    return lines


def show_dollars(micro: int) -> str:
    """Money in millionths of a dollar, to the cent, or as exactly as it is: `$1.50`."""
    cents = micro % 10_000 == 0
    return f"${micro / 1_000_000:.2f}" if cents else f"${micro / 1_000_000:.6f}".rstrip("0")


def show_moment(at: int, reader: ZoneInfo) -> str:
    """A moment in milliseconds on the reader's clock: `Mon 2026-11-23 08:00`."""
    return _show(moment(at).astimezone(reader))


def _show(local: datetime) -> str:
    return f"{_DAYS[local.weekday()]} {local:%Y-%m-%d %H:%M}"
