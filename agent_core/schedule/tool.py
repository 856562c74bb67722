"""The tools for jobs: the model creates, lists, changes and deletes jobs of a person."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeVar

from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId, PersonId
from agent_core.localization import Text
from agent_core.schedule import job_editor, meant_job
from agent_core.schedule.almanac import CalendarReader, read_calendars
from agent_core.schedule.confirmations import (
    NO,
    YES,
    Confirmation,
    ask_date,
    ask_person,
    compose_confirmation,
    describe_followers,
    echo_job,
    name_deletion,
    name_job,
)
from agent_core.schedule.descriptions import describe_next, describe_timing, is_plain, list_ways
from agent_core.schedule.job_editor import InvalidJob, JobOwner, JobRequest, JobRules
from agent_core.schedule.job_fields import JobFields, read_fields
from agent_core.schedule.meant_job import NamedJobs
from agent_core.schedule.occurrences import are_alike, count_often, is_interval
from agent_core.schedule.quiet_times import HeldSlot, comes_in_quiet, find_held_slot
from agent_core.schedule.receipts import confirm_act, confirm_changed, confirm_created
from agent_core.schedule.requests import check_feed, read_request
from agent_core.schedule.rules import Calendar
from agent_core.schedule.said_moments import list_repeats, list_times, names_slot
from agent_core.schedule.said_times import fill_in, list_dates
from agent_core.schedule.specs import MANAGE_JOBS, REMIND, read_others
from agent_core.schedule.triggers import Once, load_timing
from agent_core.schedule.unused_fields import leave_out, note_left_out
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, NewJob, Options, Target
from agent_core.state.people import delivery_targets, people, rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.state.queues import inbox
from agent_core.tools.clock import ReaderClock
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.own_words.contract import Essentials, WishKind
from agent_core.tools.user_questions import UserPrompter, describe_no_answer
from agent_core.transcript import ToolSpec, quote

_SHOWN_BODY = 300
_BEFORE = 4
"""Messages before the turn to which "that one" may refer."""
_SOON = 1000
"""Milliseconds until a reminder whose span has passed while the model answered."""
_SAID = {
    "kind",
    "title",
    "text",
    "at",
    "in_minutes",
    "times",
    "rule",
    "cron",
    "every_minutes",
    "starts",
    "until",
    "count",
    "skip",
    "zone",
    "urgent",
    "to",
}
"""The fields that a text and a time consist of."""
_KINDS: Mapping[str, WishKind] = {
    "delete": "cancel",
    "pause": "pause",
    "resume": "resume",
    "run_now": "run",
    "change": "move",
}
_ACTS = {
    "delete": Text("Delete: {title}"),
    "pause": Text("Pause: {title}"),
    "resume": Text("Resume: {title}"),
    "run_now": Text("Run now: {title}"),
}
_AnyJob = TypeVar("_AnyJob", bound=NewJob)

_CHOSE_NO_DATE = "The person chose none of the dates."
_SHOWN_NAME = 60
_MOST_IN_ROOM = 10
"""Reminders of a member in one group; owners have the limit of a person."""
_ONLY_OWNERS = (
    "in a group, anyone may set reminders with `remind`, but only owners may plan work that calls a"
    " model. Tell the person: an owner can ask for it here, or they can ask you in a direct chat"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """A call of one of the tools, as it was written."""

    action: str
    job: object
    when: str
    given: JobFields


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """The person who asks, and the turn; `room` is None in a direct chat."""

    action: str
    """`create`, or an action of `manage_jobs`."""
    person: Person
    zone: str
    room: Room | None
    here: Target
    context: ToolContext
    is_job: bool
    days_off: tuple[int, ...]
    said_at: int
    """Time of the turn's newest message, in milliseconds: "in 1 minute" counts from there."""
    given: JobFields
    """The fields of the job in the call, without those that mean nothing."""
    number: JobId | None = None
    """The number of the job that the call names."""
    left_out: tuple[str, ...] = ()
    """The names of the fields that were left out."""
    calendars: Mapping[str, Calendar] = field(default_factory=dict)
    """The calendars of the call, by their addresses or file names."""

    @property
    def clock(self) -> ReaderClock:
        """The clock of the person."""
        return ReaderClock(zone=self.zone, now=self.context.now)

    def may_see(self, job: Job) -> bool:
        """True for jobs of the current room, or in a direct chat, for the person's own jobs."""
        if self.room:
            return job.room_id == self.room.id
        return job.person_id == self.person.id

    def may_change(self, job: Job) -> bool:
        """True for the job's creator and for owners."""
        return job.person_id == self.person.id or self.person.is_owner


NamePlaces = Callable[[Connection, PersonId, Sequence[Target], Target], list[str]]
"""Names the targets of a person's job; the last argument is the chat of the current turn."""


class JobTool:
    """Runs one of the tools for jobs. A person confirms what repeats, except plain reminders."""

    effect: Effect = "idempotent"
    declaration = Declaration(
        cost="free", time_limit=660.0, waits_for_person=True, has_receipts=True
    )

    def __init__(
        self,
        spec: ToolSpec,
        database: Database,
        prompter: UserPrompter,
        *,
        zone: str,
        rules: JobRules,
        changed: Callable[[], None],
        name_places: NamePlaces,
        calendars: CalendarReader,
    ) -> None:
        """`zone` is the IANA zone of people who have set none. `changed` is called after a write,
        because a job may be due earlier.
        """
        self.spec = spec
        self._database = database
        self._prompter = prompter
        self._zone = zone
        self._rules = rules
        self._changed = changed
        self._name_places = name_places
        self._calendars = calendars

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run one action. Raises `ToolArgumentError`, `InvalidJob`, `StoreError` and
        `QuestionPending`.
        """
        try:
            return await self._run(arguments, context)
        except InvalidJob as error:
            if not context.is_accepted or error.due_at is None:
                raise
            return ToolResult(text=str(error), is_error=True, due_at=error.due_at)

    async def _run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        wish = _read_wish(self.spec.name, arguments)
        asker = await self._database.read(self._look, context, wish)
        _check_running(asker)
        action = asker.action
        if action == "list":
            return ToolResult(text=await self._list(asker))
        if action == "create":
            when = await self._choose_date(asker, wish.when)
            if when is None:
                return ToolResult(text=f"No job was created. {_CHOSE_NO_DATE}")
            return await self._create(await self._read_details(asker, when))
        number = await self._find_meant(asker, wish.job)
        if isinstance(number, str):
            return ToolResult(text=f"Nothing was changed. {number}")
        if action == "change":
            when = await self._choose_date(asker, wish.when)
            if when is None:
                return ToolResult(text=f"Nothing was changed. {_CHOSE_NO_DATE}")
            asker = await self._read_details(replace(asker, number=number), when)
            job = await self._database.read(_find, asker, number)
            return await self._change(asker, job)

        def work(connection: Connection) -> tuple[Job, str]:
            job = _find(connection, asker, number)
            return job, _act(connection, job, action, context)

        job, done = await self._database.write("jobs.change", work)
        self._changed()
        return ToolResult(text=done, receipts=(confirm_act(job, action),))

    async def _find_meant(self, asker: _Asker, named: object) -> JobId | str:
        """Return the job that the person means, or why nothing is done.

        Asks if the words of the call name no job for sure, or if the person's words don't fit the
        job that it names.
        """
        context = asker.context
        found = await self._database.read(self._find_named, asker, named)
        if not found.is_sure and not asker.is_job and not context.is_accepted:
            return await self._ask(asker, meant_job.ask_near(str(named), found))
        job = await self._database.read(_find, asker, _take_sure(named, found).id)
        if asker.is_job or context.is_accepted:
            return job.id

        def look(connection: Connection) -> tuple[list[Job], str]:
            before = messages.list_texts_before(
                connection, turn_id=context.turn_id, person_id=context.owner_id, limit=_BEFORE
            )
            return self._list_seen(connection, asker), "\n".join(before)

        seen, before = await self._database.read(look)
        is_sure = asker.action in ("change", "resume")  # which people see or confirm
        if meant_job.is_meant(job, seen, context.evidence, before, is_sure=is_sure):
            return job.id
        return await self._ask(asker, meant_job.ask_which(job, seen, context.evidence))

    async def _ask(self, asker: _Asker, question: Confirmation) -> JobId | str:
        """Ask which job is meant; return it, or why nothing is done."""
        answer = await ask_person(self._prompter, asker.context, question)
        if not isinstance(answer, Choice):
            return describe_no_answer(answer)
        return meant_job.read_choice(answer) or "The person meant none of the jobs."

    async def _choose_date(self, asker: _Asker, when: str) -> str | None:
        """Return the words for a time with the date that the person chooses, if there are two.

        Returns None if they choose none.
        """
        dates = list_dates(when, zone=asker.zone, now=asker.context.now)
        if not dates or asker.is_job or asker.context.is_accepted:
            return when
        question = ask_date(when, [said for _, said in dates])
        answer = await ask_person(self._prompter, asker.context, question)
        is_chosen = isinstance(answer, Choice) and answer.key != NO
        return dates[int(answer.key)][0] if isinstance(answer, Choice) and is_chosen else None

    async def preview(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> str | ToolResult:
        """Describe the job that a call makes, changes, pauses, starts or deletes.

        Returns "" for a list. Raises `ToolArgumentError`, `InvalidJob` and `StoreError`.
        """
        asker = await self._open(arguments, context)
        action = asker.action
        if action == "list":
            return ""
        if action == "create":
            return await self._show(asker, self._draft(asker))
        number = _read_number(asker.number)
        job = await self._database.read(_find, asker, number)
        if action == "change":
            return await self._show(asker, self._redraft(asker, job)[1])
        return _ACTS[action](title=job.title)

    async def list_essentials(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Essentials | None:
        """Return what own words must say for a reminder, or for a change of one; see the contract.

        Other jobs and those of groups need a yes in any case. Raises the errors of `run`.
        """
        asker = await self._open(arguments, context)
        if asker.room or asker.is_job or asker.action == "list":
            return None
        if asker.action == "create":
            return self._need_reminder(asker, self._draft(asker))
        number = _read_number(asker.number)

        def look(connection: Connection) -> tuple[Job, list[Job]]:
            return _find(connection, asker, number), self._list_seen(connection, asker)

        job, seen = await self._database.read(look)
        others = [_name_target(one) for one in seen if one.id != job.id]
        needs = Essentials(kind=_KINDS[asker.action], target=_name_target(job), others=others)
        if asker.action != "change":
            return needs
        request, changed = self._redraft(asker, job)
        is_moved = changed.zone != job.zone
        if request.timing is None or request.targets or is_moved:
            return None
        if not _is_plain(asker) or _is_loud(changed):
            return None
        return replace(
            needs,
            text="\n".join(filter(None, (request.body, asker.given.title))),
            is_said=lambda sentence: self._says_timing(sentence, asker, job, changed),
        )

    def _need_reminder(self, asker: _Asker, job: NewJob) -> Essentials | None:
        """Return what own words must say for a new reminder; None for any other job."""
        if job.kind != "message" or job.next_slot is None or not _is_plain(asker):
            return None
        if job.targets != (asker.here,) or _is_loud(job):  # `to` may name this chat
            return None
        slot, is_once = job.next_slot[1], isinstance(load_timing(job.timing), Once)

        def is_said(sentence: str) -> bool:
            if is_once and names_slot(sentence, slot, asker.zone, asker.said_at):
                return job.zone == asker.zone
            given = JobFields(kind="message", text=job.body)
            told = _list_told(sentence, replace(asker, given=given), None, self._draft)
            return any(_are_alike(asker, one, job) for one in told)

        text = "\n".join(filter(None, (job.body, asker.given.title)))
        return Essentials(kind="remind", text=text, is_said=is_said)

    def _says_timing(self, sentence: str, asker: _Asker, job: Job, changed: Job) -> bool:
        """Return whether a sentence names the new time of a job, on its own clock."""
        slot = changed.next_slot if isinstance(load_timing(changed.timing), Once) else None
        if slot and names_slot(sentence, slot[1], job.zone, asker.said_at):
            return True
        redone = _list_told(
            sentence,
            replace(asker, given=JobFields()),
            job,
            lambda told: self._redraft(told, job)[1],
        )
        return any(_are_alike(asker, one, changed) for one in redone)

    async def _open(self, arguments: Mapping[str, object], context: ToolContext) -> _Asker:
        """Load the asker, and read the times and the calendars. Raises the errors of `run`."""
        wish = _read_wish(self.spec.name, arguments)
        asker = await self._database.read(self._look, context, wish)
        _check_running(asker)
        if asker.action not in ("create", "list"):
            found = await self._database.read(self._find_named, asker, wish.job)
            asker = replace(asker, number=_take_sure(wish.job, found).id)
        if asker.action not in ("create", "change"):
            return asker
        return await self._read_details(asker, wish.when)

    async def _read_details(self, asker: _Asker, when: str) -> _Asker:
        """Read the times and the calendars of a new job or of a change."""
        asker = await self._read_times(asker, when)
        given, whose = asker.given, (asker.person.id, asker.room.id if asker.room else None)
        evidence = None if asker.context.is_accepted else asker.context.evidence
        check_feed(given, evidence)
        found = await read_calendars(given.skip, self._calendars, whose, evidence)
        return replace(asker, calendars=found)

    def _find_named(self, connection: Connection, asker: _Asker, named: object) -> NamedJobs:
        """Find the job that a call names by its number, or those that it names by words."""
        if isinstance(named, str) and not named.strip().lstrip("#").isdecimal():
            return meant_job.find_named(named, self._list_seen(connection, asker))
        number = _read_number(int(named.strip().lstrip("#")) if isinstance(named, str) else named)
        return NamedJobs(jobs=(_find(connection, asker, number),), is_sure=True)

    async def _read_times(self, asker: _Asker, when: str) -> _Asker:
        """Read the words for a time, and leave out the fields that mean nothing for the job."""
        given, job = asker.given, None
        kind: str = given.kind or ""
        if asker.number:
            job = await self._database.read(
                job_editor.find_visible_job, job_id=asker.number, may_see=asker.may_see
            )
            kind = job.kind if job else kind
        if when:
            zone = (given.zone or "").strip() or (job.zone if job else asker.zone)
            old = load_timing(job.timing) if job else None
            # What was shown counts: "tomorrow" is the day after the wish, not after the yes.
            now = asker.said_at if asker.context.is_accepted else asker.context.now
            given = fill_in(given, when, zone=zone, now=now, old=old)
        given, names = leave_out(given, kind)
        return replace(asker, given=given, left_out=names)

    def _look(self, connection: Connection, context: ToolContext, wish: _Wish) -> _Asker:
        person = people.find(connection, person_id=context.person_id)
        turn = turns.find(connection, turn_id=context.turn_id)
        if person is None or turn is None:
            raise ToolArgumentError("there is no person here who could have jobs")
        memory_owner, room = context.memory_owner, None
        if memory_owner and memory_owner.kind == "room":
            room = rooms.find_by_person(connection, person_id=memory_owner.person_id)
        return _Asker(
            action=wish.action,
            person=person,
            zone=person.time_zone or self._zone,
            room=room,
            here=Target.of(turn.place.chat),
            context=context,
            given=wish.given,
            is_job=job_runs.find_of_turn(connection, turn_id=turn.id) is not None,
            days_off=delivery_targets.find(connection, person_id=person.id).days_off,
            said_at=inbox.find_newest_at(connection, turn_id=turn.id) or context.now,
        )

    async def _list(self, asker: _Asker) -> str:
        found = await self._database.read(self._list_seen, asker)
        return "\n".join(_describe(job, asker.zone) for job in found) or "There are no jobs."

    @staticmethod
    def _list_seen(connection: Connection, asker: _Asker) -> list[Job]:
        if asker.room:
            return jobs.list_of_room(connection, room_id=asker.room.id)
        return jobs.list_of_person(connection, person_id=asker.person.id)

    def _has_twin(self, connection: Connection, asker: _Asker, made: Job) -> bool:
        """Return whether the person has another active job that says the same at the same times."""
        return any(
            one.id != made.id
            and one.state == "active"
            and one.body.casefold() == made.body.casefold()
            and (one.kind, one.timing, one.zone, one.targets)
            == (made.kind, made.timing, made.zone, made.targets)
            for one in self._list_seen(connection, asker)
        )

    def _draft(self, asker: _Asker) -> NewJob:
        """Build the job of a call. Raises `ToolArgumentError` and `InvalidJob`."""
        request = self._read(asker, None)
        if asker.room and not asker.person.is_owner and request.kind != "message":
            raise ToolArgumentError(_ONLY_OWNERS)
        context = asker.context
        whose = JobOwner(
            person_id=asker.person.id,
            room_id=asker.room.id if asker.room else None,
            actor=f"turn:{context.turn_id}",
            call_key=f"{context.turn_id}:{context.call_id}",
        )
        if request.targets is None:
            request = replace(request, targets=(asker.here,))
        job = job_editor.draft_job(
            request, whose, zone=asker.zone, rules=self._rules, now=context.now
        )
        return replace(job, is_urgent=_is_urgent(asker, request, job))

    async def _create(self, asker: _Asker) -> ToolResult:
        job, rules, now = self._draft(asker), self._rules, asker.context.now
        await self._database.read(_check_room, asker)
        confirmed = await self._confirm(asker, job, _find_held(asker, job))
        if isinstance(confirmed, str):
            return ToolResult(text=f"No job was created. {confirmed}")
        job = confirmed
        made = await self._database.write(
            "jobs.make", job_editor.create_job, job, rules=rules, now=now
        )
        self._changed()
        places = await self._list_places(asker, made)
        is_elsewhere = made.targets != (asker.here,) or len(places) > 1
        is_twin = await self._database.read(self._has_twin, asker, made)
        held = _look_for_held(asker, made)
        sent_to = places if is_elsewhere else ()
        note = note_left_out(asker.left_out)
        return ToolResult(
            text=f"Created. {_describe(made, asker.zone)}{note}",
            receipts=(confirm_created(made, asker.clock, sent_to, is_twin=is_twin, held=held),),
        )

    def _redraft(self, asker: _Asker, job: Job) -> tuple[JobRequest, Job]:
        """Parse a change and apply it. Raises `ToolArgumentError` and `InvalidJob`."""
        request = self._read(asker, job)
        if request.body and job.kind == "script":  # people in chat must not run commands
            raise ToolArgumentError(
                f"the command of job {job.id} can only be changed by"
                " `talaria jobs change` on the machine"
            )
        rules, now = self._rules, asker.context.now
        changed = job_editor.redraft_job(job, request, rules=rules, now=now)
        if changed == job:
            raise ToolArgumentError("say what to change")
        if request.timing:
            request = replace(request, is_urgent=_is_urgent(asker, request, changed))
            changed = replace(changed, is_urgent=bool(request.is_urgent))
        return request, changed

    async def _change(self, asker: _Asker, job: Job) -> ToolResult:
        request, changed = self._redraft(asker, job)
        held = _find_held(asker, changed) if request.timing else None
        confirmed = await self._confirm(asker, changed, held)
        if isinstance(confirmed, str):
            return ToolResult(text=f"Nothing was changed. {confirmed}")
        is_urgent = confirmed.is_urgent if confirmed != changed else None

        def work(connection: Connection) -> tuple[Job, str]:
            found = job_editor.find_visible_job(connection, job_id=job.id, may_see=asker.may_see)
            if found is None:  # the confirmation may take minutes
                raise ToolArgumentError(f"job {job.id} has ended or was deleted meanwhile")
            # Somebody may have changed another part of it, so the call is read again.
            now_so = self._redraft(asker, found)[1]
            if is_urgent is not None:
                now_so = replace(now_so, is_urgent=is_urgent)
            done = job_editor.change_job(connection, now_so, asker.context.now)
            return done, job_editor.name_change_undo(connection, job.id)

        made, undo = await self._database.write("jobs.change", work)
        self._changed()
        note = note_left_out(asker.left_out)
        return ToolResult(
            text=f"Changed. {_describe(made, asker.zone)} /jobs undo {made.id} undoes it.{note}",
            receipts=(confirm_changed(made, asker.clock, undo),),
        )

    def _read(self, asker: _Asker, job: Job | None) -> JobRequest:
        """Parse a call; its times are in the job's zone if the job exists."""
        if (asker.given.gate or "").strip().casefold().startswith("script"):
            raise ToolArgumentError(
                "a command as a gate can only be set by `talaria jobs` on the machine"
            )
        return read_request(
            asker.given,
            here=asker.here,
            zone=job.zone if job else asker.zone,
            known=job.options if job else self._default_options(asker),
            now=_find_start(asker),
            calendars=asker.calendars,
        )

    def _default_options(self, asker: _Asker) -> Options:
        return job_editor.default_options(asker.given.kind, self._rules)

    async def _confirm(self, asker: _Asker, job: _AnyJob, held: HeldSlot | None) -> _AnyJob | str:
        """Ask the person to confirm; return the job, or the reason for a refusal.

        A message to the asker at plain times, at most hourly, needs no confirmation, since it costs
        nothing and the receipt undoes it; neither does an accepted proposal.
        With a `held` slot, the person chooses whether the job also sends messages in quiet times. A
        reminder whose question stays unanswered is created and held, because it must not be lost.
        """
        await self._database.read(job_editor.check_event, job)
        timing = load_timing(job.timing)
        is_own = job.targets == (asker.here,) and job.kind == "message"
        slot = job_editor.next_slot_of(job)
        is_often = slot is not None and count_often(timing, find_zone(job.zone), slot) > 0
        is_free = is_own and is_plain(timing) and not is_often and held is None
        if asker.context.is_accepted or is_free:
            return job
        is_reminder = isinstance(timing, Once) and is_own
        echo = None if is_reminder else await self._show(asker, job)
        question = compose_confirmation(job, asker.clock, echo, held)
        answer = await ask_person(self._prompter, asker.context, question)
        if not isinstance(answer, Choice):
            return job if is_reminder else describe_no_answer(answer)
        if answer.key == NO:
            return "The person said no."
        return replace(job, is_urgent=True) if held and answer.key == YES else job

    async def _show(self, asker: _Asker, job: NewJob) -> str:
        """Describe a job for the person who confirms it, with the names of its targets."""
        return echo_job(job, asker.clock, await self._list_places(asker, job))

    async def _list_places(self, asker: _Asker, job: NewJob) -> list[str]:
        """List the names of the chats where a job's results come."""
        assert job.person_id is not None  # noqa: S101 - nobody asks for a system job
        owner, targets = job.person_id, job.targets
        return await self._database.read(self._name_places, owner, targets, asker.here)


def _check_room(connection: Connection, asker: _Asker) -> None:
    """Refuse one more job of a member in a group that has many of theirs."""
    if asker.room is None or asker.person.is_owner:
        return
    listed = jobs.list_of_room(connection, room_id=asker.room.id)
    if sum(job.person_id == asker.person.id for job in listed) >= _MOST_IN_ROOM:
        raise ToolArgumentError(
            f"they have {_MOST_IN_ROOM} reminders in this group, the most that a member may have"
            " here; they can delete one with /reminders, or set theirs in a direct chat"
        )


def _is_plain(asker: _Asker) -> bool:
    """Return whether a call gives nothing but a text and a time."""
    given = asker.given
    named = {one.name for one in fields(given) if getattr(given, one.name) is not None}
    return named <= _SAID


def _is_loud(job: NewJob) -> bool:
    """Return whether a job repeats in quiet times, too, which no words about its time say."""
    return job.is_urgent and not isinstance(load_timing(job.timing), Once)


def _list_told(
    sentence: str, asker: _Asker, job: Job | None, draft: Callable[[_Asker], _AnyJob]
) -> Iterator[_AnyJob]:
    """Yield the jobs that the words of a sentence make, or make of a job, if `when` is any of them.

    `draft` makes one of the asker's fields and these words.
    """
    zone, now = job.zone if job else asker.zone, asker.context.now
    old = load_timing(job.timing) if job else None
    for words in (*list_times(sentence, zone, asker.said_at), *list_repeats(sentence)):
        try:
            given = fill_in(asker.given, words, zone=zone, now=now, old=old)
            yield draft(replace(asker, given=given))
        except (ToolArgumentError, InvalidJob):
            continue


def _are_alike(asker: _Asker, told: _AnyJob, meant: _AnyJob) -> bool:
    """Return whether two jobs come at the same times, on the same clock."""
    if told.zone != meant.zone or asker.given.skip:
        # what is left out may be a calendar that nobody named
        return (told.zone, told.timing) == (meant.zone, meant.timing)
    zone, now = find_zone(meant.zone), asker.context.now
    return are_alike(load_timing(told.timing), load_timing(meant.timing), zone, now)


def _name_target(job: Job) -> str:
    return f"{job.title} {job.body}" if job.kind == "message" else job.title


def _find_start(asker: _Asker) -> int:
    """Find the start of a span: the newest message, unless the span is over by now."""
    span = (asker.given.in_minutes or 0) * 60_000
    earliest = asker.context.now - span + _SOON
    return max(asker.said_at, earliest) if span > 0 else asker.context.now


def _is_urgent(asker: _Asker, request: JobRequest, job: NewJob) -> bool:
    """Return whether a job also sends messages in quiet times."""
    return comes_in_quiet(request.is_urgent, job, asker.context.evidence, asker.zone)


def _find_held(asker: _Asker, job: NewJob) -> HeldSlot | None:
    """Find a slot in a quiet time, unless the job is urgent or the person has decided.

    An interval fills day and night, so nobody means the quiet time by it: it waits then.
    """
    if asker.given.urgent is not None or is_interval(load_timing(job.timing)):
        return None
    return _look_for_held(asker, job)


def _look_for_held(asker: _Asker, job: _AnyJob) -> HeldSlot | None:
    """Find a slot in a quiet time, unless the job is urgent."""
    if job.is_urgent:
        return None
    return find_held_slot(job, asker.person, asker.days_off, asker.clock)


def _read_wish(tool: str, arguments: Mapping[str, object]) -> _Wish:
    """Read a call of one of the tools. Raises `ToolArgumentError`."""
    given = read_fields({**read_others(arguments), "text": arguments.get("text")})
    if tool == MANAGE_JOBS.name:
        action = str(arguments["action"])
    else:
        kind: Literal["message", "prompt"] = "message" if tool == REMIND.name else "prompt"
        action, given = "create", replace(given, kind=kind)
    when = str(arguments.get("when", "")).strip()
    return _Wish(action=action, job=arguments.get("job"), when=when, given=given)


def _read_number(number: object) -> JobId:
    if not isinstance(number, int) or not 0 < number < sys.maxsize:
        raise ToolArgumentError("`job` is the number of a job, or words of its title; see list")
    return JobId(number)


def _check_running(asker: _Asker) -> None:
    """Refuse what a running job may not do."""
    if asker.is_job and asker.action not in ("list", "pause", "delete"):
        raise ToolArgumentError("a running job can't create, change or start jobs")


def _take_sure(named: object, found: NamedJobs) -> Job:
    """Return the one job that a call names. Raises `ToolArgumentError` with those near it."""
    if found.is_sure:
        return found.jobs[0]
    listed = meant_job.list_titles(found.jobs)
    raise ToolArgumentError(f"{quote(str(named), _SHOWN_NAME)} names no single job of: {listed}")


def _find(connection: Connection, asker: _Asker, number: JobId) -> Job:
    """Find a job that the asker may change, within the transaction."""
    job = job_editor.find_visible_job(connection, job_id=number, may_see=asker.may_see)
    if job is None:
        raise ToolArgumentError(f"there is no job {number} here; see list")
    if not asker.may_change(job):
        maker = people.find(connection, person_id=job.person_id) if job.person_id else None
        name = quote(maker.name if maker else "someone else", _SHOWN_NAME)
        raise ToolArgumentError(
            f"that job was created by {name}; only they and owners may change it"
        )
    return job


def _act(connection: Connection, job: Job, action: str, context: ToolContext) -> str:
    match action:
        case "pause":
            job_editor.pause_job(connection, job, job_editor.PAUSED_ON_REQUEST)
            return (
                f"{name_job(job)} is paused; /jobs resume {job.id} restarts it."
                f"{describe_followers(connection, job)}"
            )
        case "resume":
            resumed = job_editor.resume_job(connection, job, context.now)
            return f"Resumed. {_describe(resumed, resumed.zone)}"
        case "run_now":
            job_editor.run_job_now(
                connection, job, f"{context.turn_id}:{context.call_id}", context.now
            )
            return f"{name_job(job)} runs once now; its result goes to its usual targets."
        case "delete":
            job_editor.drop_job(connection, job)
            return (
                f"{name_deletion(job)} /jobs restore {job.id} brings it back."
                f"{describe_followers(connection, job)}"
            )
        case other:
            raise ToolArgumentError(f"`action` can't be {other!r}")


def _describe(job: Job, reader: str) -> str:
    """Describe a job for the model."""
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    shown = describe_next(timing, zone, job_editor.next_slot_of(job), find_zone(reader))
    state = f" [paused: {job.reason}]" if job.state == "paused" else ""
    ways = "".join(f" {way}." for way in list_ways(job))
    return (
        f"{job.id}. {quote(job.title, _SHOWN_BODY)} ({job.kind}){state}: "
        f"{describe_timing(timing, zone)}."
        f" Next: {shown}.{ways} Text: {quote(job.body, _SHOWN_BODY)}"
    )
