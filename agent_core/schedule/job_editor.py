"""Creation and changes of jobs, for the tool, the chat commands and the command line."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from agent_core.errors import CoreError
from agent_core.ids import JobId, PersonId, RoomId, RunId
from agent_core.schedule.occurrences import find_least_gap, first_slot
from agent_core.schedule.resources import JobResources, find_fault, find_unpriced
from agent_core.schedule.triggers import Once, OnEvent, Timing, dump_timing, load_timing
from agent_core.schedule.wall_clock import Slot, find_zone, slot_at
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_marks, job_runs, job_versions, jobs, waiting_jobs
from agent_core.state.jobs.jobs import Job, JobKind, NewJob, Options, Target
from agent_core.state.jobs.missed_slots import Late

LONGEST_TITLE = 80
LONGEST_BODY = 4000
ASKED, AGAIN = "asked ", "again "
"""The prefixes of slots that a person requested outside the schedule: at once, and for later."""
_Parts = dict[str, Any]
"""What people choose of a job, by the names of its fields and options."""
_SECRET = 32
"""Bytes of a webhook's secret."""
_DOUBLE_PRESS = 3_000
"""Milliseconds within which a second press of a button counts as the same press."""


InvalidJobFault = Literal[
    "past",
    "damaged",
    "no_address",
    "no_price",
    "no_version",
    "other",
    "over",
    "often",
    "changed_since",
]
PAUSED_ON_REQUEST, PAUSED_BY_OPERATOR = "as asked", "from the command line"
PAUSED_MOVED, PAUSED_IMPORTED = "moved to another home", "imported"
"""It goes on in another home; or it came from one, and waits for its person."""
PAUSED_DAMAGED = "its entry in the database is damaged"
"""Stored reasons for pauses, as is `name_failures`. Any other reason is a fault of the schedule."""


class InvalidJob(CoreError):
    """A job can't be as requested.

    The text tells the model the problem and a solution. `fault` selects the sentence for a person.
    `due_at` is the single time that has passed, in milliseconds, if that is the fault.
    """

    def __init__(
        self, text: str, fault: InvalidJobFault = "other", due_at: int | None = None
    ) -> None:
        super().__init__(text)
        self.fault = fault
        self.due_at = due_at


class JobAlreadyRunning(InvalidJob):
    """A job can't be started because its previous run has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """The limits of the deployment.

    They are the jobs per person, the minutes between two runs that call a model, the failures in a
    row before a pause, and the resources that jobs may use.
    """

    per_person: int = 50
    least_minutes: int = 5
    pause_after: int = 3
    means: JobResources = field(default_factory=JobResources)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A requested job or change; None keeps the present value, or selects the default."""

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
    """The person and the room that own a job, and the actor that creates it."""

    person_id: PersonId
    room_id: RoomId | None
    actor: str
    call_key: str | None = None


def draft_job(
    request: JobRequest, whose: JobOwner, *, zone: str, rules: JobRules, now: int
) -> NewJob:
    """Build a job from a request. `zone` is the person's. Raises `InvalidJob`. Pure."""
    timing, body = request.timing, (request.body or "").strip()
    if timing is None:
        raise InvalidJob("say when: a cron expression, an interval, a time or an event")
    kind = request.kind or "prompt"
    named = request.zone or zone
    options = request.options or default_options(kind, rules)
    _check(options, kind, rules, in_room=whose.room_id is not None)
    return NewJob(
        person_id=whose.person_id,
        room_id=whose.room_id,
        kind=kind,
        title=_title(request.title or body),
        body=_body(body),
        timing=dump_timing(timing),
        zone=named,
        late=_late(request.late, timing),
        options=options,
        targets=request.targets or (Target(kind="home"),),
        is_urgent=bool(request.is_urgent),
        next_slot=_await(timing, named, kind, rules, now),
        actor=whose.actor,
        call_key=whose.call_key,
    )


def default_options(kind: object, rules: JobRules) -> Options:
    """Return the options of a new job; a message job can't fail, so no pause is set."""
    return Options() if kind == "message" else Options(pause_after=rules.pause_after)


def redraft_job(job: Job, request: JobRequest, *, rules: JobRules, now: int) -> Job:
    """Apply a request to a job. Raises `InvalidJob`. Pure."""
    _refuse_damaged(job)
    if request.kind and request.kind != job.kind:
        raise InvalidJob(
            f"the kind of a job can't change; delete it and create a {request.kind} job"
        )
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
        late=_late(request.late, timing, job.late),
        options=request.options or job.options,
        targets=request.targets or job.targets,
        is_urgent=job.is_urgent if request.is_urgent is None else request.is_urgent,
        next_slot=waits,
    )


def create_job(connection: Connection, job: NewJob, *, rules: JobRules, now: int) -> Job:
    """Insert a new job, only once per tool call.

    Raises `InvalidJob` if the person has too many jobs, and the errors of `check_event`.
    """
    assert job.person_id is not None  # noqa: S101 - system jobs are not created here
    if job.call_key:
        made = jobs.find_call(connection, person_id=job.person_id, call_key=job.call_key)
        if made:
            return made
    _check_count(connection, job.person_id, rules)
    check_event(connection, job)
    return jobs.insert(connection, job, now=now)


def _check_count(connection: Connection, person_id: PersonId, rules: JobRules) -> None:
    if len(jobs.list_of_person(connection, person_id=person_id)) >= rules.per_person:
        raise InvalidJob(
            f"there are already {rules.per_person} jobs, the most that one person may"
            " have; delete one first"
        )


def change_job(connection: Connection, job: Job, now: int) -> Job:
    """Store a redrafted job, and keep its earlier version. Raises the errors of `check_event`."""
    check_event(connection, job)
    before = jobs.find(connection, job_id=job.id)
    if before and before.timing != job.timing:
        job_marks.clear(connection, job_id=job.id)
    job_versions.record(connection, job_id=job.id, now=now)
    jobs.change(connection, job)
    return job


def undo_change(
    connection: Connection,
    job: Job,
    *,
    rules: JobRules,
    now: int,
    change: int | None = None,
    may_set_script: bool = False,
) -> Job:
    """Restore what the last change of a job, or an older `change`, has changed, and nothing else.

    What a later change touched stays as it is. The undo can be undone. A command is restored only
    with `may_set_script`, because whoever changed it may have had a reason. Raises `InvalidJob`,
    also if later changes touched everything that this one did.
    """
    parts, others = _compare_change(connection, job, change)
    if others and not parts:
        raise InvalidJob("later changes touched the same", "changed_since")
    return _restore(connection, job, parts, rules, now, may_set_script=may_set_script)


def put_back_version(
    connection: Connection,
    job: Job,
    version: int,
    *,
    rules: JobRules,
    now: int,
    may_set_script: bool = False,
) -> Job:
    """Restore a job as a whole to a former version; see `undo_change`."""
    parts = _list_parts(_find_change(connection, job, version)[0])
    return _restore(connection, job, parts, rules, now, may_set_script=may_set_script)


def is_changed_since(connection: Connection, job: Job, change: int | None) -> bool:
    """Return whether a later change touched something that a change touched."""
    return bool(_compare_change(connection, job, change)[1])


def _compare_change(
    connection: Connection, job: Job, change: int | None
) -> tuple[_Parts, list[str]]:
    """Return what a change replaced and nothing has touched since, and the names of the others."""
    before, after = map(_list_parts, _find_change(connection, job, change))
    now_so = _list_parts(job)
    touched = [name for name in before if before[name] != after[name]]
    free = {name: before[name] for name in touched if now_so[name] == after[name]}
    return free, [name for name in touched if name not in free]


def _find_change(connection: Connection, job: Job, change: int | None) -> tuple[Job, Job]:
    """Return a job before and after a change of it. Raises `InvalidJob`."""
    found = job_versions.list_of(connection, job_id=job.id)
    at = next((at for at, one in enumerate(found) if change in (None, one.id)), None)
    if at is None:
        raise InvalidJob("there is no such former version of it", "no_version")
    return found[at].job, found[at - 1].job if at else job


def _list_parts(job: Job) -> _Parts:
    """List what people choose of a job, by the names of the fields; a gate's state is no choice."""
    names = ("title", "body", "timing", "zone", "late", "targets", "is_urgent")
    states = ("gate_passed", "gate_seen", "gate_next")
    chosen = {one.name for one in fields(Options)}.difference(states)
    return {
        **{name: getattr(job, name) for name in names},
        **{name: getattr(job.options, name) for name in chosen},
    }


def _restore(
    connection: Connection,
    job: Job,
    parts: _Parts,
    rules: JobRules,
    now: int,
    *,
    may_set_script: bool,
) -> Job:
    """Give a job former parts. Raises `InvalidJob`."""
    options = {one.name: parts[one.name] for one in fields(Options) if one.name in parts}
    timing = parts.get("timing", job.timing)
    request = JobRequest(
        title=parts.get("title"),
        body=parts.get("body") if may_set_script or job.kind != "script" else None,
        timing=load_timing(timing) if timing != job.timing else None,
        zone=parts.get("zone"),
        late=parts.get("late"),
        options=replace(job.options, **options),
        targets=parts.get("targets"),
        is_urgent=parts.get("is_urgent"),
    )
    return change_job(connection, redraft_job(job, request, rules=rules, now=now), now)


def name_change_undo(connection: Connection, job_id: JobId) -> str:
    """Return the command, without slash, that takes the newest change of a job back.

    It names the change, so that it takes nothing else back after a further one.
    """
    return f"jobs undo {job_id} of {job_versions.find_newest(connection, job_id=job_id)}"


def check_event(connection: Connection, job: NewJob) -> None:
    """Refuse a job that follows a missing job, or follows itself. Raises `InvalidJob`.

    Both jobs must have the same owner and the same room, because the first job's result reaches the
    second.
    """
    first = _find_first(connection, job)
    if first is None and _comes_after(job):
        number = _comes_after(job)
        raise InvalidJob(f"there is no job {number} here that it could come after; see the list")
    while first:
        if isinstance(job, Job) and first.id == job.id:
            raise InvalidJob("it would come after itself, and never end; choose another job")
        first = _find_first(connection, first)


def renew_webhook(connection: Connection, job: Job) -> str:
    """Give a job a new secret for its web address; the previous secret stops working.

    Only its digest is stored. Raises `InvalidJob` if the job does not wait for a request.
    """
    timing = load_timing(job.timing)
    if not isinstance(timing, OnEvent) or timing.kind != "webhook":
        raise InvalidJob(f"job {job.id} doesn't wait for a web request", "no_address")
    secret = secrets.token_urlsafe(_SECRET)
    changed = OnEvent(kind="webhook", value=_digest(secret))
    job_versions.drop_addresses(connection, job_id=job.id)
    jobs.change(connection, replace(job, timing=dump_timing(changed)))
    return secret


def find_webhook(connection: Connection, secret: str) -> Job | None:
    """Find the active job that has this webhook secret."""
    wanted = dump_timing(OnEvent(kind="webhook", value=_digest(secret)))
    found = None
    for job in waiting_jobs.list_on_event(connection):
        if hmac.compare_digest(job.timing.encode(), wanted.encode()):
            found = job
    return found


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def list_followers(connection: Connection, job: Job) -> list[Job]:
    """List the active jobs that run after a job."""
    if job.person_id is None:
        return []
    waiting = waiting_jobs.list_on_event(connection, person_id=job.person_id, room_id=job.room_id)
    return [one for one in waiting if _comes_after(one) == job.id]


def _find_first(connection: Connection, job: NewJob) -> Job | None:
    """Find the job that runs before a job."""
    number = _comes_after(job)
    first = jobs.find(connection, job_id=number) if number else None
    if first is None or (first.person_id, first.room_id) != (job.person_id, job.room_id):
        return None
    return first if first.state in ("active", "paused") else None


def _comes_after(job: NewJob) -> JobId | None:
    timing = load_timing(job.timing)
    is_after = isinstance(timing, OnEvent) and timing.kind == "after"
    return JobId(timing.job_id) if isinstance(timing, OnEvent) and is_after else None


def pause_job(connection: Connection, job: Job, reason: str) -> Job:
    """Pause a job until it is resumed; runs missed meanwhile are not caught up."""
    paused = replace(job, state="paused", reason=reason)
    jobs.change(connection, paused)
    return paused


def name_failures(count: int) -> str:
    """Return the stored reason of a pause after failures in a row."""
    return f"failed {count} times"


def resume_job(connection: Connection, job: Job, now: int) -> Job:
    """Resume a job at its next slot. Raises `InvalidJob` if none is left."""
    _refuse_damaged(job)
    timing = load_timing(job.timing)
    waits = first_slot(timing, find_zone(job.zone), now)
    if waits is None and not isinstance(timing, OnEvent):
        raise InvalidJob("its time is past; change the schedule", "past")
    slot = (waits.name, waits.at) if waits else None
    resumed = replace(job, state="active", reason="", failures=0, next_slot=slot)
    if job.state != "active":
        job_marks.clear(connection, job_id=job.id)  # events during the pause are not caught up
    jobs.change(connection, resumed)
    return resumed


def drop_job(connection: Connection, job: Job) -> Job:
    """Drop a job; its history is kept."""
    dropped = replace(job, state="dropped", next_slot=None)
    jobs.change(connection, dropped)
    return dropped


def restore_job(connection: Connection, job: Job, *, rules: JobRules, now: int) -> Job:
    """Restore a dropped job, paused if it was paused. Raises `InvalidJob`, as for a new job."""
    assert job.person_id is not None  # noqa: S101 - system jobs are never dropped
    _check_count(connection, job.person_id, rules)
    check_event(connection, job)
    why = job.reason
    return pause_job(connection, job, why) if why else resume_job(connection, job, now)


def run_job_now(
    connection: Connection, job: Job, key: str, now: int, *, is_press: bool = False
) -> RunId | None:
    """Start an extra run; returns None if the same key already started one.

    Also returns None for the second press of a double press (`is_press`). Raises
    `JobAlreadyRunning` while the newest run has not ended, unless it has the same key.
    """
    slot = (f"{ASKED}{key}", now)
    for newest in job_runs.list_of_job(connection, job_id=job.id, limit=1):
        was_asked = newest.slot.startswith(ASKED)
        if is_press and was_asked and 0 <= now - newest.slot_at < _DOUBLE_PRESS:
            return None
        if newest.ended_at is None and newest.slot != slot[0]:
            raise JobAlreadyRunning(f"job {job.id} is already running")
    return job_runs.claim(connection, job_id=job.id, slot=slot, due_at=now, now=now)


def find_visible_job(
    connection: Connection, *, job_id: JobId, may_see: Callable[[Job], bool]
) -> Job | None:
    """Find an active or paused job that the asker may see."""
    job = jobs.find(connection, job_id=job_id)
    if job is None or job.state not in ("active", "paused") or not may_see(job):
        return None
    return job


def next_slot_of(job: NewJob) -> Slot | None:
    """Return the slot that a job waits for."""
    return Slot(name=job.next_slot[0], at=job.next_slot[1]) if job.next_slot else None


def _late(asked: Late | None, timing: Timing, known: Late = "catch_up") -> Late:
    """Return the rule for missed runs; an event is never missed. Raises `InvalidJob`."""
    if not isinstance(timing, OnEvent):
        return asked or known
    if asked not in (None, "catch_up"):
        raise InvalidJob("an event is never missed, so it can't be skipped; leave `late` out")
    return "catch_up"


def _await(
    timing: Timing, zone: str, kind: JobKind, rules: JobRules, now: int
) -> tuple[str, int] | None:
    """Find the slot that a job waits for; None for an event. Raises `InvalidJob`."""
    try:
        place = find_zone(zone)
    except ValueError as error:
        raise InvalidJob(str(error)) from error
    if isinstance(timing, OnEvent):
        return None
    first = first_slot(timing, place, now)
    if first is None:
        due_at = slot_at(timing.at, place).at if isinstance(timing, Once) else None
        raise InvalidJob("that time is past", "over", due_at)
    least = rules.least_minutes * 60_000
    if kind != "message" and find_least_gap(timing, place, first) < least:
        raise InvalidJob(
            f"it would run more often than every {rules.least_minutes} minutes, the most allowed"
            " here; choose a longer interval",
            "often",
        )
    return first.name, first.at


def check_brought(job: NewJob, *, rules: JobRules, now: int) -> None:
    """Check a job of another home against the limits here. Raises `InvalidJob`.

    Its last slot may have passed meanwhile.
    """
    _check(job.options, job.kind, rules, in_room=job.room_id is not None)
    try:
        _await(load_timing(job.timing), job.zone, job.kind, rules, now)
    except InvalidJob as error:
        if error.fault != "over":
            raise


def _check(options: Options, kind: JobKind, rules: JobRules, *, in_room: bool) -> None:
    """Check the options. Raises `InvalidJob`."""
    if fault := find_fault(options, rules.means, in_room=in_room):
        raise InvalidJob(fault)
    if fault := find_unpriced(options, rules.means):
        raise InvalidJob(fault, "no_price")
    thinks = options.model or options.tools or options.skills or options.day_micro_dollars
    thinks = thinks or options.gate or options.agent
    if kind != "prompt" and (thinks or options.is_aware):
        raise InvalidJob(
            "a model, tools, skills, a gate, a daily quota and `aware` are for prompts"
            f" only: a {kind} calls no model"
        )


def _refuse_damaged(job: Job) -> None:
    if not job.is_whole:
        raise InvalidJob("it is damaged in the database; delete it and create it again", "damaged")


def _title(text: str) -> str:
    title = " ".join(text.split())
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


def _body(text: str) -> str:
    body = text.strip()
    if not body:
        raise InvalidJob("say what to do")
    if len(body) > LONGEST_BODY:
        raise InvalidJob(f"the text takes at most {LONGEST_BODY} characters")
    return body
