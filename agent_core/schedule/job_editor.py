"""Makes, changes and drops jobs: what the tool, the commands and the command line share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent_core.errors import CoreError
from agent_core.ids import JobId, PersonId, RoomId, RunId
from agent_core.schedule.occurrences import Slot, find_zone, first_slot
from agent_core.schedule.resources import JobResources, find_fault
from agent_core.schedule.triggers import Cron, Every, Timing, dump_timing, load_timing
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, JobKind, Late, NewJob, Options, Target

LONGEST_TITLE = 80
LONGEST_BODY = 4000
ASKED = "asked "
"""What the names of slots begin with that are none of a job's times."""
_SAMPLED = 240
"""Next slots among which the shortest pause is looked for."""


class InvalidJob(CoreError):
    """A job can't be as it is wished; the text says what is wrong and what to do."""


class JobAlreadyRunning(InvalidJob):
    """A job can't be run once more: a run of it has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """What the house allows: jobs a person, minutes between two runs of one that thinks, and
    what may be lent to one.
    """

    per_person: int = 50
    least_minutes: int = 5
    means: JobResources = field(default_factory=JobResources)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A job as it is asked for; None leaves a thing as it is, or as is usual."""

    kind: JobKind | None = None
    title: str | None = None
    body: str | None = None
    timing: Timing | None = None
    zone: str | None = None
    late: Late | None = None
    options: Options | None = None
    targets: tuple[Target, ...] | None = None
    is_urgent: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOwner:
    """Whose job it is: a person's, and of a room where it belongs to one. `actor` made it."""

    person_id: PersonId
    room_id: RoomId | None
    actor: str
    call_key: str | None = None


def draft(request: JobRequest, whose: JobOwner, *, zone: str, rules: JobRules, now: int) -> NewJob:
    """The job that a wish comes to. `zone` is the person's. Raises `InvalidJob`. Pure."""
    timing, body = request.timing, (request.body or "").strip()
    if timing is None:
        raise InvalidJob("say when: a cron expression, an interval or a moment")
    kind = request.kind or "prompt"
    named = request.zone or zone
    options = request.options or Options()
    _check(options, kind, rules, in_room=whose.room_id is not None)
    return NewJob(
        person_id=whose.person_id,
        room_id=whose.room_id,
        kind=kind,
        title=_title(request.title or body),
        body=_body(body),
        timing=dump_timing(timing),
        zone=named,
        late=request.late or "catch_up",
        options=options,
        targets=request.targets or (Target(kind="home"),),
        is_urgent=bool(request.is_urgent),
        next_slot=_await(timing, named, kind, rules, now),
        actor=whose.actor,
        call_key=whose.call_key,
    )


def redraft(job: Job, request: JobRequest, *, rules: JobRules, now: int) -> Job:
    """A job as it is to be from now on. Raises `InvalidJob`. Pure."""
    _refuse_damaged(job)
    if request.kind and request.kind != job.kind:
        raise InvalidJob(f"it stays a {job.kind}; drop it and make a {request.kind} of its own")
    if request.options:
        _check(request.options, job.kind, rules, in_room=job.room_id is not None)
    timing = request.timing or load_timing(job.timing)
    zone = request.zone or job.zone
    is_moved = request.timing is not None or zone != job.zone
    waits = _await(timing, zone, job.kind, rules, now) if is_moved else job.next_slot
    return replace(
        job,
        title=_title(request.title) if request.title else job.title,
        body=_body(request.body) if request.body else job.body,
        timing=dump_timing(timing),
        zone=zone,
        late=request.late or job.late,
        options=request.options or job.options,
        targets=request.targets or job.targets,
        is_urgent=job.is_urgent if request.is_urgent is None else request.is_urgent,
        next_slot=waits,
    )


def make(connection: Connection, job: NewJob, *, rules: JobRules, now: int) -> Job:
    """Write down a new job, once for one call. Raises `InvalidJob` where a person has too many."""
    assert job.person_id is not None  # noqa: S101 - the house's own jobs are not made here
    if job.call_key:
        made = jobs.find_call(connection, person_id=job.person_id, call_key=job.call_key)
        if made:
            return made
    if len(jobs.list_of_person(connection, person_id=job.person_id)) >= rules.per_person:
        raise InvalidJob(
            f"there are {rules.per_person} jobs already, which is the most that one person may"
            " have; drop one first"
        )
    return jobs.insert(connection, job, now=now)


def pause(connection: Connection, job: Job, reason: str) -> Job:
    """A job waits until it is resumed; what it would have done meanwhile is not made up for."""
    paused = replace(job, state="paused", reason=reason)
    jobs.change(connection, paused)
    return paused


def resume(connection: Connection, job: Job, now: int) -> Job:
    """A job goes on with its next moment. Raises `InvalidJob` where none is left."""
    _refuse_damaged(job)
    waits = first_slot(load_timing(job.timing), find_zone(job.zone), now)
    if waits is None:
        raise InvalidJob("its moment is past; change when it is to run")
    resumed = replace(job, state="active", reason="", failures=0, next_slot=(waits.name, waits.at))
    jobs.change(connection, resumed)
    return resumed


def drop(connection: Connection, job: Job) -> Job:
    """A job is no more; what it did stays in the records."""
    dropped = replace(job, state="dropped", next_slot=None)
    jobs.change(connection, dropped)
    return dropped


def run_now(connection: Connection, job: Job, key: str, now: int) -> RunId | None:
    """Run a job once besides its times; None if that was asked for under this key before.

    Raises `JobAlreadyRunning` while its newest run has not ended, unless that is the one asked for.
    """
    slot = (f"{ASKED}{key}", now)
    for newest in job_runs.list_of_job(connection, job_id=job.id, limit=1):
        if newest.ended_at is None and newest.slot != slot[0]:
            raise JobAlreadyRunning(f"job {job.id} is under way already")
    return job_runs.claim(connection, job_id=job.id, slot=slot, due_at=now)


def find_own(
    connection: Connection, *, job_id: JobId, may_see: Callable[[Job], bool]
) -> Job | None:
    """A job that is not done with, if whoever asks may see it."""
    job = jobs.find(connection, job_id=job_id)
    if job is None or job.state not in ("active", "paused") or not may_see(job):
        return None
    return job


def next_slot_of(job: NewJob) -> Slot | None:
    """The slot that a job waits for."""
    return Slot(name=job.next_slot[0], at=job.next_slot[1]) if job.next_slot else None


def _await(timing: Timing, zone: str, kind: JobKind, rules: JobRules, now: int) -> tuple[str, int]:
    try:
        place = find_zone(zone)
    except ValueError as error:
        raise InvalidJob(str(error)) from error
    first = first_slot(timing, place, now)
    if first is None:
        raise InvalidJob("that moment is past")
    least = rules.least_minutes * 60_000
    if kind != "message" and _least_gap(timing, zone, first) < least:
        raise InvalidJob(
            f"it would run more often than every {rules.least_minutes} minutes, which is the most"
            " here; choose longer pauses"
        )
    return first.name, first.at


def _check(options: Options, kind: JobKind, rules: JobRules, *, in_room: bool) -> None:
    """Raises `InvalidJob` where a job can't be run like this."""
    fault = find_fault(options, rules.means, in_room=in_room)
    if fault:
        raise InvalidJob(fault)
    thinks = options.model or options.tools or options.skills or options.day_micro_dollars
    if kind != "prompt" and (thinks or options.is_aware):
        raise InvalidJob(
            "a model, tools, skills, a day's ceiling and a view of earlier runs are for prompts"
            f" only: a {kind} does not think"
        )


def _least_gap(timing: Timing, zone: str, first: Slot) -> int:
    """The shortest pause, in milliseconds, between two of the next slots."""
    if isinstance(timing, Every):
        return timing.seconds * 1000
    if not isinstance(timing, Cron):
        return 1 << 62
    gaps = []
    slot, place = first, find_zone(zone)
    for _ in range(_SAMPLED):
        behind = first_slot(timing, place, slot.at)
        if behind is None:
            break
        gaps.append(behind.at - slot.at)
        slot = behind
    return min(gaps, default=1 << 62)


def _refuse_damaged(job: Job) -> None:
    if not job.is_whole:
        raise InvalidJob("it is damaged in my database; drop it and ask for it again")


def _title(text: str) -> str:
    title = " ".join(text.split())
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


def _body(text: str) -> str:
    body = text.strip()
    if not body:
        raise InvalidJob("say what is to be done")
    if len(body) > LONGEST_BODY:
        raise InvalidJob(f"what is to be done takes at most {LONGEST_BODY} characters")
    return body
