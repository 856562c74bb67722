"""The calendar of a person's jobs: what ran, and what is planned, by day."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from agent_core.ids import JobId, RunId, TurnId
from agent_core.localization import name_month
from agent_core.schedule import (
    Slot,
    find_zone,
    first_slot,
    load_timing,
    milliseconds,
    next_slot_of,
    walk_slots,
)
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.jobs import jobs as stored
from agent_core.state.jobs.job_runs import RunState
from agent_core.state.jobs.jobs import Job
from agent_core.tools import local_time
from gateway.interfaces.pages.views import Fields, Look
from gateway.texts.console import jobs as texts

_PER_JOB, _PER_DAY = 4, 10
"""The most entries of a day in a month: of one job, and of all."""
_PER_DAY_OF_WEEK = 40
_YEARS = range(1971, 8999)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A run, or a planned one, which has no state. `at` is in milliseconds UTC."""

    at: int
    job_id: JobId
    title: str
    run_id: RunId | None = None
    state: RunState | None = None
    turn_id: TurnId | None = None
    can_change: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day with its entries; `is_more` says that some are left out."""

    day: date
    span: tuple[int, int]
    is_within: bool
    entries: list[Entry] = field(default_factory=list)
    is_more: bool = False


async def show_calendar(look: Look) -> Fields:
    """Read a month or a week of runs, in the person's time zone."""
    asked = look.request.query_params
    today = local_time(look.gateway.now(), look.viewer.zone).date()
    is_week = "week" in asked
    first = _read_day(asked.get("week") if is_week else f"{asked.get('month', '')}-01", today)
    first -= timedelta(days=first.weekday() if is_week else first.day - 1)
    most = (_PER_DAY_OF_WEEK,) * 2 if is_week else (_PER_JOB, _PER_DAY)
    days = list(_list_days(first, find_zone(look.viewer.zone), is_week=is_week))

    def work(connection: Connection) -> list[Day]:
        past = _list_past(connection, look, days, most[0])
        planned = _list_planned(connection, look, days, most[0])
        entries = sorted([*past, *planned], key=lambda entry: (entry.at, entry.job_id))
        return [_fill(connection, day, entries, most) for day in days]

    filled = await look.gateway.database.read(work)
    return {
        "days": filled,
        "today": today,
        "has_entries": any(day.entries for day in filled),
        **_name_places(first, today, is_week=is_week),
    }


def _name_places(first: date, today: date, *, is_week: bool) -> dict[str, Any]:
    """Return what the page is called, and what its links lead to."""
    if is_week:
        last = first + timedelta(days=6)
        back, on = (f"week={first + timedelta(days=step)}" for step in (-7, 7))
        here, other = f"week={first}", f"month={first:%Y-%m}"
    else:
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        back, on = (f"month={day:%Y-%m}" for day in (first - timedelta(1), last + timedelta(1)))
        here, other = f"month={first:%Y-%m}", f"week={max(first, min(today, last))}"
    return {
        "j": texts,
        "is_week": is_week,
        "first": first,
        "last": last,
        "month": name_month,
        "back": back,
        "on": on,
        "shown": here,
        "other": other,
    }


def _read_day(text: str | None, today: date) -> date:
    """Read a day that calendars have; any other is today."""
    try:
        found = date.fromisoformat(text or "")
    except ValueError:
        return today
    return found if found.year in _YEARS else today


def _list_days(first: date, zone: ZoneInfo, *, is_week: bool) -> Iterator[Day]:
    """List the days of whole weeks, from the week of `first` to that of its month's last day."""
    month, day = first.month, first - timedelta(days=first.weekday())
    while day <= first or (not is_week and day.month == month) or day.weekday():
        begin, end = (
            milliseconds(datetime.combine(one, time(), zone)) for one in (day, day + timedelta(1))
        )
        yield Day(day=day, span=(begin, end), is_within=is_week or day.month == month)
        day += timedelta(days=1)


def _list_past(
    connection: Connection, look: Look, days: Sequence[Day], most: int
) -> Iterator[Entry]:
    """List the runs of some days, one more than `most` for each job and day."""
    known = dict[JobId, Job | None]()
    runs = job_runs.list_of_days(
        connection,
        person_id=look.person.id,
        spans=[day.span for day in days],
        most=most + 1,
    )
    for run in runs:
        if run.job_id not in known:
            known[run.job_id] = stored.find(connection, job_id=run.job_id)
        job = known[run.job_id]
        if job and run.is_whole:
            yield Entry(
                at=run.slot_at,
                job_id=job.id,
                title=job.title,
                run_id=run.id,
                state=run.state,
                can_change=job.state in ("active", "paused"),
            )


def _list_planned(
    connection: Connection, look: Look, days: Sequence[Day], most: int
) -> Iterator[Entry]:
    """List what is planned on some days, a little more than `most` for each job and day."""
    now = look.gateway.now()
    for job in stored.list_of_person(connection, person_id=look.person.id):
        if job.state != "active" or not job.is_whole:
            continue
        timing, zone = load_timing(job.timing), find_zone(job.zone)
        slot: Slot | None = next_slot_of(job)
        if slot and slot.at < days[0].span[0]:
            slot = first_slot(timing, zone, max(days[0].span[0] - 1, now))
        if slot:
            ends = tuple(day.span[1] for day in days)
            for at in _walk_days(job.timing, job.zone, slot, ends, most):
                yield Entry(at=at, job_id=job.id, title=job.title)


@lru_cache(maxsize=512)
def _walk_days(
    text: str, zone_name: str, first: Slot, ends: tuple[int, ...], most: int
) -> tuple[int, ...]:
    """List the slots of a timing until each of some ends, a little more than `most` for each.

    An open calendar is asked for again with each event, and its slots are the same.
    """
    timing, zone = load_timing(text), find_zone(zone_name)
    found: list[int] = []
    walk = walk_slots(timing, zone, first)
    slot = next(walk, None)
    for end in ends:
        count = 0
        while slot and slot.at < end:
            found.append(slot.at)
            count += 1
            if count > most:  # the rest of the day is left out
                later = first_slot(timing, zone, end - 1)
                walk = walk_slots(timing, zone, later) if later else iter(())
            slot = next(walk, None)
    return tuple(found)


def _fill(connection: Connection, day: Day, entries: Sequence[Entry], most: tuple[int, int]) -> Day:
    """Return a day with its entries of all, which are sorted: as many as its cell holds."""
    begin, end = (bisect_left(entries, at, key=lambda entry: entry.at) for at in day.span)
    counts = dict[JobId, int]()
    shown = list[Entry]()
    for entry in entries[begin:end]:
        counts[entry.job_id] = counts.get(entry.job_id, 0) + 1
        if counts[entry.job_id] <= most[0] and len(shown) < most[1]:
            turn = job_runs.find_turn(connection, run_id=entry.run_id) if entry.run_id else None
            shown.append(replace(entry, turn_id=turn[0]) if turn else entry)
    return replace(day, entries=shown, is_more=len(shown) < end - begin)
