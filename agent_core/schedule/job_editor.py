"""Makes, changes and drops jobs: what the tool, the commands and the command line share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent_core.errors import CoreError
from agent_core.ids import JobId, PersonId, RoomId, RunId
from agent_core.schedule.occurrences import Slot, find_zone, first_slot
from agent_core.schedule.resources import Means, find_fault
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


class Unfit(CoreError):
    """A job can't be as it is wished; the text says what is wrong and what to do."""


class UnderWay(Unfit):
    """A job can't be run once more: a run of it has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """What the house allows: jobs a person, minutes between two runs of one that thinks, and
    what may be lent to one.
    """

    per_person: int = 50
    least_minutes: int = 5
    means: Means = field(default_factory=Means)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
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
class Whose:
    """Whose job it is: a person's, and of a room where it belongs to one. `actor` made it."""

    person_id: PersonId
    room_id: RoomId | None
    actor: str
    call_key: str | None = None


def draft(wish: Wish, whose: Whose, *, zone: str, rules: JobRules, now: int) -> NewJob:
    """The job that a wish comes to. `zone` is the person's. Raises `Unfit`. Pure."""
    timing, body = wish.timing, (wish.body or "").strip()
    if timing is None:
        raise Unfit("say when: a cron expression, an interval or a moment")
    kind = wish.kind or "prompt"
    named = wish.zone or zone
    options = wish.options or Options()
    _check(options, kind, rules, in_room=whose.room_id is not None)
    return NewJob(
        person_id=whose.person_id,
        room_id=whose.room_id,
        kind=kind,
        title=_title(wish.title or body),
        body=_body(body),
        timing=dump_timing(timing),
        zone=named,
        late=wish.late or "catch_up",
        options=options,
        targets=wish.targets or (Target(kind="home"),),
        is_urgent=bool(wish.is_urgent),
        next_slot=_await(timing, named, kind, rules, now),
        actor=whose.actor,
        call_key=whose.call_key,
    )


def redraft(job: Job, wish: Wish, *, rules: JobRules, now: int) -> Job:
    """A job as it is to be from now on. Raises `Unfit`. Pure."""
    _refuse_damaged(job)
    if wish.kind and wish.kind != job.kind:
        raise Unfit(f"it stays a {job.kind}; drop it and make a {wish.kind} of its own")
    if wish.options:
        _check(wish.options, job.kind, rules, in_room=job.room_id is not None)
    timing = wish.timing or load_timing(job.timing)
    zone = wish.zone or job.zone
    is_moved = wish.timing is not None or zone != job.zone
    waits = _await(timing, zone, job.kind, rules, now) if is_moved else job.next_slot
    return replace(
        job,
        title=_title(wish.title) if wish.title else job.title,
        body=_body(wish.body) if wish.body else job.body,
        timing=dump_timing(timing),
        zone=zone,
        late=wish.late or job.late,
        options=wish.options or job.options,
        targets=wish.targets or job.targets,
        is_urgent=job.is_urgent if wish.is_urgent is None else wish.is_urgent,
        next_slot=waits,
    )


def make(connection: Connection, job: NewJob, *, rules: JobRules, now: int) -> Job:
    """Write down a new job, once for one call. Raises `Unfit` where a person has too many."""
    assert job.person_id is not None  # noqa: S101 - the house's own jobs are not made here
    if job.call_key:
        made = jobs.find_call(connection, person_id=job.person_id, call_key=job.call_key)
        if made:
            return made
    if len(jobs.list_of_person(connection, person_id=job.person_id)) >= rules.per_person:
        raise Unfit(
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
    """A job goes on with its next moment. Raises `Unfit` where none is left."""
    _refuse_damaged(job)
    waits = first_slot(load_timing(job.timing), find_zone(job.zone), now)
    if waits is None:
        raise Unfit("its moment is past; change when it is to run")
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

    Raises `UnderWay` while its newest run has not ended, unless that is the one asked for.
    """
    slot = (f"{ASKED}{key}", now)
    for newest in job_runs.list_of_job(connection, job_id=job.id, limit=1):
        if newest.ended_at is None and newest.slot != slot[0]:
            raise UnderWay(f"job {job.id} is under way already")
    return job_runs.claim(connection, job_id=job.id, slot=slot, due_at=now)


def find_own(
    connection: Connection, *, job_id: JobId, may_see: Callable[[Job], bool]
) -> Job | None:
    """A job that is not done with, if whoever asks may see it."""
    job = jobs.find(connection, job_id=job_id)
    if job is None or job.state not in ("active", "paused") or not may_see(job):
        return None
    return job


def waited_of(job: NewJob) -> Slot | None:
    """The slot that a job waits for."""
    return Slot(name=job.next_slot[0], at=job.next_slot[1]) if job.next_slot else None


def _await(timing: Timing, zone: str, kind: JobKind, rules: JobRules, now: int) -> tuple[str, int]:
    try:
        place = find_zone(zone)
    except ValueError as error:
        raise Unfit(str(error)) from error
    first = first_slot(timing, place, now)
    if first is None:
        raise Unfit("that moment is past")
    least = rules.least_minutes * 60_000
    if kind != "message" and _least_gap(timing, zone, first) < least:
        raise Unfit(
            f"it would run more often than every {rules.least_minutes} minutes, which is the most"
            " here; choose longer pauses"
        )
    return first.name, first.at


def _check(options: Options, kind: JobKind, rules: JobRules, *, in_room: bool) -> None:
    """Raises `Unfit` where a job can't be run like this."""
    fault = find_fault(options, rules.means, in_room=in_room)
    if fault:
        raise Unfit(fault)
    thinks = options.model or options.tools or options.skills or options.day_micro_dollars
    if kind != "prompt" and (thinks or options.is_aware):
        raise Unfit(
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
        raise Unfit("it is damaged in my database; drop it and ask for it again")


def _title(text: str) -> str:
    title = " ".join(text.split())
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


def _body(text: str) -> str:
    body = text.strip()
    if not body:
        raise Unfit("say what is to be done")
    if len(body) > LONGEST_BODY:
        raise Unfit(f"what is to be done takes at most {LONGEST_BODY} characters")
    return body
