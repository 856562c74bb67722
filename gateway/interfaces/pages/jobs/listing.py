"""Jobs: the list by the day of the next run; run now, pause, resume, delete and restore."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from starlette.responses import Response

from agent_core.ids import JobId
from agent_core.schedule.quiet_times import HeldSlot, find_held_slot
from agent_core.schedule.triggers import Once, load_timing
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_owners, job_runs
from agent_core.state.jobs import jobs as stored
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import delivery_targets
from agent_core.state.queues import deferred_messages
from agent_core.tools.clock import ReaderClock
from gateway.interfaces.pages.undoing import find_undo
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.jobs.destinations import PlaceNames
from gateway.operations.job_types import ActOnJob, ChangeJob, JobOutline, JobVerb
from gateway.operations.jobs import change as change_job
from gateway.operations.jobs import do_verb, name_undo, outline
from gateway.texts import forms
from gateway.texts import jobs as texts

_RUNS, _DELETED = 5, 10
_ACTS: Mapping[str, JobVerb] = {
    "run": "run",
    "pause": "pause",
    "resume": "resume",
    "delete": "delete",
    "restore": "restore",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A reminder in the list, with its last runs; one that repeats says when."""

    job: JobOutline
    repeats: str
    runs: list[Run]
    held: HeldSlot | None
    """Its next message that would wait for quiet hours to end."""


async def show(look: Look) -> Fields:
    """Read the person's jobs by the day of their next run, and those that were deleted last."""
    clock = look.viewer.clock

    def work(connection: Connection) -> dict[str, Any]:
        person_id, names = look.person.id, PlaceNames(connection)
        found = stored.list_of_person(connection, person_id=person_id)
        dropped = job_owners.list_dropped(connection, person_id=person_id, limit=_DELETED)
        return {
            "j": texts,
            "f": forms,
            "held": look.flash.get("held"),
            "waiting": deferred_messages.list_reminders(connection, person_id=person_id),
            "groups": _group([_describe(connection, job, look, names) for job in found], clock),
            "deleted": [
                outline(connection, job, clock=clock, names=names)
                for number in dropped
                if (job := stored.find(connection, job_id=number)) and job.is_whole
            ],
        }

    return await look.gateway.database.read(work)


def _describe(connection: Connection, job: Job, look: Look, names: PlaceNames) -> Line:
    found: JobOutline = outline(connection, job, clock=look.viewer.clock, names=names)
    is_once = found.next_at is not None and isinstance(load_timing(job.timing), Once)
    return Line(
        job=found,
        repeats="" if is_once else found.meaning,
        runs=list(job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS)),
        held=find_held(connection, look, job),
    )


def find_held(connection: Connection, look: Look, job: Job) -> HeldSlot | None:
    """Return when a reminder's next message would wait for quiet hours to end; None if it won't."""
    if job.is_urgent or job.state != "active":
        return None
    home = delivery_targets.find(connection, person_id=look.person.id)
    held = find_held_slot(job, look.person, home.days_off, look.viewer.clock)
    return held if held and held.place == 0 else None


async def deliver_anyway(look: Look) -> Response:
    """Let a reminder come in quiet hours, too. Raises `Missing` and `Declined`."""
    found = await look.gateway.database.read(find_own, look)
    await change_job(look.context, ChangeJob(id=found.id, urgent=True))
    return look.redirect("/jobs", note=texts.NOT_HELD())


def _group(lines: Sequence[Line], clock: ReaderClock) -> dict[str, list[Line]]:
    """Group reminders by the day of their next run; then those without one."""
    planned = [one for one in lines if one.job.next_at and one.job.state == "active"]
    found: dict[str, list[Line]] = {}
    for one in planned:
        day = clock.show_day(one.job.next_at or 0)
        found.setdefault(day[:1].upper() + day[1:], []).append(one)
    for one in lines:
        if one not in planned:
            name = texts.PAUSED_ONES if one.job.state == "paused" else texts.WITHOUT_TIME
            found.setdefault(name(), []).append(one)
    return found


def list_coming(connection: Connection, look: Look) -> list[tuple[int, str, JobId | None]]:
    """List when the person's reminders come next, with their titles, the earliest first.

    One that waits for quiet hours to end comes then; it has no number, because it may be over.
    """
    found = stored.list_of_person(connection, person_id=look.person.id)
    held = deferred_messages.list_reminders(connection, person_id=look.person.id)
    planned = [
        (job.next_slot[1], job.title, job.id)
        for job in found
        if job.state == "active" and job.next_slot
    ]
    return sorted([*((at, title, None) for at, title, _ in held), *planned], key=itemgetter(0))


def find_own(connection: Connection, look: Look) -> Job:
    """Return the job in the address, if it belongs to the person. Raises `Missing`."""
    found = stored.find(connection, job_id=JobId(look.find_id("job")))
    if found is None or found.person_id != look.person.id:
        raise Missing
    return found


async def act(look: Look) -> Response:
    """Run, pause, resume, delete or restore a job of the person. Raises `Missing`, `Declined`."""
    verb = look.request.path_params["verb"]
    found = await look.gateway.database.read(find_own, look)
    if verb not in _ACTS:
        raise Missing
    await do_verb(look.context, ActOnJob(id=found.id, is_press=True), verb=_ACTS[verb])
    undo = await look.gateway.database.read(name_undo, found.id, _ACTS[verb])
    note = forms.ACTED[verb](title=found.title)
    return look.redirect("/jobs", note=note, undo_at=await find_undo(look, undo))
