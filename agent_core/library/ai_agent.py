"""AIAgent: an assistant inside a program, with durable turns, memory and search."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast
from weakref import WeakValueDictionary

from agent_core.agent.agent import Agent
from agent_core.agent.new_turn import NewTurn, insert_turn
from agent_core.agent.prompt.message_facts import FactInputs, compose_facts
from agent_core.agent.prompt.soul_file import ensure_soul
from agent_core.agent.turn import ActiveTurn
from agent_core.chats import Chat, Place
from agent_core.events import Ending, Event, ModelFault, TurnEnded
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import TurnId, use_turn
from agent_core.library.memory_store import MemoryStore
from agent_core.library.options import AgentOptions
from agent_core.library.parts import Parts, make_parts, open_model
from agent_core.library.quiet_host import QuietHost
from agent_core.library.session_db import SessionDB
from agent_core.memory.files import ABSENT, read_file
from agent_core.models.contract import Model
from agent_core.safe_names import name_caller
from agent_core.state.conversations import delegated_turns, sessions, turns
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn, TurnRequest
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount, Person
from agent_core.transcript import escape, repair_text, user_message

PLATFORM = "api"
"""Where the words of a program's people come from: a program, for the model as for a search."""
YOU = "you"
"""The person for whom a program asks that serves nobody else."""
_DATABASE = "state.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Says how a turn ended. `text` is "" unless it was answered; then `reason` is a code."""

    text: str
    ending: Ending
    reason: str
    detail: str
    turn_id: TurnId
    tools: tuple[str, ...] = ()
    """The names of the tools that were called, in order."""
    is_new: bool = field(default=True, compare=False)
    """False if the turn had ended before it was asked for."""


class TurnSuspended(Exception):
    """The assistant was closed while it answered; `resume` goes on when it is open again."""


class AIAgent:
    """An assistant of one folder. It can talk with many people, each with a memory of their own.

    Turns of different people run beside each other, those of one person one after the other. A
    process that is killed loses nothing: `resume` goes on from the last recorded step.
    """

    def __init__(
        self, database: Database, parts: Parts, host: QuietHost, now: Callable[[], int]
    ) -> None:
        self.database = database
        self._parts = parts
        self._agent: Agent = parts.agent
        self.host = host
        self._now = now
        self._known: dict[str, tuple[Person, Conversation]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        home: Path | str,
        *,
        model: str | tuple[str, Model],
        api_key: str = "",
        base_url: str = "",
        options: AgentOptions | None = None,
    ) -> AsyncIterator["AIAgent"]:
        """Open the folder of an assistant, and create it if it is missing.

        `model` is a provider and a name, such as `anthropic:claude-sonnet-4-5`, or a name with a
        `Model` of the program. Raises `StoreError`, `OSError`, and `ValueError` for a wrong model.
        """
        options, home = options or AgentOptions(), Path(home)
        async with AsyncExitStack() as stack:
            if isinstance(model, str):
                name, provider = model, open_model(model, api_key, base_url)
                stack.push_async_callback(provider.close)
            else:
                name, provider = model
            _refuse_halves("model", name)
            home = await asyncio.to_thread(_prepare, home, repair_text(options.instructions))
            await ensure_soul(home)  # once, before turns begin beside each other
            database = await Database.open(home / _DATABASE)
            stack.push_async_callback(database.close)
            parts = make_parts(home, database, (name, provider), options)
            host = QuietHost()
            try:
                yield cls(database, parts, host, options.now)
            finally:
                host.stop.set()

    async def chat(self, text: str, *, person: str = YOU) -> str:
        """Answer a message, and return the words of the answer; see `run_conversation`."""
        return (await self.run_conversation(text, person=person)).text

    async def run_conversation(self, text: str, *, person: str = YOU) -> Answer:
        """Answer a message in the person's conversation.

        Half of a character, such as of a cut emoji, becomes a replacement character.
        A turn of theirs that an earlier process left is finished first. Raises `StoreError`, and
        `TurnSuspended` if the assistant is closed meanwhile.
        """
        async with self._lock(person):
            await self._resume(person)
            who, conversation = await self.find_person(person)
            active = await self._begin(who, conversation, repair_text(text))
            return await self._play(active)

    async def resume(self, *, person: str = YOU) -> Answer | None:
        """Finish the person's last turn, if an earlier process left it; return how it ended.

        None if the person never asked. Raises what `run_conversation` raises.
        """
        async with self._lock(person):
            return await self._resume(person)

    async def memory(self, *, person: str = YOU) -> MemoryStore:
        """Return what the assistant knows about a person. Raises `StoreError`."""
        who, _ = await self.find_person(person)
        return MemoryStore(self._parts.memory, who, self._now)

    async def sessions(self, *, person: str = YOU) -> SessionDB:
        """Return what a person and the assistant said. Raises `StoreError`."""
        who, _ = await self.find_person(person)
        return SessionDB(self.database, who.id)

    async def find_person(
        self, name: str = YOU, *, tools: Sequence[str] | None = None
    ) -> tuple[Person, Conversation]:
        """Return a person and their conversation; both are made if the name is new.

        With `tools`, a new person has only these. Raises `StoreError`, and `ValueError` if there is
        no such tool, or if the name is no text that can be stored.
        """
        if known := self._known.get(name):
            return known
        _refuse_halves("person", name)
        names = self._parts.tool_names
        if unknown := [one for one in tools or () if one not in names]:
            raise ValueError(f"There is no tool {unknown[0]}; there are {', '.join(names)}.")
        off = [] if tools is None else [one for one in names if one not in tools]
        self._known[name] = found = await self.database.write(
            "library.person", _ensure_person, name, off, self._now()
        )
        return found

    @property
    def faults(self) -> Sequence[ModelFault]:
        """The faults of models that only the program's owner can end, such as a wrong key."""
        return self.host.faults

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of all tools."""
        return self._parts.tool_names

    def _lock(self, person: str) -> asyncio.Lock:
        return self._locks.setdefault(person, asyncio.Lock())

    async def _resume(self, name: str) -> Answer | None:
        person, conversation = await self.find_person(name)
        turn = await self.database.read(
            turns.find_latest, conversation_id=conversation.id, person_id=person.id
        )
        if turn is None:
            return None
        if turn.state != "running":
            return await self._recall(turn)
        return await self._play(await self._agent.resume(turn, conversation, person))

    async def _recall(self, turn: StoredTurn) -> Answer:
        """Return the end of a turn that is on disk."""

        def look(connection: Connection) -> Answer:
            is_answer = turn.state == "answered"
            return Answer(
                text=delegated_turns.find_answer(connection, turn_id=turn.id) if is_answer else "",
                ending=cast(Ending, turn.state),
                reason=turn.reason,
                detail=turn.detail,
                turn_id=turn.id,
                tools=_list_tools(connection, turn.id),
                is_new=False,
            )

        return await self.database.read(look)

    async def _begin(self, person: Person, conversation: Conversation, text: str) -> ActiveTurn:
        """Begin a turn on disk, so that a crash loses no message."""
        now = self._now()
        prepared = await self._agent.prepare(conversation, person, platform=PLATFORM)
        facts = compose_facts(
            FactInputs(
                now=now,
                zone=person.time_zone or "UTC",
                platform=PLATFORM,
                is_direct=True,
                author=name_caller(person.id, person.name),
                news=(*prepared.news, *await self._agent.recall_past(prepared, text)),
            )
        )
        said = (user_message(escape(text), facts=facts),)
        new = NewTurn(prepared=prepared, said=said, now=now)
        active = self._agent.create_turn(prepared, new.said)
        chat = Chat(platform=PLATFORM, address=person.slug)
        asked = TurnRequest(person_id=person.id, account_id=None, place=Place(chat=chat))
        active.journal.begin_with(partial(insert_turn, new=new, asked=asked))
        await active.journal.begin()
        return active

    async def _play(self, active: ActiveTurn) -> Answer:
        """Run a turn to its end, and write it."""
        try:
            with use_turn(active.id):
                ended = await self._agent.run(active, self.host, _show_nothing)
        except BaseException:
            await finish(active.journal.write_off())
            raise
        if ended.ending == "suspended":
            await active.journal.write_off()
            raise TurnSuspended
        return await finish(self._end(active, ended))

    async def _end(self, active: ActiveTurn, ended: TurnEnded) -> Answer:
        ending = (ended.ending, ended.reason, ended.detail)

        def write(connection: Connection) -> Answer:
            state = self._agent.finalize(
                connection, active, ending=ending, notice="", now=self._now()
            )
            if state:
                self._agent.cache_session(active, state)
            is_answer = ended.ending == "answered"
            return Answer(
                text=ended.text if is_answer else "",
                ending=ended.ending,
                reason=ended.reason,
                detail=ended.detail,
                turn_id=active.id,
                tools=_list_tools(connection, active.id),
            )

        return await self.database.write("library.end", write)


async def _show_nothing(event: Event) -> None:
    """Take an event of a turn: nobody looks on."""


def _refuse_halves(what: str, name: str) -> None:
    """Raise `ValueError` for a name that can't be stored; repaired, it might be another's."""
    if repair_text(name) != name:
        raise ValueError(f"The name of the {what} holds half of a character.")


def _prepare(home: Path, instructions: str) -> Path:
    """Make the folder with its SOUL.md; return its absolute path."""
    home = home.absolute()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    soul = home / "SOUL.md"
    seen = read_file(soul)
    if instructions and (seen == ABSENT or seen.text.strip() != instructions.strip()):
        soul.write_text(instructions.strip() + "\n", encoding="utf-8")
    return home


def _list_tools(connection: Connection, turn_id: TurnId) -> tuple[str, ...]:
    return tuple(step.name for step in turns.list_steps(connection, turn_id=turn_id))


def _ensure_person(
    connection: Connection, name: str, off: Sequence[str], now: int
) -> tuple[Person, Conversation]:
    person = people.find_by_account(connection, platform=PLATFORM, user_id=name)
    if person is None:
        slug = "".join(one if one.isalnum() else "-" for one in name.lower()).strip("-") or YOU
        person = people.insert(connection, slug=slug[:60], name=name, role="member", now=now)
        account = NewAccount(
            platform=PLATFORM, user_id=name, display_name=name, admitted_by="local"
        )
        people.attach_account(connection, account, person_id=person.id, now=now)
        if off:
            people.switch_tools_off(connection, person_id=person.id, names=off)
            person = people.find(connection, person_id=person.id) or person
    conversation = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key=sessions.name_direct(person.id),
            kind="direct",
            person_id=person.id,
            is_direct=True,
        ),
        now=now,
    )
    return person, conversation
