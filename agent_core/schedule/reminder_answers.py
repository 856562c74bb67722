"""Takes a person's answer to a reminder: done, later, not the next time, or none of these."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from agent_core.schedule.job_editor import AGAIN, ASKED, InvalidJob
from agent_core.schedule.occurrences import next_slot
from agent_core.schedule.triggers import Once, dump_timing, is_event, load_timing, moment
from agent_core.schedule.wall_clock import Slot, find_zone, slot_at
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import ACKNOWLEDGED, PUT_OFF, SKIPPED_NEXT, UNWANTED, Run
from agent_core.state.jobs.jobs import Job

ReminderVerb = Literal["done", "10m", "1h", "tomorrow", "skip", "change", "undo"]
"""What the buttons below a reminder do."""
LaterVerb = Literal["10m", "1h", "tomorrow"]
_LATER = {"10m": timedelta(minutes=10), "1h": timedelta(hours=1)}
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderAnswer:
    """An answer that counted. Times are in milliseconds; None for one that there is not.

    `again_at` is when a reminder that was put off comes again. `skipped_at` is the slot that was
    left out, and `next_at` the one behind it; after an undo of that, the one that comes again.
    """

    verb: ReminderVerb
    again_at: int | None = None
    skipped_at: int | None = None
    next_at: int | None = None
    is_open_again: bool = False
    """True after the undo of a "done"."""


def is_reminder(job: Job) -> bool:
    """Return whether a job sends a fixed text at set times."""
    return job.kind == "message" and job.is_whole and not is_event(job.timing)


def list_verbs(job: Job, run: Run) -> tuple[ReminderVerb, ...]:
    """List the answers that a reminder takes; none if it isn't one."""
    if not is_reminder(job):
        return ()
    if not isinstance(load_timing(job.timing), Once):
        return ("done", "skip", "change", "undo")
    # A reminder that was tried early still comes at its time.
    return (
        ("done", "undo")
        if run.slot.startswith(ASKED)
        else ("done", "10m", "1h", "tomorrow", "undo")
    )


def list_open_verbs(job: Job, run: Run) -> tuple[ReminderVerb, ...]:
    """List the answers that a reminder takes after what was answered to it so far."""
    left: dict[str, tuple[ReminderVerb, ...]] = {
        "": ("done", "10m", "1h", "tomorrow", "skip", "change"),
        PUT_OFF: ("done", "undo"),
        SKIPPED_NEXT: ("undo",),
        ACKNOWLEDGED: ("undo",),
    }
    allowed = left.get(run.reason, ())
    return tuple(verb for verb in list_verbs(job, run) if verb in allowed)


def answer_reminder(
    connection: Connection, job: Job, run: Run, verb: ReminderVerb, now: int
) -> ReminderAnswer | None:
    """Apply an answer in the caller's transaction; None if the reminder was answered before.

    A reminder that was put off can still be done. Raises `InvalidJob` for a skip of a paused job,
    and for an undo that comes too late.
    """
    if verb == "done":
        return _acknowledge(connection, job, run)
    if verb == "undo":
        return _take_back(connection, job, run, now)
    if verb == "skip":
        return _skip_next(connection, job, run, now)
    if not job_runs.answer(connection, run_id=run.id, reason=PUT_OFF, known=""):
        return None
    zone = find_zone(job.zone)
    named = find_later(run.slot_at, zone, verb, now)
    slot = slot_at(named, zone)
    # Named after the run: within the hour that a clock repeats, its time may name an earlier slot.
    waits = (f"{AGAIN}{run.id}", slot.at)
    timing = dump_timing(Once(at=named))
    jobs.change(connection, replace(job, state="active", timing=timing, next_slot=waits))
    return ReminderAnswer(verb=verb, again_at=slot.at)


def _acknowledge(connection: Connection, job: Job, run: Run) -> ReminderAnswer | None:
    """Note that a reminder is done; one that was put off doesn't come again."""
    if run.reason not in ("", PUT_OFF) or not job_runs.answer(
        connection, run_id=run.id, reason=ACKNOWLEDGED, known=run.reason
    ):
        return None
    if job.next_slot and job.next_slot[0] == f"{AGAIN}{run.id}":
        jobs.change(connection, replace(job, state="over", next_slot=None))
    return ReminderAnswer(verb="done")


def _skip_next(connection: Connection, job: Job, run: Run, now: int) -> ReminderAnswer | None:
    if job.state != "active" or job.next_slot is None:
        raise InvalidJob("it doesn't wait for a next time", "past")
    if not job_runs.answer(connection, run_id=run.id, reason=SKIPPED_NEXT, known=""):
        return None
    left_out = job.next_slot
    job_runs.skip(connection, job_id=job.id, slots=[left_out], now=now, reason=UNWANTED)
    slot = Slot(name=left_out[0], at=left_out[1])
    behind = next_slot(load_timing(job.timing), find_zone(job.zone), slot)
    waits = (behind.name, behind.at) if behind else None
    jobs.await_slot(connection, job_id=job.id, slot=waits, is_over=behind is None)
    return ReminderAnswer(verb="skip", skipped_at=slot.at, next_at=behind.at if behind else None)


def _take_back(connection: Connection, job: Job, run: Run, now: int) -> ReminderAnswer | None:
    """Undo a skip, a put-off or a "done", as long as what it changed has not been changed since."""
    if run.reason == PUT_OFF:
        return _take_back_later(connection, job, run)
    if run.reason == ACKNOWLEDGED:
        job_runs.answer(connection, run_id=run.id, reason="", known=ACKNOWLEDGED)
        return ReminderAnswer(verb="undo", is_open_again=True)
    if run.reason != SKIPPED_NEXT:
        return None
    skipped = job_runs.find_unwanted(connection, job_id=job.id)
    if skipped is None or job.state not in ("active", "over") or skipped[1] <= now:
        raise InvalidJob("the time that was skipped has passed", "past")
    slot = Slot(name=skipped[0], at=skipped[1])
    behind = next_slot(load_timing(job.timing), find_zone(job.zone), slot)
    if job.next_slot != ((behind.name, behind.at) if behind else None):
        raise InvalidJob("its schedule has changed since", "past")
    job_runs.answer(connection, run_id=run.id, reason="", known=SKIPPED_NEXT)
    job_runs.want_again(connection, job_id=job.id, slot=slot.name)
    jobs.change(connection, replace(job, state="active", next_slot=skipped))
    return ReminderAnswer(verb="undo", next_at=slot.at)


def _take_back_later(connection: Connection, job: Job, run: Run) -> ReminderAnswer:
    """Let a reminder that was put off not come again, as if nothing had been pressed."""
    if not job.next_slot or job.next_slot[0] != f"{AGAIN}{run.id}":
        raise InvalidJob("it has come again, or was changed", "past")
    job_runs.answer(connection, run_id=run.id, reason="", known=PUT_OFF)
    jobs.change(connection, replace(job, state="over", next_slot=None))
    return ReminderAnswer(verb="undo")


def find_later(due_at: int, zone: ZoneInfo, verb: ReminderVerb, now: int) -> datetime:
    """Return when a reminder comes again, on the clock of its zone.

    Tomorrow, it comes at the time of day at which it was due.
    """
    if span := _LATER.get(verb):
        later = (moment(now) + span).astimezone(zone)
        return later.replace(tzinfo=None, second=0, microsecond=0)
    due = moment(due_at).astimezone(zone)
    day = moment(now).astimezone(zone).date() + _DAY
    return datetime.combine(day, due.time().replace(fold=0, microsecond=0))
