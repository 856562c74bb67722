"""The slots of calendar rules: days from `dateutil.rrule`, and the times of each day. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import groupby, islice, takewhile
from zoneinfo import ZoneInfo

from dateutil import rrule

from agent_core.schedule.almanac import find_sun, list_holidays
from agent_core.schedule.rules import (
    ALWAYS,
    ClockTime,
    DayRule,
    RecurrenceRule,
    Spans,
    SunTime,
    dump_days,
    dump_time,
    is_within,
)
from agent_core.schedule.triggers import milliseconds, moment
from agent_core.schedule.wall_clock import Slot, slot_at

_FREQUENCIES = {
    "DAILY": rrule.DAILY,
    "WEEKLY": rrule.WEEKLY,
    "MONTHLY": rrule.MONTHLY,
    "YEARLY": rrule.YEARLY,
}
_DAY = timedelta(days=1)
_YEARS_SEARCHED = 41
"""29 February falls on the same weekday again after 40 years at most, around 2100."""
_LAST_YEAR = 9000
_MOST_SUNLESS = 400
"""The most days of a rule in a row without a slot: more than the days of a year. Only times of the
sun are missing on a day."""
MOST_COUNT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLimits:
    """The first local time, the last local time, and the number of slots; None for no limit."""

    start: datetime | None = None
    until: datetime | None = None
    count: int | None = None


def walk_after(rule: RecurrenceRule, zone: ZoneInfo, after: int) -> Iterator[Slot]:
    """Iterate the slots after a moment. Raises `ValueError` if a calendar is missing."""
    first = moment(after).astimezone(zone).date() - _DAY
    for slots in _walk_day_slots(rule, zone, first):
        yield from (slot for slot in slots if slot.at > after)


def walk_behind(rule: RecurrenceRule, zone: ZoneInfo, slot: Slot) -> Iterator[Slot]:
    """Iterate the slots after a slot; the next one may be due at the same moment.

    The slot is found by its name, because an updated calendar may change its moment.
    """
    day = date.fromisoformat(slot.name[:10])
    found = _list_slots(rule, zone, day) if day in _list_days(rule, day.year) else []
    names = [one.name for one in found]
    if slot.name in names:
        yield from found[names.index(slot.name) + 1 :]
    else:
        yield from (one for one in found if one.at > slot.at)
    for slots in _walk_day_slots(rule, zone, day + _DAY):
        yield from slots


def find_last(rule: RecurrenceRule, zone: ZoneInfo, until: int) -> Slot | None:
    """Find the newest slot at or before a moment."""
    last = moment(until).astimezone(zone).date() + _DAY
    if rule.until:
        last = min(last, rule.until.date())
    for year in range(last.year, rule.start.year - 1, -1):
        days = _list_days(rule, year)
        for day in reversed(days[: bisect_right(days, last)]):
            for slot in reversed(_list_slots(rule, zone, day)):
                if slot.at <= until:
                    return slot
    return None


def limit_rule(
    rule: RecurrenceRule, zone: ZoneInfo, limits: SlotLimits, now: int
) -> RecurrenceRule:
    """Give a rule its start and its end. `now` is in milliseconds since the epoch.

    Without a start, an interval counts from the rule's first day from now on. A number of slots
    becomes the time of the last slot. Raises `ValueError` with a sentence.
    """
    days = rule.days
    if limits.start and not days.names_days:
        days = _name_day(days, limits.start.date())
    if not days.names_days:
        raise ValueError(
            "say on which day; the nearest is"
            f" {dump_days(_name_day(days, moment(now).astimezone(zone).date()))},"
            " or a day in `starts`"
        )
    rule = replace(rule, days=days, start=limits.start or ALWAYS)
    _refuse_never(rule)
    if days.interval > 1 and limits.start is None:
        plain = replace(rule, days=replace(days, interval=1), region="", calendar=None, without=())
        first = next(walk_after(plain, zone, now), None)
        if first:
            rule = replace(
                rule, start=datetime.combine(date.fromisoformat(first.name[:10]), time())
            )
    rule = replace(rule, until=limits.until)
    if limits.count is not None:
        rule = replace(rule, until=_count(rule, zone, limits.count, now))
    if next(walk_after(rule, zone, now), None) is None:
        if limits.until is None and all(isinstance(one, SunTime) for one in rule.times):
            raise ValueError(
                "the sun doesn't rise or set there on these days; the nearest is a fixed time"
            )
        raise ValueError(
            "no time is left between its start and its end, outside of the days that are left"
            " out; the nearest is the same without `until`"
        )
    return rule


def _count(rule: RecurrenceRule, zone: ZoneInfo, count: int, now: int) -> datetime | None:
    if not 1 <= count <= MOST_COUNT:
        raise ValueError(f"`count` is 1 to {MOST_COUNT}; the nearest is {MOST_COUNT}")
    slots = list(islice(walk_after(rule, zone, now), count))
    if not slots:
        return rule.until
    last = slots[-1]
    if "T" in last.name:
        return datetime.fromisoformat(last.name)
    return moment(last.at).astimezone(zone).replace(tzinfo=None)


def _name_day(days: DayRule, day: date) -> DayRule:
    """Give a rule without days the day of its start, as RFC 5545 does."""
    if days.frequency == "WEEKLY":
        return replace(days, weekdays=((0, day.weekday()),))
    if days.frequency == "MONTHLY" or days.months:
        return replace(days, month_days=(day.day,))
    return replace(days, months=(day.month,), month_days=(day.day,))


def _refuse_never(rule: RecurrenceRule) -> None:
    """Refuse a rule whose days never occur. Raises `ValueError` with the nearest rule."""
    days = rule.days
    if next(iter(_make_rrule(days, _align(days, rule.start.date(), rule.start.year))), None):
        return
    if days.positions:
        nearest = replace(days, positions=(-1,))
    elif days.month_days and days.months:
        nearest = replace(days, month_days=(-1,), weekdays=())
    else:
        nearest = replace(days, month_days=(), weekdays=tuple((0, day) for _, day in days.weekdays))
    raise ValueError(f"{dump_days(days)} never occurs; the nearest is {dump_days(nearest)}")


def _walk_day_slots(rule: RecurrenceRule, zone: ZoneInfo, first: date) -> Iterator[list[Slot]]:
    """Iterate the slots of each day of a rule, until the sun no longer rises or sets on them."""
    sunless = 0
    for day in _walk_days(rule, first):
        slots = _list_slots(rule, zone, day)
        sunless = 0 if slots else sunless + 1
        if sunless > _MOST_SUNLESS:
            return
        yield slots


def _walk_days(rule: RecurrenceRule, first: date) -> Iterator[date]:
    """Iterate the days of a rule from a day onwards."""
    first = max(first, rule.start.date())
    end = rule.until.year if rule.until else _LAST_YEAR
    year, last = first.year, first.year + _YEARS_SEARCHED
    while year <= min(last, end):
        days = _list_days(rule, year)
        for day in days[bisect_left(days, first) :]:
            yield day
            last = day.year + _YEARS_SEARCHED
        year += 1


def _list_days(rule: RecurrenceRule, year: int) -> tuple[date, ...]:
    """List the days of a year, except the skipped ones."""
    start, until = rule.start.date(), rule.until.date() if rule.until else date.max
    spans = rule.calendar.spans if rule.calendar else ()
    named = _expand(rule.days, start, rule.region, spans, year)
    days = named[bisect_left(named, start) : bisect_right(named, until)]
    return tuple(day for day in days if not is_within(rule.without, day)) if rule.without else days


def _make_rrule(days: DayRule, begin: date) -> rrule.rrule:
    """Build a rule without positions; it is evaluated from its beginning.

    It ends with the last year of the calendar. A rule that never occurs takes 0.3 s until then, so
    only `limit_rule` checks for this.
    """
    return rrule.rrule(
        _FREQUENCIES[days.frequency],
        dtstart=datetime.combine(begin, time()),
        interval=days.interval,
        byweekday=[rrule.weekday(day, nth or None) for nth, day in days.weekdays] or None,
        bymonthday=days.month_days or None,
        bymonth=days.months or None,
    )


@lru_cache(maxsize=512)
def _expand(
    days: DayRule, start: date, region: str, days_off: Spans, year: int
) -> tuple[date, ...]:
    """List the days that a rule names in a year.

    Positions are counted here, because "the first working day" must skip holidays before it counts.
    """
    begin = datetime.combine(_align(days, start, year), time())
    if begin.year > year:
        return ()
    found = takewhile(lambda at: at.year <= year, _make_rrule(days, begin.date()))
    holidays = list_holidays(region, year) if region else frozenset[date]()
    named = [
        day
        for day in (at.date() for at in found if at.year == year)
        if day not in holidays and not is_within(days_off, day)
    ]
    if not days.positions:
        return tuple(named)
    chosen = set()
    for _, group in groupby(named, lambda day: day.month if days.frequency == "MONTHLY" else 0):
        period = list(group)
        for position in days.positions:
            index = position - 1 if position > 0 else len(period) + position
            if 0 <= index < len(period):
                chosen.add(period[index])
    return tuple(sorted(chosen))


def _align(days: DayRule, start: date, year: int) -> date:
    """Move a start by whole intervals to the last possible start before a year, or in it.

    `rrule` counts from its start, so an old rule would get slower with each year. The result is the
    beginning of its month or week, because RFC 5545 counts whole months and weeks.
    """
    begin, step = date(year, 1, 1), days.interval
    if days.frequency == "YEARLY":
        behind = -(-(year - start.year) // step) * step
        return date(min(start.year + max(behind, 0), _LAST_YEAR + 1), 1, 1)
    if days.frequency == "MONTHLY":
        months = max((year - start.year) * 12 + 1 - start.month, 0)
        month = start.year * 12 + start.month - 1 + months // step * step
        return date(month // 12, month % 12 + 1, 1)
    size = step if days.frequency == "DAILY" else 7 * step
    origin = start if days.frequency == "DAILY" else start - start.weekday() * _DAY
    return origin + max((begin - origin).days, 0) // size * size * _DAY


def _list_slots(rule: RecurrenceRule, zone: ZoneInfo, day: date) -> list[Slot]:
    """List the slots of a day, earliest first."""
    found = []
    minutes = {
        minute
        for time_of_day in rule.times
        if isinstance(time_of_day, ClockTime)
        for minute in range(time_of_day.first, time_of_day.last + 1, time_of_day.step)
    }
    for minute in sorted(minutes):
        named = datetime.combine(day, time(minute // 60, minute % 60))
        if _is_within(rule, named):
            found.append(slot_at(named, zone))
    for time_of_day in rule.times:
        slot = _find_sun_slot(rule, zone, day, time_of_day)
        if slot:
            found.append(slot)
    return sorted(found, key=lambda slot: slot.at)  # stable: slots in a gap keep their order


def _find_sun_slot(rule: RecurrenceRule, zone: ZoneInfo, day: date, wanted: object) -> Slot | None:
    """Find a slot of the sun, named after its day: a library update may change its minute."""
    if not isinstance(wanted, SunTime) or rule.place is None:
        return None
    found = find_sun(wanted, day, rule.place, zone)
    if found is None or not _is_within(rule, found.astimezone(zone).replace(tzinfo=None, fold=0)):
        return None
    return Slot(name=f"{day} {dump_time(wanted)}", at=milliseconds(found))


def _is_within(rule: RecurrenceRule, local: datetime) -> bool:
    return rule.start <= local and (rule.until is None or local <= rule.until)
