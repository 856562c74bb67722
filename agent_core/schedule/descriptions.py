"""Descriptions of jobs for people: timing, next runs and options. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    say_clock,
    say_day,
    say_moment,
)
from agent_core.schedule.cron_rules import CronRules, read_rules
from agent_core.schedule.job_fields import DECLARATIONS
from agent_core.schedule.occurrences import first_slot, walk_slots
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
from agent_core.time_zones import name_zone
from agent_core.tools.clock import ReaderClock, local_time

ONCE = Text("Once, {moment}")
_AFTER = {
    "done": Text("After reminder {number} is done"),
    "failed": Text("After reminder {number} fails"),
    "ended": Text("After reminder {number} is done or has failed"),
}
_ANY_MESSAGE, _MESSAGE = (
    Text("Whenever a message arrives"),
    Text("Whenever a message contains “{words}”"),
)
_WEBHOOK = Text("Whenever a program calls this reminder's web address")
_FEED = Text("Whenever {address} has something new")
_FILE = Text("Whenever a file {pattern} arrives")
_WHEN_CALLED = Text(
    "when a program calls this reminder's web address; /reminders webhook NUMBER shows the address"
)
_WHEN_IT_HAPPENS = Text("when it happens")
_UNITS = (
    (Plural("every day", "every {n} days"), 86_400),
    (Plural("every hour", "every {n} hours"), 3600),
    (Plural("every minute", "every {n} minutes"), 60),
    (Plural("every second", "every {n} seconds"), 1),
)
_EITHER_DAYS = Text("{days}, and also {weekdays}")
_SET_TIMES = Text("At set times; the next are {moments}")
_EVERY_DAY, _WORKING_DAYS = Text("Every day, {clock}"), Text("Monday to Friday, {clock}")
_EVERY_WEEK = Text("Every {days}, {clock}")
_EVERY_MONTH = Text("Every month on day {day}, {clock}")
_EVERY_NTH = Text("Every month on the {nth} {day}, {clock}")
_WEEKDAYS = (
    Text("Monday"),
    Text("Tuesday"),
    Text("Wednesday"),
    Text("Thursday"),
    Text("Friday"),
    Text("Saturday"),
    Text("Sunday"),
)
_AT = Text("at {time}")
_SPREADS = (
    (Plural("every hour from {first} to {last}", "every {n} hours from {first} to {last}"), 60),
    (Plural("every minute from {first} to {last}", "every {n} minutes from {first} to {last}"), 1),
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
_DATE, _LEAP_DAY = Text("every year on {day} {month}"), Text("every leap year on {day} {month}")
_WORKING_DAY = Text("working day")
_ON, _ON_DAY, _IF_DAY = (
    Text("on {days}"),
    Text("on day {days}"),
    Text("on {days} if it is day {number} of the month"),
)
_LAST_DAY, _BEFORE_LAST = (
    Text("on the last day"),
    Text("on day {number}, counted from the end of the month"),
)
_LEFT_OUT = Text("(shorter months are left out)")
_WORKING_WEEK = Text("from Monday to Friday")
_IN = Text("in {months}")
_BY_RULE = Text("by the rule {rule}")
_RULE, _SAID_RULE = Text("{times}, {days}"), Text("{days}, {times}")
_FROM, _UNTIL = Text("from {date}"), Text("until {date}")
_EXCEPT, _SPAN = Text("except {days}"), Text("{first} to {last}")
_NO_HOLIDAYS = Text("except public holidays ({region})")
_NO_DAYS_OFF = Plural(
    "except on days with a whole-day event in {calendar} ({n} day now)",
    "except on days with a whole-day event in {calendar} ({n} days now)",
)
_NOT_COUNTED = Text("public holidays ({region}) do not count")
_NEVER = Text("not again")
_MOMENTS = Text("{moments} ({zone})")
_LATE: dict[Late, Text] = {
    "catch_up": Text("If I'm switched off at that time, it comes once, as soon as I'm back"),
    "skip": Text("If I'm switched off at that time, it is left out, and I tell you"),
    "all": Text("If I'm switched off at that time, each missed one comes as soon as I'm back"),
}
_URGENT = Text("It comes in quiet hours and on days off, too")
_ORDINAL = re.compile(r"\b(\d+)th\b")
_DAY_MINUTES = 1440
_LAST_SURE = 28
"""The last day that each month has."""
_LEAP = (2, 29)
SHOWN = 3
"""The number of next runs shown before a job is confirmed."""


def describe_timing(timing: Timing, zone: ZoneInfo, clock: ReaderClock | None = None) -> str:
    """Describe a timing, such as `At 08:00 on Monday`. The limits of an interval are in `zone`.

    Dates are as people say them at the time of a `clock`. Without one they are in full, for a
    model and for programs.
    """
    dates = _Dates(zone=zone, clock=clock)
    if isinstance(timing, Cron):
        return _describe_cron(timing, dates)
    if isinstance(timing, Once):
        return ONCE(moment=dates.show(timing.at))
    if isinstance(timing, RecurrenceRule):
        return _describe_rule(timing, dates)
    if isinstance(timing, OnEvent):
        return _describe_event(timing)
    every = next(
        every(timing.seconds // size) for every, size in _UNITS if not timing.seconds % size
    )
    return _begin(", ".join([every, *_describe_ends(timing, dates)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dates:
    """Shows local moments of a zone: in full, or as people say them at the time of a clock."""

    zone: ZoneInfo
    clock: ReaderClock | None

    def show(self, at: datetime) -> str:
        if self.clock is None:
            return format_moment(at)
        return say_moment(at, local_time(self.clock.now, self.zone.key))

    def show_day(self, day: date) -> str:
        if self.clock is None:
            return format_date(day)
        return say_day(day, local_time(self.clock.now, self.zone.key).date())


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


def _describe_ends(timing: Every, dates: _Dates) -> list[str]:
    ends = []
    if timing.begins:
        ends.append(_FROM(date=dates.show(moment(timing.anchor).astimezone(dates.zone))))
    if timing.until is not None:
        ends.append(_UNTIL(date=dates.show(moment(timing.until).astimezone(dates.zone))))
    return ends


def _describe_rule(rule: RecurrenceRule, dates: _Dates) -> str:
    if dates.clock and _name_days(rule.days) is None:
        return _describe_next_times(rule, dates.zone, dates.clock)
    said = _say_plainly(rule.days, rule.times) if dates.clock else None
    parts = [said or _describe_times_and_days(rule.times, [rule.days], dates)]
    if rule.region:
        counted = _NOT_COUNTED if rule.days.positions else _NO_HOLIDAYS
        parts.append(counted(region=rule.region))
    if calendar := rule.calendar:
        days = sum((last - first).days + 1 for first, last in calendar.spans)
        parts.append(_NO_DAYS_OFF(days, calendar=calendar.name))
    if rule.without:
        spans = [_describe_span(first, last, dates) for first, last in rule.without]
        parts.append(_EXCEPT(days=join_list(spans)))
    if rule.start != ALWAYS:
        parts.append(_FROM(date=_describe_limit(rule.start, time(), dates)))
    if rule.until:
        parts.append(_UNTIL(date=_describe_limit(rule.until, time(23, 59), dates)))
    return ", ".join(parts)


def _describe_times_and_days(
    times: Sequence[TimeOfDay], days: Sequence[DayRule], dates: _Dates
) -> str:
    show = show_clock if dates.clock is None else _say_minutes
    shown = join_list([_describe_time(time_of_day, show) for time_of_day in times])
    named = [_describe_days(one) for one in days]
    either = named[0] if len(named) == 1 else _EITHER_DAYS(days=named[0], weekdays=named[1])
    pattern = _RULE if dates.clock is None else _SAID_RULE
    return _begin(pattern(times=shown, days=either))


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _say_plainly(days: DayRule, times: Sequence[TimeOfDay]) -> str | None:
    """Say days and times as people do; None for those that are not plain."""
    clocks = []
    for one in times:
        if isinstance(one, SunTime) or one.first != one.last:
            return None
        clocks.append(_say_minutes(one.first))
    clock, named = join_list(clocks), [day for _, day in days.weekdays]
    if days.interval != 1 or days.months or days.positions:
        return None
    if days.frequency == "MONTHLY":
        return _say_day_of_month(days, clock)
    if days.frequency == "YEARLY" or days.month_days or any(nth for nth, _ in days.weekdays):
        return None
    if sorted(named) == [*range(5)]:
        return _WORKING_DAYS(clock=clock)
    if named:
        return _EVERY_WEEK(days=join_list([_WEEKDAYS[day]() for day in named]), clock=clock)
    return _EVERY_DAY(clock=clock) if days.frequency == "DAILY" else None


def _say_day_of_month(days: DayRule, clock: str) -> str | None:
    if days.month_days and not days.weekdays:
        day = days.month_days[0]
        is_plain = len(days.month_days) == 1 and 1 <= day <= _LAST_SURE
        return _EVERY_MONTH(day=day, clock=clock) if is_plain else None
    if days.month_days or len(days.weekdays) != 1:
        return None
    nth, weekday = days.weekdays[0]
    if nth not in _ORDINALS:
        return None
    return _EVERY_NTH(nth=_ORDINALS[nth](), day=_WEEKDAYS[weekday](), clock=clock)


def _describe_limit(limit: datetime, usual: time, dates: _Dates) -> str:
    return dates.show_day(limit.date()) if limit.time() == usual else dates.show(limit)


def _describe_span(first: date, last: date, dates: _Dates) -> str:
    if first == last:
        return dates.show_day(first)
    return _SPAN(first=dates.show_day(first), last=dates.show_day(last))


def _say_minutes(minutes: int) -> str:
    """Say a time of day, in minutes since midnight, as people do: `8:00`."""
    return say_clock(datetime(2000, 1, 1, minutes // 60 % 24, minutes % 60))


def _describe_time(wanted: TimeOfDay, show: Callable[[int], str]) -> str:
    if isinstance(wanted, SunTime):
        if not wanted.offset:
            return _SUN[wanted.event]()
        near = _BEFORE if wanted.offset < 0 else _BEHIND
        return near[wanted.event](abs(wanted.offset))
    if wanted.first == wanted.last:
        return _AT(time=show(wanted.first))
    last = wanted.first + (wanted.last - wanted.first) // wanted.step * wanted.step
    spread, size = next(one for one in _SPREADS if not wanted.step % one[1])
    return spread(wanted.step // size, first=show(wanted.first), last=show(last))


def _describe_days(days: DayRule) -> str:
    """Describe the days of a rule; for rare rules, show the rule itself, which is exact."""
    named = _name_days(days)
    if named is None:
        return _BY_RULE(rule=dump_days(days))
    if date_of_year := _name_date(days):
        return date_of_year
    is_plain = days.interval == 1 and days.frequency in ("DAILY", "WEEKLY") and bool(named)
    parts = [] if is_plain else [_FREQUENCIES[days.frequency](days.interval)]
    if days.months:
        parts.append(_IN(months=join_list([name_month(month) for month in days.months])))
    return " ".join([*parts, *named])


def _name_date(days: DayRule) -> str:
    """Name the one day of each year that a rule means; "" for others."""
    plain = DayRule(frequency="YEARLY", months=days.months, month_days=days.month_days)
    if plain != days or len(days.months) != 1 or len(days.month_days) != 1:
        return ""
    month, day = days.months[0], days.month_days[0]
    if day < 1:
        return ""
    pattern = _LEAP_DAY if (month, day) == _LEAP else _DATE
    return pattern(day=day, month=name_month(month))


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
    first = [day for day in days.month_days if day > 0]
    is_span = len(first) > 2 and first == [*range(first[0], first[-1] + 1)]
    ends = {"first": first[0], "last": first[-1]} if is_span else {}
    shown = _SPAN(**ends) if is_span else join_list([str(day) for day in first])
    named = [_ON_DAY(days=shown)] if first else []
    for day in days.month_days:
        if day < 0:
            named.append(_LAST_DAY() if day == -1 else _BEFORE_LAST(number=-day))
    is_rare = any(abs(day) > _LAST_SURE for day in days.month_days)
    return [join_list(named), *([_LEFT_OUT()] if is_rare else [])]


def is_plain(timing: Timing) -> bool:
    """Return whether a line says all of a timing, so that a person sees a mistake in it at once."""
    if isinstance(timing, Every):
        return not timing.begins and timing.until is None
    if isinstance(timing, Cron):
        rules = read_rules(timing.expression)
        return rules is not None and len(rules.days) == 1 and _name_days(rules.days[0]) is not None
    if isinstance(timing, RecurrenceRule):
        plain = RecurrenceRule(days=timing.days, times=timing.times, start=timing.start)
        is_clock = not any(isinstance(one, SunTime) for one in timing.times)
        return plain == timing and is_clock and _name_days(timing.days) is not None
    return isinstance(timing, Once)


def _describe_cron(cron: Cron, dates: _Dates) -> str:
    """Say a cron expression in words; where there are none, with its next times.

    Programs and models, which give no clock, read CronSim's English words where these are right.
    They are not for days of the month with weekdays: cron runs on either of them, not on both.
    """
    rules = read_rules(cron.expression)
    if rules is None and dates.clock:
        return _describe_next_times(cron, dates.zone, dates.clock)
    if rules is None or (not dates.clock and not rules.is_either and find_language() == "en"):
        return _ORDINAL.sub(_say_ordinal, CronSim(cron.expression, datetime(2024, 1, 1)).explain())
    if len(rules.days) == 1 and (
        said := _say_often(rules) or _say_plainly(rules.days[0], rules.times)
    ):
        return said
    return _describe_times_and_days(rules.times, rules.days, dates)


def _say_ordinal(found: re.Match[str]) -> str:
    """Write "31st" for "31th", as CronSim writes it."""
    number = int(found[1])
    suffixes = {1: "st", 2: "nd", 3: "rd"}
    is_teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if is_teen else suffixes.get(number % 10, 'th')}"


def _say_often(rules: CronRules) -> str:
    """Say an interval that fills each day, such as `Every 15 minutes`; "" for others."""
    at = rules.times[0]
    count = (at.last - at.first) // at.step + 1
    is_all_day = not at.first and count * at.step == _DAY_MINUTES
    if rules.days[0] != DayRule(frequency="DAILY") or not is_all_day:
        return ""
    return next(
        _begin(every(at.step * 60 // size)) for every, size in _UNITS if not at.step * 60 % size
    )


def _describe_next_times(timing: Timing, zone: ZoneInfo, clock: ReaderClock) -> str:
    first = first_slot(timing, zone, clock.now)
    return _SET_TIMES(moments=say_next(timing, zone, first, clock)) if first else _say_none(timing)


def describe_next(timing: Timing, zone: ZoneInfo, waited: Slot | None, reader: ZoneInfo) -> str:
    """List the next runs in full in a time zone, with its name, for a model and for programs."""
    if isinstance(timing, OnEvent) or waited is None:
        return _say_none(timing)
    slots = islice(walk_slots(timing, zone, waited), SHOWN)
    shown = "; ".join(show_moment(slot.at, reader) for slot in slots)
    return _MOMENTS(moments=shown, zone=name_zone(reader.key))


def say_next(timing: Timing, zone: ZoneInfo, waited: Slot | None, clock: ReaderClock) -> str:
    """List the next runs for a person, on their own clock."""
    if isinstance(timing, OnEvent) or waited is None:
        return _say_none(timing)
    slots = islice(walk_slots(timing, zone, waited), SHOWN)
    return "; ".join(clock.show(slot.at) for slot in slots)


def _say_none(timing: Timing) -> str:
    if isinstance(timing, OnEvent):
        return (_WHEN_CALLED if timing.kind == "webhook" else _WHEN_IT_HAPPENS)()
    return _NEVER()


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
    """Format a moment in milliseconds in full: `Mon 2026-11-23 08:00`; people read `say_next`."""
    return format_moment(moment(at).astimezone(reader))
