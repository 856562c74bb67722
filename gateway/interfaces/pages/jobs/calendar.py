"""The calendar of a person's jobs: past and planned runs by day."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Literal
from zoneinfo import ZoneInfo

from agent_core.ids import JobId, TurnId
from agent_core.localization import format_weekday, name_month
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.occurrences import first_slot, walk_after, walk_slots
from agent_core.schedule.receipts import say_timing
from agent_core.schedule.triggers import load_timing, milliseconds
from agent_core.schedule.wall_clock import Slot, find_zone
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import calendar_runs
from agent_core.state.jobs import jobs as stored
from agent_core.state.jobs.job_runs import RunState
from agent_core.state.jobs.jobs import Job
from agent_core.tools.clock import local_time
from gateway.interfaces.pages.views import Fields, Look
from gateway.texts import jobs as texts

_OF_MONTH, _OF_WEEK = (2, 6), (12, 40)
"""Most lines of a day: of one job, and of all jobs. A job with more runs gets a single line."""
_YEARS = range(1971, 8999)
_WEEKS = 5
"""Weeks of the coming ones, this week included: as many rows as a month has."""

View = Literal["coming", "month", "week"]
"""What the calendar shows: the coming weeks, or a named month or week."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A past run with its `state`, or a planned run without. `at` is in milliseconds UTC.

    With `runs` above 1, the entry stands for all runs of the job on that day, of which `failed`
    failed. For planned runs, `timing` then describes when they are.
    """

    at: int
    job: Job
    state: RunState | None = None
    turn_id: TurnId | None = None
    runs: int = 1
    failed: int = 0
    timing: str = ""
    held_until: int | None = None
    """When the run's message comes, which waits for quiet hours to end."""


Group = list[Entry]
"""The entries of one job on one day: either its past runs or its planned runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day with its entries; `more` is the number of jobs for which there was no room."""

    day: date
    span: tuple[int, int]
    is_within: bool
    entries: list[Entry] = field(default_factory=list)
    more: int = 0


async def show_calendar(look: Look) -> Fields:
    """Read the coming weeks, a month or a week of runs, in the person's time zone."""
    asked = look.request.query_params
    today = local_time(look.gateway.now(), look.viewer.zone).date()
    view: View = "week" if "week" in asked else "month" if "month" in asked else "coming"
    first = _read_day(f"{asked['month']}-01" if view == "month" else asked.get("week"), today)
    first -= timedelta(days=first.day - 1 if view == "month" else first.weekday())
    most, room = _OF_WEEK if view == "week" else _OF_MONTH
    days = list(_list_days(first, find_zone(look.viewer.zone), view))

    def work(connection: Connection) -> list[Day]:
        past = _list_past(connection, look, days, most)
        planned = _list_planned(connection, look, days, most)
        return [
            _fill(day, [*ran, *coming], room)
            for day, ran, coming in zip(days, past, planned, strict=True)
        ]

    filled = await look.gateway.database.read(work)
    return {
        "days": filled,
        "weekdays": [format_weekday(number) for number in range(7)],
        "today": today,
        "has_entries": any(day.entries for day in filled),
        **_name_places(first, today, view),
    }


def _name_places(first: date, today: date, view: View) -> dict[str, Any]:
    """Return the title of the page, and the targets of its links."""
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    if view == "week":
        back, on = (f"week={first + timedelta(days=step)}" for step in (-7, 7))
    elif view == "month":
        back, on = (f"month={day:%Y-%m}" for day in (first - timedelta(1), last + timedelta(1)))
    else:
        end = first + timedelta(weeks=_WEEKS)
        back, on = (f"month={day:%Y-%m}" for day in (first - timedelta(1), end))
    near = max(first, min(today, last)) if view == "month" else first
    links = {
        "coming": "",
        "month": f"month={first if view == 'month' else today:%Y-%m}",
        "week": f"week={near}",
    }
    return {
        "j": texts,
        "view": view,
        "is_week": view == "week",
        "first": first,
        "month": name_month,
        "back": back,
        "on": on,
        "links": links,
    }


def _read_day(text: str | None, today: date) -> date:
    """Read a day within the calendar's years; for any other text, return today."""
    try:
        found = date.fromisoformat(text or "")
    except ValueError:
        return today
    return found if found.year in _YEARS else today


def _list_days(first: date, zone: ZoneInfo, view: View) -> Iterator[Day]:
    """List the days of whole weeks: the weeks from `first` on, or all weeks of its month."""
    month, day = first.month, first - timedelta(days=first.weekday())
    weeks = timedelta(weeks=1 if view == "week" else _WEEKS)
    while (
        (day <= first or day.month == month or day.weekday())
        if view == "month"
        else (day < first + weeks)
    ):
        begin, end = (
            milliseconds(datetime.combine(one, time(), zone)) for one in (day, day + timedelta(1))
        )
        yield Day(day=day, span=(begin, end), is_within=view != "month" or day.month == month)
        day += timedelta(days=1)


def _list_past(
    connection: Connection, look: Look, days: Sequence[Day], most: int
) -> list[list[Group]]:
    """List the runs of each day by job: up to `most` entries, or one entry for all."""
    found = [dict[JobId, Group]() for _ in days]
    known = dict[JobId, Job | None]()
    begins = [day.span[0] for day in days]
    runs = calendar_runs.list_of_days(
        connection,
        person_id=look.person.id,
        spans=[day.span for day in days],
        most=most + 1,
    )
    for run in runs:
        if run.job_id not in known:
            known[run.job_id] = stored.find(connection, job_id=run.job_id)
        job = known[run.job_id]
        if job:
            entry = Entry(
                at=run.slot_at,
                job=job,
                state=run.state,
                turn_id=run.turn_id,
                held_until=run.held_until,
            )
            of_day = found[bisect_right(begins, run.slot_at) - 1]
            of_day.setdefault(job.id, []).append(entry)
    full = [
        (job_id, *day.span)
        for day, of_day in zip(days, found, strict=True)
        for job_id, group in of_day.items()
        if len(group) > most
    ]
    counts = iter(calendar_runs.count_of_jobs(connection, job_spans=full))
    return [[_join(group, most, counts) for group in of_day.values()] for of_day in found]


def _join(group: Group, most: int, counts: Iterator[tuple[int, int]]) -> Group:
    """Return the runs of a day, or one entry if there are more than `most`.

    The next item of `counts` has the numbers of runs and of failures.
    """
    if len(group) <= most:
        return group
    runs, failed = next(counts)
    state: RunState = "failed" if failed else "done"
    return [replace(group[0], state=state, turn_id=None, runs=runs, failed=failed)]


def _list_planned(
    connection: Connection, look: Look, days: Sequence[Day], most: int
) -> list[list[Group]]:
    """List the planned runs of each day by job: up to `most` entries, or one entry for all."""
    now = look.gateway.now()
    found = [list[Group]() for _ in days]
    ends = tuple(day.span[1] for day in days)
    for job in stored.list_of_person(connection, person_id=look.person.id):
        if job.state != "active" or not job.is_whole:
            continue
        timing, zone = load_timing(job.timing), find_zone(job.zone)
        slot: Slot | None = next_slot_of(job)
        if slot and slot.at < days[0].span[0]:
            slot = first_slot(timing, zone, max(days[0].span[0] - 1, now))
        if slot is None:
            continue
        moments_of_days = _walk_days(job.timing, job.zone, slot, ends, most)
        words = ""
        for of_day, moments in zip(found, moments_of_days, strict=True):
            if len(moments) > most:
                words = words or say_timing(job, look.viewer.clock)
                of_day.append([Entry(at=moments[0], job=job, runs=len(moments), timing=words)])
            elif moments:
                of_day.append([Entry(at=at, job=job) for at in moments])
    return found


@lru_cache(maxsize=512)
def _walk_days(
    text: str, zone_name: str, first: Slot, ends: tuple[int, ...], most: int
) -> tuple[tuple[int, ...], ...]:
    """List the slots of a timing for each day; `ends` are the ends of the days.

    A day gets at most one slot more than `most`. Cached, because an open calendar reloads at each
    event, and its slots stay the same.
    """
    timing, zone = load_timing(text), find_zone(zone_name)
    walk = walk_slots(timing, zone, first)
    slot = next(walk, None)
    found = []
    for end in ends:
        of_day: list[int] = []
        while slot and slot.at < end:
            of_day.append(slot.at)
            if len(of_day) > most:  # a single line will stand for the whole day
                walk = walk_after(timing, zone, end - 1)
            slot = next(walk, None)
        found.append(tuple(of_day))
    return tuple(found)


def _fill(day: Day, groups: Sequence[Group], room: int) -> Day:
    """Return a day with as many entries as fit; jobs that run seldom come first."""
    shown: list[Entry] = []
    hidden = set[JobId]()
    for group in sorted(groups, key=lambda group: (group[0].runs, len(group), group[0].at)):
        if len(shown) + len(group) <= room:
            shown += group
        else:
            hidden.add(group[0].job.id)
    entries = sorted(shown, key=lambda entry: (entry.at, entry.job.id))
    return replace(day, entries=entries, more=len(hidden))
