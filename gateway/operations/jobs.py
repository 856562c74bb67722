"""Operations on jobs: list, show, change and add them."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId, PersonId, RoomId
from agent_core.schedule.almanac import read_calendars
from agent_core.schedule.confirmations import describe_followers, move_jobs
from agent_core.schedule.descriptions import describe_next, describe_timing
from agent_core.schedule.job_editor import (
    PAUSED_BY_OPERATOR,
    PAUSED_ON_REQUEST,
    InvalidJob,
    JobAlreadyRunning,
    JobOwner,
    JobRequest,
    JobRules,
    change_job,
    create_job,
    default_options,
    draft_job,
    drop_job,
    name_change_undo,
    next_slot_of,
    pause_job,
    put_back_version,
    redraft_job,
    renew_webhook,
    restore_job,
    resume_job,
    run_job_now,
    undo_change,
)
from agent_core.schedule.job_fields import JobFields
from agent_core.schedule.occurrences import walk_slots
from agent_core.schedule.quiet_times import COMES_LATER, comes_in_quiet, find_held_slot
from agent_core.schedule.receipts import (
    confirm_changed,
    confirm_created,
    confirm_verb,
    say_timing,
)
from agent_core.schedule.requests import TIMINGS, read_request
from agent_core.schedule.said_times import fill_in, list_dates
from agent_core.schedule.triggers import NeverOccurs, Timing, load_timing
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, JobKind, JobState, NewJob, Options, Target
from agent_core.state.people import delivery_targets, people, rooms
from agent_core.tools.clock import ReaderClock
from gateway.errors import Declined, Mistaken
from gateway.jobs.destinations import PlaceNames
from gateway.operations.contract import Operation, OperationContext, find_person, note_deed
from gateway.operations.job_types import (
    ActOnJob,
    AddJob,
    ChangedJob,
    ChangeJob,
    JobOutline,
    JobVerb,
    ListedJobs,
    ListJobs,
    PickJob,
    PlannedJob,
    ShownJob,
)
from gateway.operations.wire import typed
from gateway.texts import jobs as jobs_texts
from gateway.texts.job_results import describe_run, describe_runs, shorten

if TYPE_CHECKING:
    from agent_core.schedule.rules import Calendar

_RUNS = 100
"""The newest runs to read; many of them may share a line."""
_PLANNED = 4
"""Next times that a plan names."""
_LONGEST_WORDS = 60
_HOME = Target(kind="home")
_Result = TypeVar("_Result")
_Outline = TypeVar("_Outline", bound=JobOutline)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDeed:
    """A deed on a job, with the limits, the time and the rest that it needs; see `ActOnJob`."""

    verb: JobVerb
    rules: JobRules
    now: int
    key: str
    is_press: bool = False
    version: int | None = None
    """The former version to restore as a whole."""
    change: int | None = None
    """The change to undo; None for the last one."""
    is_operator: bool = False
    """Done on the command line, which alone may give a command back."""


def act(connection: Connection, job: Job, deed: JobDeed) -> Job:
    """Do something to a job in the caller's transaction.

    Raises `InvalidJob`, and `JobAlreadyRunning` for a run.
    """
    match deed.verb:
        case "pause":
            why = PAUSED_BY_OPERATOR if deed.is_operator else PAUSED_ON_REQUEST
            return pause_job(connection, job, why)
        case "resume":
            return resume_job(connection, job, deed.now)
        case "run":
            run_job_now(connection, job, deed.key, deed.now, is_press=deed.is_press)
            return job
        case "delete":
            return drop_job(connection, job)
        case "restore":
            return restore_job(connection, job, rules=deed.rules, now=deed.now)
        case "undo":
            rules, now, is_operator = deed.rules, deed.now, deed.is_operator
            if deed.version is not None:
                return put_back_version(
                    connection, job, deed.version, rules=rules, now=now, may_set_script=is_operator
                )
            return undo_change(
                connection,
                job,
                rules=rules,
                now=now,
                change=deed.change,
                may_set_script=is_operator,
            )


_UNDO: Mapping[JobVerb, str] = {
    "pause": "resume {}",
    "resume": "pause {}",
    "delete": "restore {}",
    "restore": "delete {} yes",
}
"""The words behind `/jobs` that take a verb back."""


def name_verb(connection: Connection, job_id: JobId, deed: JobDeed) -> str:
    """Return the command, without slash, for a deed that is about to be done."""
    if deed.verb == "undo" and deed.version is None and deed.change is None:
        return name_change_undo(connection, job_id)
    rest = " yes" if deed.verb == "delete" else ""
    if deed.verb == "undo":
        rest = f" of {deed.change}" if deed.version is None else f" to {deed.version}"
    return f"jobs {deed.verb} {job_id}{rest}"


def name_undo(connection: Connection, job_id: JobId, verb: JobVerb) -> str:
    """Return the command, without slash, that takes a done verb back; "" if none does."""
    if verb == "undo":
        return name_change_undo(connection, job_id)
    return f"jobs {_UNDO[verb].format(job_id)}" if verb in _UNDO else ""


async def list_jobs(context: OperationContext, asked: ListJobs) -> ListedJobs:
    """List the jobs of everyone, of one person, or of the system. Raises `Declined`."""

    def look(connection: Connection) -> list[JobOutline]:
        if asked.system:
            return [
                _outline_own(connection, job, context.now()) for job in jobs.list_system(connection)
            ]
        slug = asked.person
        whom = [find_person(connection, slug)] if slug else people.list_all(connection)
        names = PlaceNames(connection)
        return [
            outline(connection, job, names=names)
            for person in whom
            for job in jobs.list_of_person(connection, person_id=person.id)
        ]

    return ListedJobs(jobs=tuple(await context.database.read(look)))


async def show_job(context: OperationContext, asked: PickJob) -> ShownJob:
    """Show one job with its runs, even if it is over. Raises `Declined`."""

    def look(connection: Connection) -> ShownJob:
        job = find_any(connection, asked.id)
        runs = job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS)
        lines = tuple(describe_runs(runs, ReaderClock(zone=job.zone, now=context.now())))
        return outline(connection, job, ShownJob, does=jobs_texts.show_body(job), runs=lines)

    return await context.database.read(look)


async def do_verb(context: OperationContext, asked: ActOnJob, *, verb: JobVerb) -> ChangedJob:
    """Pause, resume, run, delete or restore a job, or undo its last change.

    Raises `Declined`, and `Mistaken` if the job's time has passed.
    """
    now = context.now()
    deed = JobDeed(
        verb=verb,
        rules=context.scheduling.rules,
        now=now,
        key=asked.key or f"desk:{now}",
        is_press=asked.is_press,
        version=asked.version,
        is_operator=context.actor == "house",
    )

    def work(connection: Connection, job: Job) -> Job:
        if verb == "delete" and job.kind == "system":
            raise Declined(jobs_texts.SYSTEM_NOT_DELETED(number=job.id))
        redo = name_verb(connection, job.id, deed)
        try:
            done = act(connection, job, deed)
        except JobAlreadyRunning as error:
            raise Declined(jobs_texts.RUNS_ALREADY(number=job.id)) from error
        undo = name_undo(connection, job.id, verb)
        if undo and (verb not in ("pause", "resume") or done.state != job.state):
            note_deed(context, connection, undo=undo, redo=redo, did=confirm_verb(job, verb))
        return done

    states: Sequence[JobState] = ("dropped",) if verb == "restore" else ("active", "paused")
    return await _change(context, asked.id, work, states)


def set_options(
    connection: Connection, job: Job, options: Options, *, rules: JobRules, now: int
) -> Job:
    """Give a job other options, such as another model or agent. Raises `InvalidJob`."""
    return change_job(
        connection, redraft_job(job, JobRequest(options=options), rules=rules, now=now), now
    )


def move_zone(
    connection: Connection, person_id: PersonId, zone: str, to: str, now: int
) -> Sequence[Job]:
    """Let a person's jobs of one time zone keep their hours in another; return the moved ones."""
    return move_jobs(connection, person_id=person_id, zone=zone, to=to, now=now)


def make_address(connection: Connection, job: Job, hooks: str) -> str:
    """Give a job a new web address, and return it whole. Raises `InvalidJob`."""
    return hooks + renew_webhook(connection, job)


async def renew_address(context: OperationContext, asked: PickJob) -> ChangedJob:
    """Give a job a new web address.

    Raises `Declined`, and `Mistaken` if the job has no web address.
    """
    if not context.scheduling.hooks:
        raise Declined("Web addresses need the HTTP server; set http.port in config.toml.")
    addresses: list[str] = []

    def work(connection: Connection, job: Job) -> Job:
        addresses.append(make_address(connection, job, context.scheduling.hooks))
        return job

    done = await _change(context, asked.id, work)
    return replace(done, address=addresses[-1])


async def add(context: OperationContext, asked: AddJob) -> JobOutline:
    """Add a job for a person. Repeats with the same `key` add it only once.

    Only this operation can add a script. Raises `Declined` and `Mistaken`.
    """
    rules, now = context.scheduling.rules, context.now()
    draft = await _prepare(context, asked)

    def work(connection: Connection) -> JobOutline:
        person_id = find_person(connection, asked.person).id
        key = asked.key or ""
        is_known = jobs.find_call(connection, person_id=person_id, call_key=key) is not None
        job = create_job(connection, draft(connection), rules=rules, now=now)
        if not is_known:
            receipt = confirm_created(job, ReaderClock(zone=job.zone, now=now))
            undo, redo = receipt.undo, f"jobs restore {job.id}"
            note_deed(context, connection, undo=undo, redo=redo, did=receipt.text)
        return outline(connection, job)

    made = await _refuse_invalid(context.database.write("jobs.add", work))
    context.scheduling.wake()
    return made


async def plan(
    context: OperationContext, asked: AddJob, *, clock: ReaderClock | None = None
) -> PlannedJob:
    """Say what a new job would be and when it would run, and add nothing.

    With a `clock`, its schedule is as people say it. Raises `Declined` and `Mistaken`.
    """
    draft = await _prepare(context, asked)
    now, scheduling = context.now(), context.scheduling

    def look(connection: Connection) -> tuple[NewJob, str]:
        new = draft(connection)
        own = ReaderClock(zone=scheduling.zone_of(find_person(connection, asked.person)), now=now)
        return new, describe_quiet(connection, new, own)

    new, quiet = await _refuse_invalid(context.database.read(look))
    timing, zone = load_timing(new.timing), find_zone(new.zone)
    first = next_slot_of(new)
    slots = islice(walk_slots(timing, zone, first), _PLANNED) if first else ()
    return PlannedJob(
        meaning=say_timing(new, clock) if clock else describe_timing(timing, zone),
        times=tuple(slot.at for slot in slots),
        zone=new.zone,
        quiet=quiet,
    )


async def _prepare(context: OperationContext, asked: AddJob) -> Callable[[Connection], NewJob]:
    """Return a function that drafts a job in a transaction. Raises `Declined`, `Mistaken`."""
    scheduling, now = context.scheduling, context.now()
    if asked.kind is None:
        raise Mistaken(jobs_texts.NO_KIND())
    body, title = _read_body(asked, asked.kind)
    given = replace(asked, text=body, title=asked.title or title)
    owner = await context.database.read(find_person, asked.person)
    calendars = await _read_calendars(context, asked.skip, owner.id, None)

    def draft(connection: Connection) -> NewJob:
        person = find_person(connection, asked.person)
        zone = scheduling.zone_of(person)
        known = default_options(asked.kind, scheduling.rules)
        timed = _read_when(given, given.zone or zone, now) if asked.when else given
        wish = read_request(timed, here=_HOME, zone=zone, known=known, now=now, calendars=calendars)
        whose = JobOwner(person_id=person.id, room_id=None, actor=context.actor, call_key=asked.key)
        new = draft_job(wish, whose, zone=zone, rules=scheduling.rules, now=now)
        return replace(new, is_urgent=_is_urgent(given, new))

    return draft


def _is_urgent(given: AddJob | ChangeJob, job: NewJob) -> bool:
    """Return whether a job also sends messages in quiet times: the rule of the chats."""
    return comes_in_quiet(given.urgent, job, given.when or "", job.zone)


def describe_quiet(connection: Connection, job: NewJob, clock: ReaderClock) -> str:
    """Say what becomes of a job's message in a quiet time of its person; "" if none is near.

    The clock is the person's.
    """
    person = people.find(connection, person_id=job.person_id) if job.person_id else None
    if person is None:
        return ""
    days_off = delivery_targets.find(connection, person_id=person.id).days_off
    held = find_held_slot(job, person, days_off, clock)
    if held is None:
        return ""
    if job.is_urgent:
        return f"{held.sentence} {jobs_texts.COMES_ANYWAY()}"
    waits = COMES_LATER if held.place else jobs_texts.HELD
    return f"{held.sentence} {waits(moment=held.until)}"


def _read_when(
    given: AddJob | ChangeJob, zone: str, now: int, old: Timing | None = None
) -> JobFields:
    """Return the fields with the time that the words mean. Raises `Mistaken`."""
    words = given.when or ""
    if other := next((name for name in TIMINGS if getattr(given, name) is not None), None):
        raise Mistaken(jobs_texts.TWO_TIMES(name=other))
    try:
        return fill_in(given, words, zone=zone, now=now, old=old)
    except (ToolArgumentError, ValueError) as error:
        if isinstance(error.__cause__, NeverOccurs):
            raise Mistaken(str(error)) from error
        shown = shorten(words, _LONGEST_WORDS)
        if dates := list_dates(words, zone=zone, now=now, old=old):
            raise Mistaken(jobs_texts.tell_dates(shown, dates)) from error
        raise Mistaken(jobs_texts.WHEN_UNREAD(words=shown)) from error


async def _refuse_invalid(work: Awaitable[_Result]) -> _Result:
    """Await a draft or a change. Raises `Mistaken` if the job can't be like that."""
    try:
        return await work
    except (InvalidJob, ToolArgumentError, ValueError) as error:
        raise Mistaken(jobs_texts.describe_invalid(error)) from error


async def change(context: OperationContext, asked: ChangeJob) -> ChangedJob:
    """Change a job. Raises `Declined`, `Mistaken`."""
    scheduling, now = context.scheduling, context.now()
    named = await context.database.read(find_any, asked.id)
    calendars = await _read_calendars(context, asked.skip, named.person_id, named.room_id)

    def work(connection: Connection, job: Job) -> Job:
        if job.kind == "system":
            raise Declined(jobs_texts.SYSTEM_NOT_CHANGED(number=job.id))
        given: JobFields = _read_change(asked, job)
        if asked.when:
            timing = load_timing(job.timing)
            given = _read_when(_read_change(asked, job), asked.zone or job.zone, now, timing)
        zone, known = job.zone, job.options
        wish = read_request(given, here=_HOME, zone=zone, known=known, now=now, calendars=calendars)
        changed = redraft_job(job, wish, rules=scheduling.rules, now=now)
        if asked.when:
            changed = replace(changed, is_urgent=_is_urgent(asked, changed))
        if changed == job:
            raise Mistaken(jobs_texts.NAME_CHANGE())
        done = change_job(connection, changed, now)
        clock, undo = ReaderClock(zone=done.zone, now=now), name_change_undo(connection, done.id)
        receipt = confirm_changed(done, clock, undo)
        note_deed(context, connection, undo=receipt.undo, redo=receipt.undo, did=receipt.text)
        return done

    return await _change(context, asked.id, work)


OPERATIONS: Mapping[str, Operation] = {
    "jobs.list": typed(list_jobs),
    "jobs.show": typed(show_job),
    "jobs.add": typed(add),
    "jobs.plan": typed(plan),
    "jobs.change": typed(change),
    "jobs.webhook": typed(renew_address),
    "jobs.pause": typed(partial(do_verb, verb="pause")),
    "jobs.resume": typed(partial(do_verb, verb="resume")),
    "jobs.run": typed(partial(do_verb, verb="run")),
    "jobs.delete": typed(partial(do_verb, verb="delete")),
    "jobs.restore": typed(partial(do_verb, verb="restore")),
    "jobs.undo": typed(partial(do_verb, verb="undo")),
}


async def _change(
    context: OperationContext,
    number: JobId,
    work: Callable[[Connection, Job], Job],
    states: Sequence[JobState] = ("active", "paused"),
) -> ChangedJob:
    def change(connection: Connection) -> ChangedJob:
        job = find_any(connection, number)
        if job.state not in states:
            why = jobs_texts.NOT_RESTORED if "dropped" in states else jobs_texts.NOT_CHANGED
            raise Declined(why[job.state](number=job.id))
        changed = work(connection, job)
        is_waited_for = changed.state in ("paused", "dropped")
        note = describe_followers(connection, changed).strip() if is_waited_for else ""
        return outline(connection, changed, ChangedJob, note=note)

    done = await _refuse_invalid(context.database.write("jobs.change", change))
    context.scheduling.wake()
    return done


async def _read_calendars(
    context: OperationContext,
    skipped: Sequence[str] | None,
    person_id: PersonId | None,
    room_id: RoomId | None,
) -> "Mapping[str, Calendar]":
    """Read the calendars of days off that a job names. Raises `Mistaken`."""
    if person_id is None:
        return {}
    try:
        return await read_calendars(skipped, context.calendars, (person_id, room_id), None)
    except ToolArgumentError as error:
        raise Mistaken(jobs_texts.describe_invalid(error)) from error


def _read_change(asked: ChangeJob, job: Job) -> ChangeJob:
    """Return the fields that a change sets. Raises `Declined` and `Mistaken`."""
    if asked.kind is None and asked.text is None and asked.words is None:
        return asked
    if asked.kind not in (None, job.kind):
        raise Mistaken(jobs_texts.KIND_STAYS(number=job.id))
    return replace(asked, text=_read_body(asked, job.kind)[0])


def _read_body(asked: AddJob | ChangeJob, kind: JobKind) -> tuple[str, str]:
    """Return the stored body of a job, and its default title. Raises `Declined` and `Mistaken`."""
    if kind == "script":
        if not asked.words or not asked.words[0].strip():
            raise Mistaken(jobs_texts.NO_COMMAND())
        return json.dumps(asked.words, ensure_ascii=False), " ".join(asked.words)
    if not (asked.text or "").strip():
        raise Declined(jobs_texts.NO_TEXT())
    return asked.text or "", asked.text or ""


def outline(
    connection: Connection,
    job: Job,
    into: type[_Outline] = JobOutline,  # type: ignore[assignment]  # the default of the variable
    clock: ReaderClock | None = None,
    names: PlaceNames | None = None,
    **more: Any,
) -> _Outline:
    """Describe a job for the answers of operations; `more` are the other fields of the answer.

    With a `clock`, its schedule is as people say it. The jobs of a list share `names`.
    """
    person = people.find(connection, person_id=job.person_id) if job.person_id else None
    room = rooms.find_by_id(connection, room_id=job.room_id) if job.room_id else None
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    names = names or PlaceNames(connection)
    places = names.list_names(person.id, job.targets, None) if person else []
    return into(
        id=job.id,
        person=person.slug if person else None,
        room=room.shown_name if room else None,
        kind=job.kind,
        title=job.title,
        meaning=say_timing(job, clock) if clock else describe_timing(timing, zone),
        coming=describe_next(timing, zone, next_slot_of(job), zone),
        next_at=job.next_slot[1] if job.next_slot else None,
        zone=job.zone,
        ways=(*jobs_texts.describe_targets(places), *jobs_texts.describe_ways(job)),
        state=job.state,
        reason=job.reason,
        **more,
    )


def _outline_own(connection: Connection, job: Job, now: int) -> JobOutline:
    """Describe a system job, with the report of its latest run."""
    runs = job_runs.list_of_job(connection, job_id=job.id, limit=1)
    clock = ReaderClock(zone=job.zone, now=now)
    last = describe_run(runs[0], clock) if runs else "not run yet"
    return outline(connection, job, last=last)


def find_any(connection: Connection, number: JobId) -> Job:
    """Return a job, whoever owns it. Raises `Declined`."""
    job = jobs.find(connection, job_id=number) if 0 < number < 1 << 63 else None
    if job is None:
        raise Declined(jobs_texts.NO_JOB(number=number))
    return job
