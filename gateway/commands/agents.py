"""The command about named agents: list and make them, and choose who answers or does a job."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.named.chain import DEFAULT
from agent_core.agent.named.editor import AgentEditor, Author
from agent_core.agent.named.folder import AgentEntry, AgentFolder
from agent_core.errors import AgentBroken
from agent_core.schedule.job_editor import InvalidJob, JobRules, name_change_undo
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.people import people
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.errors import Declined
from gateway.operations.agent_types import PutAway, WriteAgent
from gateway.operations.agents import name_put_away, name_use, put_away_as, write_agent_as
from gateway.operations.jobs import set_options
from gateway.operations.wire import load
from gateway.outbound.command_buttons import stand_for
from gateway.texts import agents as texts
from gateway.texts import jobs as job_texts
from gateway.turns.lanes import Lanes

_MOST_BUTTONS = 8
_OWNER_VERBS = ("new", "change", "archive", "restore")
_FIELDS = ("description", "model", "soul", "tools", "disabled", "skills", "blocks", "tags")
_LISTS = ("tools", "disabled", "skills", "blocks", "tags")
_ALL = "all"
"""The word for every tool or block."""
_LONGEST_DESCRIPTION = 100
_VERBS = ("use", "job", *_OWNER_VERBS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommands:
    """Lists and changes named agents, and binds chats and jobs to them."""

    database: Database
    agents: AgentFolder
    editor: AgentEditor
    lanes: Lanes
    rules: JobRules

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"agents": self._run}

    async def _run(self, call: Call) -> Reply:
        try:
            match call.argument.split():
                case []:
                    return await self._list(call)
                case ["use", name]:
                    return await self._use(call, await self._read(name))
                case [name] if name not in _VERBS:
                    return await self._use(call, await self._read(name))
                case [verb, _, *_] if verb in _OWNER_VERBS:
                    return await self._edit(call, verb)
                case ["job", number, name]:
                    return await self._give_job(call, number, await self._read(name))
                case _:
                    return Reply(text=texts.USAGE())
        except AgentBroken as error:
            return Reply(text=texts.describe_fault(error))

    async def _read(self, name: str) -> str:
        """Return the name of an agent that can be used, "" for the default.

        Raises `AgentBroken`.
        """
        if name.casefold() == DEFAULT:
            return ""
        return (await asyncio.to_thread(self.agents.find, name)).name

    async def _edit(self, call: Call, verb: str) -> Reply:
        """Make, change, archive or restore an agent, for an owner."""
        if not call.person.is_owner:
            return Reply(text=texts.ONLY_OWNER_MAKES())
        _, name, *rest = call.argument.split(maxsplit=2)
        words, author = "".join(rest).strip(), make_author(call)
        try:
            if verb in ("archive", "restore"):
                asked = load(PutAway, {"kind": "agent", "action": verb, "name": name})
                await put_away_as(self.editor, author, asked)
                done = texts.ARCHIVED if verb == "archive" else texts.RESTORED
                return note_put_away(call, asked, done(name=name))
            wish = _read_new(name, words) if verb == "new" else _read_change(name, words)
            if wish is None:
                return Reply(text=texts.HOW_TO_CHANGE(fields=", ".join(_FIELDS)))
            await write_agent_as(self.editor, author, wish)
        except Declined as error:
            return Reply(text=texts.REFUSED(reason=error))
        use = (stand_for(f"agents use {name}", texts.USE(name=name)),)
        return Reply(text=(texts.MADE if verb == "new" else texts.CHANGED)(name=name), buttons=use)

    async def _list(self, call: Call) -> Reply:
        entries = await asyncio.to_thread(self.agents.list_all)
        if not call.person.is_owner:  # only owners can repair a broken agent
            entries = [entry for entry in entries if entry.agent]
        used = await self.database.read(_read_bound, call)
        buttons = _make_buttons(entries, used) if call.may_choose else ()
        return Reply(text=texts.list_agents(entries, used), buttons=buttons)

    async def _use(self, call: Call, name: str) -> Reply:
        if not call.may_choose:
            return Reply(text=texts.ONLY_OWNER())
        if self.lanes.is_running(call.conversation.id):
            return Reply(text=texts.BUSY())

        def effect(connection: Connection) -> Outcome:
            before = people.find(connection, person_id=call.owner_id)
            people.bind_agent(connection, person_id=call.owner_id, agent=name)
            undo = name_use(before.agent if before else "")
            call.note_deed(connection, name_use(name), undo, texts.name_choice(name))
            if call.is_of_room:
                call.record(connection, "room.agent", name or DEFAULT, call.owner_id)
            return texts.USED(name=name) if name else texts.DEFAULT_USED(), ()

        return Reply(effect=effect)

    async def _give_job(self, call: Call, number: str, name: str) -> Reply:
        def effect(connection: Connection) -> Outcome:
            found = jobs.list_of_person(connection, person_id=call.person.id)
            job = next((one for one in found if f"{one.id}" == number.removeprefix("#")), None)
            if job is None:
                return texts.JOB_UNKNOWN(), ()
            if job.kind != "prompt":
                return texts.JOB_NO_AGENT(), ()
            try:
                options = replace(job.options, agent=name)
                set_options(connection, job, options, rules=self.rules, now=call.now)
            except InvalidJob as error:
                return job_texts.describe_invalid(error), ()
            done = texts.JOB_USED(name=name, title=job.title)
            if not name:
                done = texts.JOB_DEFAULT(title=job.title)
            redo = f"agents job {job.id} {name or DEFAULT}"
            call.note_deed(connection, redo, name_change_undo(connection, job.id), done)
            return done, ()

        return Reply(effect=effect)


def note_put_away(call: Call, asked: PutAway, text: str) -> Reply:
    """Answer that an agent or a team was archived or restored, and record it for `/undo`."""

    def effect(connection: Connection) -> Outcome:
        did = texts.name_deed(asked.name, is_archive=asked.action == "archive")
        call.note_deed(connection, name_put_away(asked), name_put_away(asked, is_undo=True), did)
        return text, ()

    return Reply(effect=effect)


def make_author(call: Call) -> Author:
    """Return the caller as the author of a change."""
    return Author(person_id=call.person.id, actor=call.actor)


def _read_new(name: str, words: str) -> WriteAgent:
    """Read a new agent: the words are its identity, and their first line what it is for."""
    first = words.partition("\n")[0][:_LONGEST_DESCRIPTION]
    return WriteAgent(action="create", name=name, soul=words or None, description=first or None)


def _read_change(name: str, words: str) -> WriteAgent | None:
    """Read a change: a field and its new value; None if there is no such field."""
    key, _, value = words.partition(" ")
    key, value = key.casefold(), value.strip()
    if key not in _FIELDS or not value:
        return None
    asked = {"action": "change", "name": name}
    if key not in _LISTS:
        return load(WriteAgent, {**asked, key: value})
    if value.casefold() == _ALL and key in ("tools", "blocks"):
        return load(WriteAgent, {**asked, f"any_{key}": True})
    names = tuple(one for one in value.replace(",", " ").split() if one != "-")
    return load(WriteAgent, {**asked, key: names})


def _read_bound(connection: Connection, call: Call) -> str:
    found = people.find(connection, person_id=call.owner_id)
    return found.agent if found else ""


def _make_buttons(entries: Sequence[AgentEntry], used: str) -> tuple[Choice, ...]:
    names = [one.name for one in entries if one.agent and one.name != used][:_MOST_BUTTONS]
    buttons = [stand_for(f"agents use {name}", texts.USE(name=name)) for name in names]
    if used:
        buttons.append(stand_for(f"agents use {DEFAULT}", texts.USE_DEFAULT()))
    return tuple(buttons)
