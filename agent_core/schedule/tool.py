"""The `schedule` tool: a model makes, shows, changes and drops jobs of the person who asks."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId, PersonId
from agent_core.schedule import job_editor
from agent_core.schedule.descriptions import (
    describe_late,
    describe_next,
    describe_timing,
    list_ways,
)
from agent_core.schedule.job_editor import JobOwner, JobRequest, JobRules
from agent_core.schedule.occurrences import find_zone
from agent_core.schedule.requests import SPEC, read_request
from agent_core.schedule.triggers import Once, load_timing
from agent_core.state.conversations import turns
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, NewJob, Options, Target
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.tools.untrusted_text import quote
from agent_core.tools.user_questions import UserPrompt, UserPrompter, describe_no_answer
from agent_core.transcript import ToolSpec

_YES, _NO = "yes", "no"
_CHOICES = (
    Choice(key=_YES, label="Yes, do that", style="good"),
    Choice(key=_NO, label="No", style="plain"),
)
_SHOWN_BODY = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """Who asks, in which turn, and where: `room` is None in a direct talk."""

    person: Person
    zone: str
    room: Room | None
    here: Target
    context: ToolContext
    is_job: bool

    def may_see(self, job: Job) -> bool:
        """In a room its own jobs, else the person's."""
        if self.room:
            return job.room_id == self.room.id
        return job.person_id == self.person.id

    def may_change(self, job: Job) -> bool:
        """Whoever made it, and owners."""
        return job.person_id == self.person.id or self.person.is_owner


NamePlaces = Callable[[Connection, PersonId, Sequence[Target], Target], list[str]]
"""Names the targets of a person's job; the last argument is the chat of the current turn."""


class ScheduleTool:
    """The `schedule` tool. What repeats is shown to the person, and counts once they say yes."""

    spec: ToolSpec = SPEC
    effect: Effect = "idempotent"
    is_cheap = True
    patience = 660.0

    def __init__(
        self,
        database: Database,
        prompter: UserPrompter,
        *,
        zone: str,
        rules: JobRules,
        changed: Callable[[], None],
        name_places: NamePlaces,
    ) -> None:
        """`zone` is for people who have set none. `changed` is called after a write, because a
        job may be due earlier.
        """
        self._database = database
        self._prompter = prompter
        self._zone = zone
        self._rules = rules
        self._changed = changed
        self._name_places = name_places

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Do one action. Raises `ToolArgumentError`, `Unfit`, `StoreError` and `QuestionPending`."""
        asker = await self._database.read(lambda c: self._look(c, context))
        action = arguments.get("action")
        if action == "list":
            return ToolResult(text=await self._list(asker))
        if asker.is_job and action not in ("pause", "delete"):
            raise ToolArgumentError("a job that runs can make, change and start no jobs")
        if action == "create":
            return await self._create(asker, arguments)
        number = _read_number(arguments.get("job"))
        if action == "change":
            job = await self._database.read(lambda c: _find(c, asker, number))
            return await self._change(asker, job, arguments)
        done = await self._database.write(
            "jobs.change", lambda c: _act(c, _find(c, asker, number), action, context)
        )
        self._changed()
        return ToolResult(text=done)

    def _look(self, connection: Connection, context: ToolContext) -> _Asker:
        person = people.find(connection, person_id=context.person_id)
        turn = turns.find(connection, turn_id=context.turn_id)
        if person is None or turn is None:
            raise ToolArgumentError("there is nobody here who could have jobs")
        memory_owner, room = context.memory_owner, None
        if memory_owner and memory_owner.kind == "room":
            room = rooms.find_by_person(connection, person_id=memory_owner.person_id)
        return _Asker(
            person=person,
            zone=person.time_zone or self._zone,
            room=room,
            here=Target(kind="place", platform=turn.platform, chat=turn.chat),
            context=context,
            is_job=job_runs.find_of_turn(connection, turn_id=turn.id) is not None,
        )

    async def _list(self, asker: _Asker) -> str:
        def look(connection: Connection) -> list[Job]:
            if asker.room:
                return jobs.list_of_room(connection, room_id=asker.room.id)
            return jobs.list_of_person(connection, person_id=asker.person.id)

        found = await self._database.read(look)
        return "\n".join(_describe(job, asker.zone) for job in found) or "There are no jobs."

    async def _create(self, asker: _Asker, arguments: Mapping[str, object]) -> ToolResult:
        if asker.room and not asker.person.is_owner:
            raise ToolArgumentError(
                "jobs of a room are made by owners; anybody can have jobs of their own in a"
                " direct talk"
            )
        request = self._read(asker, arguments, None)
        context = asker.context
        whose = JobOwner(
            person_id=asker.person.id,
            room_id=asker.room.id if asker.room else None,
            actor=f"turn:{context.turn_id}",
            call_key=f"{context.turn_id}:{context.call_id}",
        )
        if request.targets is None:
            request = replace(request, targets=(asker.here,))
        job = job_editor.draft(request, whose, zone=asker.zone, rules=self._rules, now=context.now)
        refusal = await self._confirm(asker, job)
        if refusal:
            return ToolResult(text=f"No job was made. {refusal}")
        made = await self._database.write(
            "jobs.make", lambda c: job_editor.make(c, job, rules=self._rules, now=context.now)
        )
        self._changed()
        return ToolResult(text=f"Made. {_describe(made, asker.zone)}")

    async def _change(self, asker: _Asker, job: Job, arguments: Mapping[str, object]) -> ToolResult:
        request = self._read(asker, arguments, job)
        if request.body and job.kind == "script":  # whoever writes in chat may not run commands
            raise ToolArgumentError(
                f"what job {job.id} runs is changed by `talaria jobs change` on the machine only"
            )
        changed = job_editor.redraft(job, request, rules=self._rules, now=asker.context.now)
        if changed == job:
            raise ToolArgumentError("say what is to be otherwise")
        refusal = await self._confirm(asker, changed)
        if refusal:
            return ToolResult(text=f"Nothing was changed. {refusal}")

        def work(connection: Connection) -> Job:
            found = job_editor.find_own(connection, job_id=job.id, may_see=asker.may_see)
            if found is None:  # they were asked for minutes
                raise ToolArgumentError(f"job {job.id} is done or gone by now")
            now_so = job_editor.redraft(found, request, rules=self._rules, now=asker.context.now)
            jobs.change(connection, now_so)
            return now_so

        made = await self._database.write("jobs.change", work)
        self._changed()
        return ToolResult(text=f"Changed. {_describe(made, asker.zone)}")

    def _read(self, asker: _Asker, arguments: Mapping[str, object], job: Job | None) -> JobRequest:
        """What a call asks for; times are those of the job's zone, if there is one already."""
        return read_request(
            arguments,
            here=asker.here,
            zone=job.zone if job else asker.zone,
            known=job.options if job else Options(),
            now=asker.context.now,
        )

    async def _confirm(self, asker: _Asker, job: NewJob) -> str:
        """Why a job must not be, or "": what happens once for the one who asks needs no asking."""
        is_own = job.targets == (asker.here,) and asker.room is None
        if isinstance(load_timing(job.timing), Once) and job.kind == "message" and is_own:
            return ""
        assert job.person_id is not None  # noqa: S101 - nobody is asked about the house's own
        owner, targets = job.person_id, job.targets
        places = await self._database.read(
            lambda c: self._name_places(c, owner, targets, asker.here)
        )
        answer = await self._prompter.ask(
            UserPrompt(
                person_id=asker.person.id,
                turn_id=asker.context.turn_id,
                call_id=asker.context.call_id,
                kind="choice",
                text=_echo(job, asker.zone, places),
                choices=_CHOICES,
            )
        )
        if isinstance(answer, Choice):
            return "" if answer.key == _YES else "The person said no."
        return describe_no_answer(answer)


def _read_number(number: object) -> JobId:
    if not isinstance(number, int) or not 0 < number < sys.maxsize:
        raise ToolArgumentError("`job` is the number of the job that is meant; see list")
    return JobId(number)


def _find(connection: Connection, asker: _Asker, number: JobId) -> Job:
    """A job that whoever asks may change, as it stands in this transaction."""
    job = job_editor.find_own(connection, job_id=number, may_see=asker.may_see)
    if job is None:
        raise ToolArgumentError(f"there is no job {number} here; see list")
    if not asker.may_change(job):
        raise ToolArgumentError("somebody else made that job: they and owners may change it")
    return job


def _act(connection: Connection, job: Job, action: object, context: ToolContext) -> str:
    match action:
        case "pause":
            job_editor.pause(connection, job, "as asked")
            return f"Job {job.id} is paused."
        case "resume":
            resumed = job_editor.resume(connection, job, context.now)
            return f"Goes on. {_describe(resumed, resumed.zone)}"
        case "run_now":
            job_editor.run_now(connection, job, f"{context.turn_id}:{context.call_id}", context.now)
            return f"Job {job.id} is run once now; what it makes goes where it always goes."
        case "delete":
            job_editor.drop(connection, job)
            return f"Job {job.id} is gone."
        case other:
            raise ToolArgumentError(f"`action` can't be {other!r}")


def _echo(job: NewJob, reader: str, places: Sequence[str]) -> str:
    """What a job will do, as the person who may say yes reads it."""
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    waits = job_editor.next_slot_of(job)
    shown = describe_next(timing, zone, waits, find_zone(reader))
    where = "" if job.zone == reader else f" ({job.zone})"
    what = "send this" if job.kind == "message" else "do this"
    late = [describe_late(job)] if job.late != "catch_up" else []
    lines = [f"Next: {shown}", f"Goes to: {'; '.join(places)}", *late, *list_ways(job)]
    told = "\n".join(lines)
    return f"{describe_timing(timing)}{where}, shall I {what}?\n\n{job.body}\n\n{told}"


def _describe(job: Job, reader: str) -> str:
    """A job as the model reads it."""
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    shown = describe_next(timing, zone, job_editor.next_slot_of(job), find_zone(reader))
    state = f" [paused: {job.reason}]" if job.state == "paused" else ""
    ways = "".join(f" {way}." for way in list_ways(job))
    return (
        f"{job.id}. {quote(job.title, _SHOWN_BODY)} ({job.kind}){state}: {describe_timing(timing)}."
        f" Next: {shown}.{ways} Text: {quote(job.body, _SHOWN_BODY)}"
    )
