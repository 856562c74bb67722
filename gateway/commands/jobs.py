"""Commands for scheduled jobs: jobs, sethome."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from agent_core.chats import Chat
from agent_core.ids import JobId
from agent_core.schedule.confirmations import describe_followers
from agent_core.schedule.job_editor import (
    LONGEST_TITLE,
    InvalidJob,
    JobAlreadyRunning,
    JobRules,
    find_visible_job,
    is_changed_since,
)
from agent_core.schedule.receipts import confirm_verb
from agent_core.shown_settings import name_city
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, JobState, Target
from agent_core.state.people import people
from agent_core.state.queues import deferred_messages
from agent_core.time_zones import name_zone
from agent_core.transcript import flatten
from gateway.chats import make_chat
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.commands.reminders import read_press, take_press
from gateway.jobs.destinations import name_places
from gateway.jobs.job_buttons import (
    SENT,
    make_job_buttons,
    make_list_button,
    make_open_button,
)
from gateway.jobs.new_times import NewTimes
from gateway.operations.job_types import JobVerb
from gateway.operations.jobs import JobDeed, act, make_address, move_zone, name_undo, name_verb
from gateway.operations.settings import name_home, read_home, set_home
from gateway.outbound.command_buttons import stand_for
from gateway.texts import jobs as job_texts
from gateway.texts.undo import BRING_BACK

_EXAMPLE = 3
"""The job number in the example of how to use the command."""
_BUTTONED = 20
"""Listed jobs with a button; no platform shows more than 25."""
_RUNS = 100
"""Number of newest runs that are read; many of them may share one line."""
_Verb = JobVerb | Literal["webhook"]
_VERBS: Mapping[str, _Verb] = {verb: verb for verb in (*get_args(JobVerb), "webhook")}
_SYNONYMS = {
    "drop": "delete",
    "remove": "delete",
    "rm": "delete",
    "cancel": "delete",
    "lösche": "delete",
    "löschen": "delete",
    "pausiere": "pause",
    "pausieren": "pause",
    "continue": "resume",
    "stop": "pause",
}
"""Other words that people use for the verbs; buttons and deeds until 2026-11-30 say `drop`."""
_SHORTEST_NAME = 3
"""Letters of a word that names a reminder."""
_MOVE, _DIGEST = "move", 8
_YES, _OFF, _TO, _OF = "yes", "off", "to", "of"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """A verb, and the job it applies to."""

    verb: _Verb
    job_id: JobId
    is_sure: bool = False
    version: int | None = None
    """The former version to put back as a whole."""
    change: int | None = None
    """The change to undo; None for the last one."""


class JobCommands:
    """Lists, shows and changes scheduled jobs."""

    def __init__(
        self, database: Database, rules: JobRules, hooks: str, new_times: NewTimes
    ) -> None:
        """`hooks` is the address of webhooks, to which a secret is added; "" for none."""
        self._database = database
        self._new_times = new_times
        self._rules = rules
        self._hooks = hooks

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        names = ("reminders", "erinnerungen", "jobs")
        return {**dict.fromkeys(names, self._jobs), "sethome": self._sethome}

    async def _jobs(self, call: Call) -> Reply:
        words = call.argument.casefold().split()
        number = _read_number(words[-1]) if words else None
        if not words or (words[0] == "from" and len(words) == 2 and number):
            return await self._list(call, number or 0)
        if len(words) == 1 and number:
            return await self._show(call, number)
        if words[0] == _MOVE and len(words) == 2 and not call.room:
            return self._move(call, words[1])
        if words[0] == SENT and (press := read_press(words[1:])):
            take = partial(take_press, call=call, press=press, new_times=self._new_times)
            return Reply(effect=take)
        order = _read_order(words)
        if order is None:
            return await self._act_by_words(call, words)
        if order.verb == "restore":
            restore = partial(self._restore, call=call, job_id=order.job_id)
            return Reply(effect=restore, buttons=(make_list_button(),) if call.is_press else ())
        return await self._change(call, order)

    async def _act_by_words(self, call: Call, words: Sequence[str]) -> Reply:
        """Act on the reminder that words name, such as "delete oven"; list several."""
        verb = _VERBS.get(_SYNONYMS.get(words[0], words[0]))
        wanted = words[1:] if verb else words
        is_named = any(len(word) >= _SHORTEST_NAME for word in wanted)
        if not is_named or any(word.isdecimal() for word in wanted):
            return Reply(text=job_texts.USAGE(number=_EXAMPLE))

        def look(connection: Connection) -> tuple[list[Job], str]:
            found = [
                job
                for job in _find_all(connection, call)
                if all(word in f"{job.title} {job.body}".casefold() for word in wanted)
            ]
            return found, _format_list(connection, found, call) if found else ""

        found, text = await self._database.read(look)
        if not found:
            named = flatten(" ".join(wanted), LONGEST_TITLE)
            return Reply(
                text=job_texts.NONE_WITH(words=named),
                buttons=(make_list_button(),),
                is_refusal=verb is not None,
            )
        if len(found) > 1:
            return Reply(text=text, buttons=_open_each(found))
        if verb is None:
            return await self._show(call, found[0].id)
        return await self._change(call, _Order(verb=verb, job_id=found[0].id))

    def _restore(self, connection: Connection, call: Call, job_id: JobId) -> Outcome:
        """Bring a deleted job back."""
        job = jobs.find(connection, job_id=job_id)
        if job is None or job.state != "dropped" or not _may_see(call, job):
            return job_texts.UNKNOWN(number=job_id), ()
        if refusal := _refuse(connection, call, job, job_id):
            return refusal, ()
        return self._act(connection, job, _Order(verb="restore", job_id=job.id), call), ()

    def _move(self, call: Call, named: str) -> Reply:
        """Move the caller's jobs from a zone, by its name or digest, to their present one."""

        def effect(connection: Connection) -> Outcome:
            found = jobs.list_of_person(connection, person_id=call.person.id)
            zones = {name: job.zone for job in found for name in _list_zone_names(job.zone)}
            if named not in zones:
                return job_texts.NONE_TO_MOVE(), ()
            moved = move_zone(connection, call.person.id, zones[named], call.zone, call.now)
            done = job_texts.MOVED(len(moved), zone=name_city(call.zone))
            return _answer(connection, done, call), ()

        return Reply(effect=effect)

    async def _list(self, call: Call, first: int) -> Reply:
        def look(connection: Connection) -> tuple[list[Job], str]:
            found = _find_all(connection, call, first)
            return found, _format_list(connection, found, call)

        found, text = await self._database.read(look)
        return Reply(text=text, buttons=_open_each(found))

    async def _show(self, call: Call, job_id: JobId) -> Reply:
        def look(connection: Connection) -> Reply:
            job = _find(connection, call, job_id)
            if job is None:
                return Reply(text=job_texts.UNKNOWN(number=job_id))
            runs = job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS)
            owner = job.person_id or call.person.id
            places = name_places(connection, owner, job.targets, _here(call))
            text = job_texts.show_job(job, runs, call.clock, places)
            buttons = make_job_buttons(job) if _may_change(call, job) else ()
            return Reply(text=text, buttons=(*buttons, make_list_button()))

        return await self._database.read(look)

    async def _change(self, call: Call, order: _Order) -> Reply:
        """Change a job, once for one event."""

        def look(connection: Connection) -> tuple[list[Job], Job | None, str]:
            found = _find_all(connection, call)
            job = next((one for one in found if one.id == order.job_id), None)
            refusal = _refuse(connection, call, job, order.job_id)
            return found, job, _answer(connection, refusal, call) if refusal else ""

        found, job, text = await self._database.read(look)
        if text or job is None:
            buttons = _open_each(found) if call.is_press else ()
            return Reply(text=text, buttons=buttons, is_refusal=True)
        if order.verb == "delete" and call.is_press and not order.is_sure:
            words = f"jobs delete {job.id} {_YES}"
            sure = stand_for(words, job_texts.DROP(), "danger", says_yes=True)
            keep = stand_for(f"jobs {job.id}", job_texts.KEEP(), says_yes=False)
            return Reply(text=job_texts.ask_to_drop(job), buttons=(sure, keep))

        def effect(connection: Connection) -> Outcome:
            current = _find(connection, call, order.job_id)
            done = _refuse(connection, call, current, order.job_id)
            if current and not done:
                done = (
                    self._give_address(connection, current, call)
                    if order.verb == "webhook"
                    else self._act(connection, current, order, call)
                )
            return done, ()

        return Reply(effect=effect, buttons=_make_later_buttons(job, order.verb))

    def _act(self, connection: Connection, job: Job, order: _Order, call: Call) -> str:
        assert order.verb != "webhook"  # noqa: S101 - `_change` answers that
        verb = order.verb
        deed = JobDeed(
            verb=verb,
            rules=self._rules,
            now=call.now,
            key=call.call_key,
            is_press=call.is_press,
            version=order.version,
            change=order.change,
        )
        redo = name_verb(connection, job.id, deed)
        try:
            has_rest = verb == "undo" and is_changed_since(connection, job, order.change)
            done = act(connection, job, deed)
        except JobAlreadyRunning:
            return job_texts.describe_busy(job)
        except InvalidJob as error:
            return job_texts.describe_invalid(error)
        # To pause what is paused already changes nothing that could be taken back.
        did, undo = confirm_verb(job, verb), name_undo(connection, job.id, verb)
        if not undo or (verb in ("pause", "resume") and done.state == job.state):
            call.note_fixed(connection, did)
        else:
            call.note_deed(connection, redo, undo, did)
        match verb:
            case "pause":
                return job_texts.describe_paused(done) + describe_followers(connection, job)
            case "delete":
                return job_texts.describe_dropped(done) + describe_followers(connection, job)
            case "run":
                # A reminder that comes here at once speaks for itself.
                is_shown = job.kind == "message" and _here(call) in job.targets
                return "" if is_shown and not call.is_press else job_texts.describe_begun(done)
            case "resume":
                return job_texts.describe_resumed(done, call.clock)
            case "restore" | "undo":
                said = job_texts.describe_resumed(done, call.clock, is_undo=True)
                return f"{said} {job_texts.KEPT_SINCE()}" if has_rest else said

    def _give_address(self, connection: Connection, job: Job, call: Call) -> str:
        """Give a job a new web address. It is a secret, so it goes to a direct chat only."""
        if not call.message.address.is_direct:
            return job_texts.ADDRESS_IN_DIRECT()
        if not self._hooks:
            return job_texts.NO_ADDRESSES()
        try:
            return job_texts.describe_address(job, make_address(connection, job, self._hooks))
        except InvalidJob as error:
            return job_texts.describe_invalid(error)

    async def _sethome(self, call: Call) -> Reply:
        if call.is_undo:
            return Reply(effect=lambda connection: self._set_home_again(connection, call))
        word = call.argument.casefold()
        address = replace(call.message.address, ticket=None)  # a ticket permits one answer only
        chat = None if word == _OFF else make_chat(call.platform, address)
        if word not in ("", "here", _OFF):
            return Reply(text=job_texts.HOME_USAGE())
        if chat and not address.is_direct and not call.person.is_owner:
            return Reply(text=job_texts.HOME_NOT_IN_GROUP())

        def effect(connection: Connection) -> Outcome:
            said = job_texts.HOME_OFF()
            if chat:
                said = job_texts.HOME_HERE() if address.is_direct else job_texts.HOME_IN_GROUP()
            _set_home(connection, call, chat, job_texts.describe_home(chat))
            return said, ()

        return Reply(effect=effect)

    def _set_home_again(self, connection: Connection, call: Call) -> Outcome:
        """Set the chat for reminders that `/undo` gives back: its platform and its address."""
        chat = read_home(call.argument)
        said = job_texts.describe_home(chat)
        _set_home(connection, call, chat, said)
        return said, ()


def _set_home(connection: Connection, call: Call, chat: Chat | None, did: str) -> None:
    """Set the chat for a person's reminders, and record it for `/undo`."""
    before = set_home(connection, call.person.id, chat)
    if chat == before:
        call.note_fixed(connection, did)
        return
    call.note_deed(connection, name_home(chat), name_home(before), did)


def digest_zone(zone: str) -> str:
    """Return a digest that names a time zone in a button's key, which can't hold slashes."""
    return hashlib.sha256(zone.encode()).hexdigest()[:_DIGEST]


def _list_zone_names(zone: str) -> tuple[str, ...]:
    return (
        zone.casefold(),
        name_zone(zone).casefold(),
        name_city(zone).casefold(),
        digest_zone(zone),
    )


def _read_order(words: Sequence[str]) -> _Order | None:
    """Parse `pause 3`, or `delete 3 yes` or `undo 3 of 7` of a button; None for anything else."""
    version = change = None
    if len(words) == 4 and words[0] == "undo" and words[2] in (_TO, _OF):
        named = read_number(words[3])
        version, change = (named, None) if words[2] == _TO else (None, named)
        words = words[:2] if named else words
    is_sure = words[-1] == _YES
    if is_sure:
        words = words[:-1]
    verb = _VERBS.get(_SYNONYMS.get(words[0], words[0])) if len(words) == 2 else None
    if verb is None:
        return None
    number = _read_number(words[1])
    if number is None:
        return None
    return _Order(verb=verb, job_id=number, is_sure=is_sure, version=version, change=change)


def _read_number(word: str) -> JobId | None:
    number = read_number(word)
    return None if number is None else JobId(number)


def _refuse(connection: Connection, call: Call, job: Job | None, number: JobId) -> str:
    """Return why the caller may not change a job, or an empty text."""
    if job is None:
        return job_texts.UNKNOWN(number=number)
    if _may_change(call, job):
        return ""
    maker = people.find(connection, person_id=job.person_id) if job.person_id else None
    return job_texts.describe_not_yours(maker.name if maker else "")


def _may_change(call: Call, job: Job) -> bool:
    return job.person_id == call.person.id or call.person.is_owner


def _may_see(call: Call, job: Job) -> bool:
    """Return whether the caller may see a job: the room's jobs in a room, else their own."""
    if call.room:
        return job.room_id == call.room.id
    return job.person_id == call.person.id


def _find(connection: Connection, call: Call, job_id: JobId) -> Job | None:
    return find_visible_job(connection, job_id=job_id, may_see=lambda job: _may_see(call, job))


def _find_all(connection: Connection, call: Call, first: int = 0) -> list[Job]:
    """Find the caller's or the room's jobs; the list goes on from `first`, if it is given."""
    if call.room:
        found = jobs.list_of_room(connection, room_id=call.room.id)
    else:
        found = jobs.list_of_person(connection, person_id=call.person.id)
    start = next((at for at, job in enumerate(found) if job.id == first), 0)
    return found[start:]


def _answer(connection: Connection, done: str, call: Call) -> str:
    """Return what was done or why not, above the present list if a button was pressed."""
    if not call.is_press:
        return done
    return f"{done}\n\n{_format_list(connection, _find_all(connection, call), call)}"


def _open_each(found: Sequence[Job]) -> tuple[Choice, ...]:
    return tuple(map(make_open_button, found[:_BUTTONED]))


def _format_list(connection: Connection, found: Sequence[Job], call: Call) -> str:
    """Format jobs, and in a direct chat the deferred messages."""
    listed = job_texts.list_jobs(found, call.clock, is_room=call.room is not None)
    if call.room or not call.message.address.is_direct:
        return listed
    held = deferred_messages.list_of_person(connection, person_id=call.person.id)
    waiting = dict.fromkeys((one.title, one.release_at) for one in held if one.is_whole)
    return job_texts.list_held(list(waiting), call.clock) + listed


def _make_buttons(job: Job) -> tuple[Choice, ...]:
    """Return the buttons that change a job, and the one that leads back to the list."""
    return (*make_job_buttons(job), make_list_button())


def _make_later_buttons(job: Job, verb: _Verb) -> tuple[Choice, ...]:
    """Return the buttons below a job as it is once it was changed."""
    if verb == "delete":
        back = stand_for(f"jobs restore {job.id}", BRING_BACK())
        return (back, make_list_button())
    state: JobState = "paused" if verb == "pause" else "active"
    return _make_buttons(replace(job, state=state) if verb in ("pause", "resume") else job)


def _here(call: Call) -> Target:
    return Target.of(call.chat)
