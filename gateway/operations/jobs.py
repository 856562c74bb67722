"""Operations on jobs: list, show, change and add them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId, PersonId, RoomId
from agent_core.schedule.almanac import read_calendars
from agent_core.schedule.confirmations import describe_followers
from agent_core.schedule.descriptions import describe_next, describe_timing
from agent_core.schedule.job_editor import (
    PAUSED_BY_OPERATOR,
    PAUSED_ON_REQUEST,
    InvalidJob,
    JobAlreadyRunning,
    JobOwner,
    change_job,
    create_job,
    default_options,
    draft_job,
    drop_job,
    next_slot_of,
    pause_job,
    redraft_job,
    renew_webhook,
    restore_job,
    resume_job,
    run_job_now,
)
from agent_core.schedule.requests import read_request
from agent_core.schedule.triggers import load_timing
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, JobState, Target
from agent_core.state.jobs.late import Late
from agent_core.state.people import people, rooms
from gateway.errors import Declined, Mistaken
from gateway.jobs.places import name_places
from gateway.jobs.versions import undo_change
from gateway.operations.contract import (
    Answer,
    Operation,
    OperationContext,
    find_person,
    read_text,
)
from gateway.texts import jobs as jobs_texts
from gateway.texts.job_results import describe_run, describe_runs

if TYPE_CHECKING:
    from agent_core.schedule.rules import Calendar

_RUNS = 100
"""The newest runs to read; many of them may share a line."""
_KINDS = ("prompt", "message", "script")
_HOME = Target(kind="home")
_OPTIONS = (
    *("cron", "every_minutes", "at", "on", "zone", "to", "late", "urgent"),
    *("times", "rule", "skip", "starts", "until", "count", "place"),
    *("model", "tools", "skills", "aware", "day_usd", "pause_after", "gate"),
)
"""The options of a job; the `schedule` tool uses the same names."""


async def list_jobs(context: OperationContext, asked: Answer) -> Answer:
    """List the jobs of everyone, of one person, or of the system. Raises `Declined`."""

    def look(connection: Connection) -> list[dict[str, Any]]:
        if asked.get("system"):
            return [_outline_own(connection, job) for job in jobs.list_system(connection)]
        slug = asked.get("person")
        whom = [find_person(connection, slug)] if slug else people.list_all(connection)
        return [
            outline(connection, job)
            for person in whom
            for job in jobs.list_of_person(connection, person_id=person.id)
        ]

    return {"jobs": await context.database.read(look)}


async def show_job(context: OperationContext, asked: Answer) -> Answer:
    """Show one job with its runs, even if it is over. Raises `Declined`."""
    number = read_number(asked)

    def look(connection: Connection) -> dict[str, Any]:
        job = find_any(connection, number)
        runs = job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS)
        return outline(connection, job) | {
            "does": jobs_texts.show_body(job),
            "runs": describe_runs(runs, job.zone),
        }

    return await context.database.read(look)


async def pause(context: OperationContext, asked: Answer) -> Answer:
    """Pause a job until it is resumed. Raises `Declined`."""
    why = PAUSED_ON_REQUEST if context.actor == "person" else PAUSED_BY_OPERATOR
    return await _change(context, asked, lambda c, job: pause_job(c, job, why))


async def renew_address(context: OperationContext, asked: Answer) -> Answer:
    """Give a job a new web address.

    Raises `Declined`, and `Mistaken` if the job has no web address.
    """
    if not context.scheduling.hooks:
        raise Declined("Web addresses need the HTTP server; set http.port in config.toml.")
    secrets = []

    def work(connection: Connection, job: Job) -> Job:
        secrets.append(renew_webhook(connection, job))
        return job

    done = await _change(context, asked, work)
    return {**done, "address": context.scheduling.hooks + secrets[-1]}


async def resume(context: OperationContext, asked: Answer) -> Answer:
    """Resume a job. Raises `Declined`, and `Mistaken` if its time has passed."""
    now = context.now()
    return await _change(context, asked, lambda c, job: resume_job(c, job, now))


async def drop(context: OperationContext, asked: Answer) -> Answer:
    """Delete a job; `restore` brings it back. Raises `Declined`."""

    def work(connection: Connection, job: Job) -> Job:
        if job.kind == "system":
            raise Declined(f"Job {job.id} is a system job: it can be paused, but not deleted.")
        return drop_job(connection, job)

    return await _change(context, asked, work)


async def restore(context: OperationContext, asked: Answer) -> Answer:
    """Restore a deleted job. Raises `Declined`, and `Mistaken` if its time has passed."""
    rules, now = context.scheduling.rules, context.now()

    def work(connection: Connection, job: Job) -> Job:
        return restore_job(connection, job, rules=rules, now=now)

    return await _change(context, asked, work, ("dropped",))


async def run_now(context: OperationContext, asked: Answer) -> Answer:
    """Run a job now, outside its schedule. Repeats with the same `key` run it only once.

    So does a double press of a button (`is_press`). Raises `Declined`.
    """
    now, is_press = context.now(), asked.get("is_press") is True

    def work(connection: Connection, job: Job) -> Job:
        try:
            key = str(asked.get("key") or f"desk:{now}")
            run_job_now(connection, job, key, now, is_press=is_press)
        except JobAlreadyRunning as error:
            raise Declined(f"Job {job.id} is running already.") from error
        return job

    return await _change(context, asked, work)


async def add(context: OperationContext, asked: Answer) -> Answer:
    """Add a job for a person. Repeats with the same `key` add it only once.

    Only this operation can add a script. Raises `Declined` and `Mistaken`.
    """
    scheduling, now = context.scheduling, context.now()
    arguments = _read_job(asked)
    slug = read_text(asked, "person")
    owner = await context.database.read(find_person, slug)
    calendars = await _read_calendars(context, arguments, owner.id, None)

    def work(connection: Connection) -> dict[str, Any]:
        person = find_person(connection, slug)
        zone = person.time_zone or scheduling.zone
        known = default_options(arguments["kind"], scheduling.rules)
        wish = read_request(
            arguments, here=_HOME, zone=zone, known=known, now=now, calendars=calendars
        )
        whose = JobOwner(
            person_id=person.id, room_id=None, actor=context.actor, call_key=asked.get("key")
        )
        new = draft_job(wish, whose, zone=zone, rules=scheduling.rules, now=now)
        made = create_job(connection, new, rules=scheduling.rules, now=now)
        return outline(connection, made)

    try:
        made = await context.database.write("jobs.add", work)
    except (InvalidJob, ToolArgumentError, ValueError) as error:
        raise Mistaken(str(error)) from error
    scheduling.wake()
    return made


async def change(context: OperationContext, asked: Answer) -> Answer:
    """Change a job. Raises `Declined`, `Mistaken`."""
    scheduling, now = context.scheduling, context.now()
    number = read_number(asked)
    named = await context.database.read(find_any, number)
    calendars = await _read_calendars(context, asked, named.person_id, named.room_id)

    def work(connection: Connection, job: Job) -> Job:
        if job.kind == "system":
            raise Declined(f"Job {job.id} is a system job: it can be paused, but not changed.")
        arguments = _read_changes(asked, job)
        zone, known = job.zone, job.options
        wish = read_request(
            arguments, here=_HOME, zone=zone, known=known, now=now, calendars=calendars
        )
        changed = redraft_job(job, wish, rules=scheduling.rules, now=now)
        if changed == job:
            raise Mistaken("Say what to change; see `talaria jobs change --help`.")
        return change_job(connection, changed, now)

    return await _change(context, asked, work)


async def undo(context: OperationContext, asked: Answer) -> Answer:
    """Undo the last change of a job, or return to a `version`. Raises `Declined` and `Mistaken`."""
    rules, now, version = context.scheduling.rules, context.now(), asked.get("version")

    def work(connection: Connection, job: Job) -> Job:
        is_operator = context.actor == "house"
        return undo_change(
            connection, job, rules=rules, now=now, version=version, may_set_script=is_operator
        )

    return await _change(context, asked, work)


OPERATIONS: Mapping[str, Operation] = {
    "jobs.list": list_jobs,
    "jobs.show": show_job,
    "jobs.pause": pause,
    "jobs.resume": resume,
    "jobs.drop": drop,
    "jobs.restore": restore,
    "jobs.run": run_now,
    "jobs.add": add,
    "jobs.change": change,
    "jobs.undo": undo,
    "jobs.webhook": renew_address,
}


async def _change(
    context: OperationContext,
    asked: Answer,
    work: Callable[[Connection, Job], Job],
    states: Sequence[JobState] = ("active", "paused"),
) -> Answer:
    number = read_number(asked)

    def change(connection: Connection) -> dict[str, Any]:
        job = find_any(connection, number)
        if job.state not in states:
            can = "restored" if "dropped" in states else "changed"
            raise Declined(f"Job {job.id} is {job.state} and can't be {can}.")
        changed = work(connection, job)
        is_waited_for = changed.state in ("paused", "dropped")
        note = describe_followers(connection, changed).strip() if is_waited_for else ""
        return outline(connection, changed) | {"note": note}

    try:
        done = await context.database.write("jobs.change", change)
    except (InvalidJob, ToolArgumentError, ValueError) as error:
        raise Mistaken(str(error)) from error
    context.scheduling.wake()
    return done


async def _read_calendars(
    context: OperationContext,
    arguments: Mapping[str, object],
    person_id: PersonId | None,
    room_id: RoomId | None,
) -> "Mapping[str, Calendar]":
    """Read the calendars of days off that a job names. Raises `Mistaken`."""
    if person_id is None:
        return {}
    reader = context.calendars
    try:
        return await read_calendars(arguments, reader, (person_id, room_id), None)
    except ToolArgumentError as error:
        raise Mistaken(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error


def _read_job(asked: Answer) -> dict[str, object]:
    """Return the tool arguments of a new job. Raises `Declined`, `Mistaken`."""
    kind = asked.get("kind")
    if kind not in _KINDS:
        raise Mistaken("Give a prompt, a message or a script.")
    body, title = _read_body(asked, kind)
    return {
        **_read_options(asked),
        "kind": kind,
        "text": body,
        "title": asked.get("title") or title,
    }


def _read_changes(asked: Answer, job: Job) -> dict[str, object]:
    """Return the tool arguments for a change of a job. Raises `Declined` and `Mistaken`."""
    arguments = _read_options(asked)
    if asked.get("title"):
        arguments["title"] = asked["title"]
    kind = asked.get("kind")
    if kind is None:
        return arguments
    if kind != job.kind:
        raise Mistaken(
            f"The kind of job {job.id} is {job.kind} and can't change. Add a {kind} job instead."
        )
    body, _ = _read_body(asked, job.kind)
    return {**arguments, "text": body}


def _read_body(asked: Answer, kind: str) -> tuple[str, str]:
    """Return the stored body of a job, and its default title. Raises `Declined` and `Mistaken`."""
    if kind == "script":
        words = asked.get("words")
        is_line = isinstance(words, list) and all(isinstance(word, str) for word in words)
        if not words or not is_line or not words[0].strip():
            raise Mistaken("Put the command and its arguments after --script.")
        return json.dumps(words, ensure_ascii=False), " ".join(words)
    text = read_text(asked, "text")
    return text, text


def _read_options(asked: Answer) -> dict[str, object]:
    """Return the options that the request gives. Raises `Mistaken`."""
    late = asked.get("late")
    if late is not None and late not in get_args(Late):
        raise Mistaken(f"The rule for missed times is one of {', '.join(get_args(Late))}.")
    return {name: asked[name] for name in _OPTIONS if asked.get(name) is not None}


def outline(connection: Connection, job: Job) -> dict[str, Any]:
    """Describe a job for the answers of operations."""
    person = people.find(connection, person_id=job.person_id) if job.person_id else None
    room = rooms.find_by_id(connection, room_id=job.room_id) if job.room_id else None
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    places = name_places(connection, person.id, job.targets, None) if person else []
    return {
        "id": job.id,
        "person": person.slug if person else None,
        "room": room.shown_name if room else None,
        "kind": job.kind,
        "title": job.title,
        "meaning": describe_timing(timing, zone),
        "coming": describe_next(timing, zone, next_slot_of(job), zone),
        "next_at": job.next_slot[1] if job.next_slot else None,
        "zone": job.zone,
        "ways": [*jobs_texts.describe_targets(places), *jobs_texts.describe_ways(job)],
        "state": job.state,
        "reason": job.reason,
    }


def _outline_own(connection: Connection, job: Job) -> dict[str, Any]:
    """Describe a system job, with the report of its latest run."""
    runs = job_runs.list_of_job(connection, job_id=job.id, limit=1)
    last = describe_run(runs[0], job.zone) if runs else "not run yet"
    return outline(connection, job) | {"last": last}


def find_any(connection: Connection, number: JobId) -> Job:
    """Return a job, whoever owns it. Raises `Declined`."""
    job = jobs.find(connection, job_id=number)
    if job is None:
        raise Declined(f"There is no job {number}; `talaria jobs` lists all jobs.")
    return job


def read_number(asked: Answer) -> JobId:
    """Return the number of a job from a request. Raises `Mistaken`."""
    number = asked.get("id")
    if not isinstance(number, int) or not 0 < number < 1 << 63:
        raise Mistaken("Give the number of a job; `talaria jobs` lists all jobs.")
    return JobId(number)
