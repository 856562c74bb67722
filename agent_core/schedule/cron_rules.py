"""The calendar rules that a cron expression stands for, as far as words can say them. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from cronsim import CronSim

from agent_core.schedule.rules import WORKING_DAYS, ClockTime, DayRule, Frequency

_DAY = 1440
_MOST_TIMES = 6
"""Times of day that are listed; more are said as an interval, or not at all."""
_MOST_DAYS = 8
"""Days of the month that are listed."""
_EVERY_DATE, _EVERY_MONTH, _EVERY_WEEKDAY = set(range(1, 32)), set(range(1, 13)), set(range(7))


@dataclass(frozen=True, slots=True, kw_only=True)
class CronRules:
    """The days of a cron expression, on any of its rules, and the times of these days.

    `is_either` if it names days of the month and weekdays, and runs on either of them.
    """

    days: tuple[DayRule, ...]
    times: tuple[ClockTime, ...]
    is_either: bool


def read_rules(expression: str) -> CronRules | None:
    """Return the calendar rules of a valid cron expression; None if words can't say them."""
    cron = CronSim(expression, datetime.min)
    times, days = _read_times(cron), _read_days(cron)
    if not times or not days:
        return None
    return CronRules(days=days, times=times, is_either=not cron.day_and)


def _read_times(cron: CronSim) -> tuple[ClockTime, ...]:
    """Return the times of day: each for itself, or one interval; none for anything else."""
    named = [hour * 60 + minute for hour in sorted(cron.hours) for minute in sorted(cron.minutes)]
    gaps = {later - earlier for earlier, later in pairwise(named)}
    step = gaps.pop() if len(gaps) == 1 else 0
    is_all_day = step and named[0] == 0 and step * len(named) == _DAY
    if step and (len(named) > _MOST_TIMES or (is_all_day and step % 60 and len(named) > 1)):
        return (ClockTime(first=named[0], last=named[-1], step=step),)
    if len(named) > _MOST_TIMES:
        return ()
    return tuple(ClockTime(first=one, last=one) for one in named)


def _read_days(cron: CronSim) -> tuple[DayRule, ...]:
    """Return the rules whose days are those of an expression; none if there are no such rules.

    With a day of the month and a weekday, cron runs on either of them.
    """
    months = () if cron.months == _EVERY_MONTH else tuple(sorted(cron.months))
    of_month = _name_dates(cron.days, months)
    of_week = _name_weekdays(cron.weekdays, months)
    is_every_date = cron.days >= _EVERY_DATE
    is_every_weekday = _weekdays_of(cron.weekdays) == _EVERY_WEEKDAY
    is_either, whole = not cron.day_and, (is_every_date, is_every_weekday)
    if any(whole) if is_either else all(whole):
        return (DayRule(frequency="DAILY", months=months),)
    if not is_either and not any(whole):
        return ()
    if is_either:
        return (of_month, of_week) if of_month and of_week else ()
    found = of_week if is_every_date else of_month
    return (found,) if found else ()


def _name_dates(days: Collection[int], months: tuple[int, ...]) -> DayRule | None:
    frequency: Frequency = "YEARLY" if months else "MONTHLY"
    if set(days) == {CronSim.LAST_WEEKDAY}:
        return DayRule(frequency=frequency, months=months, weekdays=WORKING_DAYS, positions=(-1,))
    if CronSim.LAST_WEEKDAY in days or len(days) > _MOST_DAYS:
        return None
    dates = sorted(day for day in days if day != CronSim.LAST)
    last = [-1] if CronSim.LAST in days else []
    return DayRule(frequency=frequency, months=months, month_days=(*dates, *last))


def _name_weekdays(
    given: Collection[int | tuple[int, int]], months: tuple[int, ...]
) -> DayRule | None:
    plain = _weekdays_of(given)
    placed = [one for one in given if isinstance(one, tuple)]
    if plain and placed:
        return None
    if plain:
        weekdays = tuple((0, day) for day in sorted(plain))
        return DayRule(frequency="WEEKLY", months=months, weekdays=weekdays)
    named = ((-1 if nth == CronSim.LAST else nth, (day - 1) % 7) for day, nth in placed)
    ordinal = tuple(sorted(named, key=lambda one: (one[0] < 0, one)))
    frequency: Frequency = "YEARLY" if months else "MONTHLY"
    return DayRule(frequency=frequency, months=months, weekdays=ordinal)


def _weekdays_of(given: Collection[int | tuple[int, int]]) -> set[int]:
    """Return the weekdays that come every week, Monday as 0; cron counts Sunday as 0 and 7."""
    return {(day - 1) % 7 for day in given if isinstance(day, int)}
