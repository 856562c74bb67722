"""Descriptions of jobs for people: timing, next runs and options. Pure."""

import re
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent_core.localization import Plural, Text, find_language, format_moment, join_list
from agent_core.schedule.occurrences import Slot, walk_slots
from agent_core.schedule.triggers import Cron, Once, Timing, moment
from agent_core.state.jobs.jobs import Late, NewJob, Options

_ONCE = Text("Once, {moment}")
_UNITS = (
    (Plural("Every day", "Every {n} days"), 86_400),
    (Plural("Every hour", "Every {n} hours"), 3600),
    (Plural("Every minute", "Every {n} minutes"), 60),
    (Plural("Every second", "Every {n} seconds"), 1),
)
_CRON = Text("On the schedule {expression}")
_DAILY = Text("At {time}")
_WEEKLY = Text("At {time} on {days}")
_MONTHLY = Text("At {time} on day {day} of the month")
_WEEKDAYS = (
    Text("Monday"),
    Text("Tuesday"),
    Text("Wednesday"),
    Text("Thursday"),
    Text("Friday"),
    Text("Saturday"),
    Text("Sunday"),
)
_NEVER = Text("never again")
_MOMENTS = Text("{moments} ({zone})")
_LATE: dict[Late, Text] = {
    "catch_up": Text("If it misses runs, I make up for the newest"),
    "skip": Text("If it misses runs, I skip them and tell you"),
    "all": Text("If it misses runs, I make up for all of them"),
}
_URGENT = Text("It runs in quiet hours and on days off, too")
_AWARE = Text("It sees its earlier runs")
_MODEL, _TOOLS, _SKILLS = Text("Model: {names}"), Text("Tools: {names}"), Text("Skills: {names}")
_DAY_LIMIT = Text("It may cost at most {amount} a day")
_PAUSE_AFTER = Plural("I pause it after {n} failure", "I pause it after {n} failures in a row")
_PLAIN_CRON = re.compile(r"(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|[\d,-]+)")
SHOWN = 3
"""The number of next runs shown before a job is confirmed."""


def describe_timing(timing: Timing) -> str:
    """Describe a timing, such as `At 08:00 on Monday`."""
    if isinstance(timing, Cron):
        return _describe_cron(timing.expression)
    if isinstance(timing, Once):
        return _ONCE(moment=format_moment(timing.at))
    for every, size in _UNITS:
        if timing.seconds % size == 0:
            return every(timing.seconds // size)
    raise AssertionError("every number of seconds is some seconds")


def _describe_cron(expression: str) -> str:
    """Explain a cron expression; CronSim does so in English only."""
    if find_language() == "en":
        return CronSim(expression, datetime(2024, 1, 1)).explain()
    found = _PLAIN_CRON.fullmatch(expression)
    if found is None:
        return _CRON(expression=expression)
    minute, hour, day, weekdays = found.groups()
    time = f"{int(hour):02}:{int(minute):02}"
    if day == "*" and weekdays == "*":
        return _DAILY(time=time)
    if day == "*":
        days = [_WEEKDAYS[number]() for number in _read_weekdays(weekdays)]
        return _WEEKLY(time=time, days=join_list(days))
    return _MONTHLY(time=time, day=day) if weekdays == "*" else _CRON(expression=expression)


def _read_weekdays(field: str) -> list[int]:
    """Return the weekdays of a cron field, Monday as 0; cron counts Sunday as 0 and 7."""
    found = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        found |= {(number - 1) % 7 for number in range(int(first), int(last or first) + 1)}
    return sorted(found)


def describe_next(timing: Timing, zone: ZoneInfo, waited: Slot | None, reader: ZoneInfo) -> str:
    """List the next runs on the reader's clock, with the time zone."""
    if waited is None:
        return _NEVER()
    slots = islice(walk_slots(timing, zone, waited), SHOWN)
    shown = "; ".join(show_moment(slot.at, reader) for slot in slots)
    return _MOMENTS(moments=shown, zone=reader.key)


def describe_late(job: NewJob) -> str:
    """Describe the rule for missed runs."""
    return _LATE[job.late]()


def list_ways(job: NewJob) -> list[str]:
    """List the options of a job that differ from the defaults."""
    options, usual = job.options, Options()
    lines = []
    if job.is_urgent:
        lines.append(_URGENT())
    if options.is_aware:
        lines.append(_AWARE())
    if options.model:
        lines.append(_MODEL(names=options.model))
    if options.tools:
        lines.append(_TOOLS(names=", ".join(options.tools)))
    if options.skills:
        lines.append(_SKILLS(names=", ".join(options.skills)))
    if options.day_micro_dollars:
        lines.append(_DAY_LIMIT(amount=show_dollars(options.day_micro_dollars)))
    if options.pause_after != usual.pause_after:
        lines.append(_PAUSE_AFTER(options.pause_after))
    return lines


def show_dollars(micro: int) -> str:
    """Format millionths of a dollar, to the cent or exactly: `$1.50`."""
    cents = micro % 10_000 == 0
    return f"${micro / 1_000_000:.2f}" if cents else f"${micro / 1_000_000:.6f}".rstrip("0")


def show_moment(at: int, reader: ZoneInfo) -> str:
    """Format a moment in milliseconds on the reader's clock: `Mon 2026-11-23 08:00`."""
    return format_moment(moment(at).astimezone(reader))
