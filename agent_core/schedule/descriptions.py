"""Descriptions of jobs for people: timing, next runs and options. Pure."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent_core.localization import (
    Plural,
    Text,
    find_language,
    format_date,
    format_moment,
    join_list,
    name_month,
)
from agent_core.schedule.job_fields import DECLARATIONS
from agent_core.schedule.occurrences import walk_slots
from agent_core.schedule.rules import (
    ALWAYS,
    WORKING_DAYS,
    DayRule,
    RecurrenceRule,
    SunTime,
    TimeOfDay,
    dump_days,
    show_clock,
)
from agent_core.schedule.triggers import Cron, Every, Once, OnEvent, Timing, moment
from agent_core.schedule.wall_clock import Slot
from agent_core.state.jobs.jobs import NewJob, Options
from agent_core.state.jobs.missed_slots import Late
from agent_core.tools.time_zones import name_zone

_ONCE = Text("Once, {moment}")
_AFTER = {
    "done": Text("After job {number} is done"),
    "failed": Text("After job {number} fails"),
    "ended": Text("After job {number} ends"),
}
_ANY_MESSAGE, _MESSAGE = (
    Text("Whenever a message arrives"),
    Text("Whenever a message contains “{words}”"),
)
_WEBHOOK = Text("Whenever its web address is called")
_FEED = Text("Whenever {address} has something new")
_FILE = Text("Whenever a file {pattern} arrives")
_WHEN_CALLED = Text("when its web address is called; /jobs webhook NUMBER shows it")
_WHEN_IT_HAPPENS = Text("when it happens")
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
_EITHER = Text("At {time} on day {days} of the month, or on any {weekdays}")
_CRON_DAYS = {"SUN": 0, "MON": 1, "TUE": 2, "WED": 3, "THU": 4, "FRI": 5, "SAT": 6}
_OR_CRON = re.compile(r"(\d{1,2}) (\d{1,2}) ([\d,-]+) \* ([\w,-]+)")
_AT, _SPREAD = (
    Text("at {time}"),
    Plural("every minute from {first} to {last}", "every {n} minutes from {first} to {last}"),
)
_SUN = {"sunrise": Text("at sunrise"), "sunset": Text("at sunset")}
_BEFORE = {
    "sunrise": Plural("{n} minute before sunrise", "{n} minutes before sunrise"),
    "sunset": Plural("{n} minute before sunset", "{n} minutes before sunset"),
}
_BEHIND = {
    "sunrise": Plural("{n} minute after sunrise", "{n} minutes after sunrise"),
    "sunset": Plural("{n} minute after sunset", "{n} minutes after sunset"),
}
_FREQUENCIES = {
    "DAILY": Plural("every day", "every {n} days"),
    "WEEKLY": Plural("every week", "every {n} weeks"),
    "MONTHLY": Plural("every month", "every {n} months"),
    "YEARLY": Plural("every year", "every {n} years"),
}
_ORDINALS = {
    1: Text("first"),
    2: Text("second"),
    3: Text("third"),
    4: Text("fourth"),
    5: Text("fifth"),
    -1: Text("last"),
    -2: Text("second to last"),
}
_NTH_DAY = Text("on the {nth} {day}")
_WORKING_DAY = Text("working day")
_ON, _ON_DAY, _IF_DAY = (
    Text("on {days}"),
    Text("on day {days}"),
    Text("on {days} if it is day {number}"),
)
_LAST_DAY, _BEFORE_LAST = Text("on the last day"), Text("on day {number} counted from the end")
_LEFT_OUT = Text("(shorter months are left out)")
_WORKING_WEEK = Text("from Monday to Friday")
_IN = Text("in {months}")
_BY_RULE = Text("by the rule {rule}")
_RULE = Text("{times}, {days}")
_FROM, _UNTIL = Text("from {date}"), Text("until {date}")
_EXCEPT, _SPAN = Text("except {days}"), Text("{first} to {last}")
_NO_HOLIDAYS = Text("except public holidays ({region})")
_NO_DAYS_OFF = Plural(
    "except whole-day events of {calendar} ({n} day so far)",
    "except whole-day events of {calendar} ({n} days so far)",
)
_NOT_COUNTED = Text("public holidays ({region}) do not count")
_NEVER = Text("never again")
_MOMENTS = Text("{moments} ({zone})")
_LATE: dict[Late, Text] = {
    "catch_up": Text("If it misses runs, I run only the newest one late"),
    "skip": Text("If it misses runs, I skip them and tell you"),
    "all": Text("If it misses runs, I run all of them late"),
}
_URGENT = Text("It runs in quiet hours and on days off, too")
_PLAIN_CRON = re.compile(r"(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|[\d,-]+)")
SHOWN = 3
"""The number of next runs shown before a job is confirmed."""


def describe_timing(timing: Timing, zone: ZoneInfo) -> str:
    """Describe a timing, such as `At 08:00 on Monday`. The limits of an interval are in `zone`."""
    if isinstance(timing, Cron):
        return _describe_cron(timing.expression)
    if isinstance(timing, Once):
        return _ONCE(moment=format_moment(timing.at))
    if isinstance(timing, RecurrenceRule):
        return _describe_rule(timing)
    if isinstance(timing, OnEvent):
        return _describe_event(timing)
    every = next(
        every(timing.seconds // size) for every, size in _UNITS if not timing.seconds % size
    )
    return ", ".join([every, *_describe_ends(timing, zone)])


def _describe_event(event: OnEvent) -> str:
    match event.kind:
        case "after":
            return _AFTER[event.ending](number=event.job_id)
        case "message":
            return _MESSAGE(words=event.value) if event.value else _ANY_MESSAGE()
        case "webhook":
            return _WEBHOOK()
        case "feed":
            return _FEED(address=event.value)
        case "file":
            return _FILE(pattern=event.value)


def _describe_ends(timing: Every, zone: ZoneInfo) -> list[str]:
    ends = []
    if timing.begins:
        ends.append(_FROM(date=format_moment(moment(timing.anchor).astimezone(zone))))
    if timing.until is not None:
        ends.append(_UNTIL(date=format_moment(moment(timing.until).astimezone(zone))))
    return ends


def _describe_rule(rule: RecurrenceRule) -> str:
    times = join_list([_describe_time(time_of_day) for time_of_day in rule.times])
    parts = [_RULE(times=times[:1].upper() + times[1:], days=_describe_days(rule.days))]
    if rule.region:
        counted = _NOT_COUNTED if rule.days.positions else _NO_HOLIDAYS
        parts.append(counted(region=rule.region))
    if calendar := rule.calendar:
        days = sum((last - first).days + 1 for first, last in calendar.spans)
        parts.append(_NO_DAYS_OFF(days, calendar=calendar.name))
    if rule.without:
        spans = [_describe_span(first, last) for first, last in rule.without]
        parts.append(_EXCEPT(days=join_list(spans)))
    if rule.start != ALWAYS:
        parts.append(_FROM(date=_describe_limit(rule.start, time())))
    if rule.until:
        parts.append(_UNTIL(date=_describe_limit(rule.until, time(23, 59))))
    return ", ".join(parts)


def _describe_limit(limit: datetime, usual: time) -> str:
    return format_date(limit) if limit.time() == usual else format_moment(limit)


def _describe_span(first: date, last: date) -> str:
    if first == last:
        return format_date(first)
    return _SPAN(first=format_date(first), last=format_date(last))


def _describe_time(wanted: TimeOfDay) -> str:
    if isinstance(wanted, SunTime):
        if not wanted.offset:
            return _SUN[wanted.event]()
        near = _BEFORE if wanted.offset < 0 else _BEHIND
        return near[wanted.event](abs(wanted.offset))
    if wanted.first == wanted.last:
        return _AT(time=show_clock(wanted.first))
    last = wanted.first + (wanted.last - wanted.first) // wanted.step * wanted.step
    return _SPREAD(wanted.step, first=show_clock(wanted.first), last=show_clock(last))


def _describe_days(days: DayRule) -> str:
    """Describe the days of a rule; for rare rules, show the rule itself, which is exact."""
    named = _name_days(days)
    if named is None:
        return _BY_RULE(rule=dump_days(days))
    is_plain = days.interval == 1 and days.frequency in ("DAILY", "WEEKLY") and bool(named)
    parts = [] if is_plain else [_FREQUENCIES[days.frequency](days.interval)]
    if days.months:
        parts.append(_IN(months=join_list([name_month(month) for month in days.months])))
    return " ".join([*parts, *named])


def _name_days(days: DayRule) -> list[str] | None:
    """Name the days within a week, a month or a year; None if the words would be ambiguous."""
    is_of_year = days.frequency == "YEARLY" and not days.months
    ordinal = [(nth, day) for nth, day in days.weekdays if nth]
    if days.positions:
        return _name_positions(days) if not is_of_year and not days.month_days else None
    if ordinal:
        is_rare = is_of_year or days.month_days or len(ordinal) < len(days.weekdays)
        rest = {nth for nth, _ in ordinal} - set(_ORDINALS)
        return None if is_rare or rest else [_name_ordinals(ordinal)]
    weekdays = join_list([_WEEKDAYS[day]() for _, day in days.weekdays])
    if not days.month_days and set(days.weekdays) == set(WORKING_DAYS):
        return [_WORKING_WEEK()]
    if not days.month_days:
        return [_ON(days=weekdays)] if weekdays else []
    if is_of_year:
        return None
    if weekdays:
        return [_IF_DAY(days=weekdays, number=join_list([str(day) for day in days.month_days]))]
    return _name_month_days(days)


def _name_positions(days: DayRule) -> list[str] | None:
    weekdays = {day for _, day in days.weekdays}
    if any(nth for nth, _ in days.weekdays) or not set(days.positions) <= set(_ORDINALS):
        return None
    if set(days.weekdays) == set(WORKING_DAYS):
        name = _WORKING_DAY()
    elif len(weekdays) == 1:
        name = _WEEKDAYS[weekdays.pop()]()
    else:
        return None
    return [join_list([_NTH_DAY(nth=_ORDINALS[nth](), day=name) for nth in days.positions])]


def _name_ordinals(ordinal: Sequence[tuple[int, int]]) -> str:
    return join_list([_NTH_DAY(nth=_ORDINALS[nth](), day=_WEEKDAYS[day]()) for nth, day in ordinal])


def _name_month_days(days: DayRule) -> list[str]:
    first = [str(day) for day in days.month_days if day > 0]
    named = [_ON_DAY(days=join_list(first))] if first else []
    for day in days.month_days:
        if day < 0:
            named.append(_LAST_DAY() if day == -1 else _BEFORE_LAST(number=-day))
    is_rare = any(abs(day) > 28 for day in days.month_days)
    return [join_list(named), *([_LEFT_OUT()] if is_rare else [])]


def _describe_cron(expression: str) -> str:
    """Explain a cron expression; CronSim can do so in English only.

    With a day of the month and a weekday, cron runs on either of them. The word "and" would be
    wrong then.
    """
    if either := _OR_CRON.fullmatch(expression):
        minute, hour, days, weekdays = either.groups()
        names = [_WEEKDAYS[number]() for number in _read_weekdays(weekdays)]
        shown = f"{int(hour):02}:{int(minute):02}"
        return _EITHER(time=shown, days=days, weekdays=join_list(names))
    if find_language() == "en":
        return CronSim(expression, datetime(2024, 1, 1)).explain()
    found = _PLAIN_CRON.fullmatch(expression)
    if found is None:
        return _CRON(expression=expression)
    minute, hour, day, weekdays = found.groups()
    clock = f"{int(hour):02}:{int(minute):02}"
    if day == "*" and weekdays == "*":
        return _DAILY(time=clock)
    if day == "*":
        days = [_WEEKDAYS[number]() for number in _read_weekdays(weekdays)]
        return _WEEKLY(time=clock, days=join_list(days))
    return _MONTHLY(time=clock, day=day) if weekdays == "*" else _CRON(expression=expression)


def _read_weekdays(field: str) -> list[int]:
    """Return the weekdays of a cron field, Monday as 0; cron counts Sunday as 0 and 7."""
    found = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        numbers = range(_read_weekday(first), _read_weekday(last or first) + 1)
        found |= {(number - 1) % 7 for number in numbers}
    return sorted(found)


def _read_weekday(text: str) -> int:
    return _CRON_DAYS[text] if text in _CRON_DAYS else int(text)


def describe_next(timing: Timing, zone: ZoneInfo, waited: Slot | None, reader: ZoneInfo) -> str:
    """List the next runs in the reader's time zone, with the zone's name."""
    if isinstance(timing, OnEvent):
        return (_WHEN_CALLED if timing.kind == "webhook" else _WHEN_IT_HAPPENS)()
    if waited is None:
        return _NEVER()
    slots = islice(walk_slots(timing, zone, waited), SHOWN)
    shown = "; ".join(show_moment(slot.at, reader) for slot in slots)
    return _MOMENTS(moments=shown, zone=name_zone(reader.key))


def describe_late(job: NewJob) -> str:
    """Describe the rule for missed runs."""
    return _LATE[job.late]()


def list_ways(job: NewJob) -> list[str]:
    """List the options of a job that differ from the defaults."""
    lines = [_URGENT()] if job.is_urgent else []
    usual = Options()
    for one in DECLARATIONS:
        if one.option is None:
            continue
        value = getattr(job.options, one.option.name)
        if value != getattr(usual, one.option.name):
            lines.append(one.option.show(value))
    return lines


def show_moment(at: int, reader: ZoneInfo) -> str:
    """Format a moment in milliseconds in the reader's time zone: `Mon 2026-11-23 08:00`."""
    return format_moment(moment(at).astimezone(reader))
