"""The agent: takes a person's words, runs one turn over their history, and settles it."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_core.budget import Budget, Limits
from agent_core.events import Ending, Event
from agent_core.history import History
from agent_core.host import Host
from agent_core.ids import CallId, SessionId, TurnId
from agent_core.journal import TurnJournal
from agent_core.loop.contract import Assignment, Course, Equipment
from agent_core.loop.turn import Loop
from agent_core.memory.store import MemoryStore
from agent_core.models.contract import Model
from agent_core.models.prices import cost
from agent_core.pictures import Pictures
from agent_core.prompt.compose import PromptInputs, compose
from agent_core.prompt.context import read_context
from agent_core.prompt.frozen import FrozenPrompt, FrozenPrompts, dump_tools, freeze
from agent_core.prompt.soul import ensure_soul
from agent_core.state import messages, sessions, turns, usage
from agent_core.state.database import Connection, Database
from agent_core.state.messages import START, Shelf, StoredMessage
from agent_core.state.people import Person
from agent_core.state.sessions import Conversation, Session
from agent_core.state.turns import Asked, Turn, TurnState
from agent_core.state.usage import Total
from agent_core.tools.contract import ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, ToolCallPart

_CACHE_LASTS = {"5m": 300_000, "1h": 3_600_000}
"""Milliseconds that a provider keeps a prompt after its last use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How this house wants its agent. `cache_ttl` is how long a provider keeps a prompt."""

    home: Path
    course: Course
    limits: Limits
    cache_ttl: str
    context_folder: Path | None
    context_files: tuple[str, ...]
    context_limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that a turn needs to know before it is begun."""

    conversation: Conversation
    person: Person
    session: Session | None
    prompt: FrozenPrompt
    history: tuple[StoredMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTurn:
    """A turn that has been begun, in this process or in an earlier one."""

    id: TurnId
    session_id: SessionId
    is_untitled: bool
    conversation: Conversation
    person: Person
    journal: TurnJournal
    prompt: FrozenPrompt
    messages: tuple[Message, ...]
    own: int
    """How many of the messages, counted from the end, this turn has added."""
    outcomes: Mapping[CallId, ToolResult]
    begun: frozenset[CallId]
    evidence: str
    spent: Total | None = None
    """What an earlier process spent on it; this counts against its limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolboxes:
    """What may be used where: a room's box holds no tool that shows private things."""

    private: Toolbox
    room: Toolbox

    def of(self, conversation: Conversation) -> Toolbox:
        """The box of a conversation."""
        return self.private if conversation.is_private else self.room


class Agent:
    """One agent for everyone; whose turn it is comes in with every call."""

    def __init__(
        self,
        *,
        setup: Setup,
        database: Database,
        model: Model,
        toolboxes: Toolboxes,
        memory: MemoryStore,
        now: Callable[[], int],
    ) -> None:
        self._setup = setup
        self._database = database
        self._model = model
        self._toolboxes = toolboxes
        self._memory = memory
        self._now = now
        self._price = partial(cost, cache_ttl=setup.cache_ttl)
        self._history = History()
        self._pictures = Pictures(database)
        self._prompts = FrozenPrompts(database)

    async def prepare(
        self, conversation: Conversation, person: Person, *, platform: str
    ) -> Prepared:
        """Read the open session, and freeze a new prompt where the old one is cold.

        Raises `StoreError`.
        """

        def look(connection: Connection) -> tuple[Session | None, tuple[StoredMessage, ...]]:
            session = sessions.find_open(connection, conversation_id=conversation.id)
            if session is None:
                return None, ()
            known = self._history.recall(session.id)
            fresh = messages.list_session(
                connection,
                session_id=session.id,
                person_id=person.id,
                after=known[-1].id if known else START,
            )
            return session, (*known, *fresh)

        session, history = await self._database.read(look)
        if session:
            self._history.keep(session.id, history)
        prompt = await self._find_warm(session, self._toolboxes.of(conversation))
        if prompt is None:
            prompt = await self._compose(conversation, person, platform)
        return Prepared(
            conversation=conversation,
            person=person,
            session=session,
            prompt=prompt,
            history=history,
        )

    def begin(
        self,
        connection: Connection,
        prepared: Prepared,
        *,
        asked: Asked,
        said: tuple[Message, ...],
        now: int,
    ) -> ActiveTurn:
        """Write down that a turn begins, within the caller's transaction.

        `said` are the person's messages.
        """
        conversation, prompt = prepared.conversation, prepared.prompt
        session_id = _open_session(connection, prepared, asked, now)
        turn_id = turns.insert(
            connection,
            conversation=conversation,
            session_id=session_id,
            asked=asked,
            prompt_hash=prompt.hash,
            now=now,
        )
        shelf = Shelf(
            session_id=session_id,
            turn_id=turn_id,
            person_id=prepared.person.id,
            conversation_id=conversation.id,
            platform=asked.place[0],
        )
        messages.append(connection, shelf, said, now=now)
        return ActiveTurn(
            id=turn_id,
            session_id=session_id,
            is_untitled=not (prepared.session and prepared.session.title),
            conversation=conversation,
            person=prepared.person,
            journal=self._journal(shelf, conversation),
            prompt=prompt,
            messages=(*(stored.message for stored in prepared.history), *said),
            own=len(said),
            outcomes={},
            begun=frozenset(),
            evidence=_words(said),
        )

    async def resume(self, turn: Turn, conversation: Conversation, person: Person) -> ActiveTurn:
        """Take up a turn where an earlier process left it. Raises `StoreError`."""

        def look(
            connection: Connection,
        ) -> tuple[list[StoredMessage], list[turns.Step], Total]:
            return (
                messages.list_session(
                    connection, session_id=turn.session_id, person_id=turn.person_id
                ),
                turns.list_steps(connection, turn_id=turn.id),
                usage.total_of_turn(connection, turn_id=turn.id),
            )

        history, steps, spent = await self._database.read(look)
        assert turn.prompt_hash is not None  # noqa: S101 - a begun turn has one
        prompt = await self._prompts.read(turn.prompt_hash)
        outcomes = {
            step.call_id: ToolResult(text=step.outcome, is_error=step.is_error)
            for step in steps
            if step.outcome is not None
        }
        shelf = Shelf(
            session_id=turn.session_id,
            turn_id=turn.id,
            person_id=turn.person_id,
            conversation_id=turn.conversation_id,
            platform=turn.platform,
        )
        journal = self._journal(shelf, conversation)
        own = [stored.message for stored in history if stored.turn_id == turn.id]
        open_calls: tuple[ToolCallPart, ...] = own[-1].calls if own else ()
        journal.resume(open_calls, outcomes)
        return ActiveTurn(
            id=turn.id,
            session_id=turn.session_id,
            is_untitled=False,
            conversation=conversation,
            person=person,
            journal=journal,
            prompt=prompt,
            messages=tuple(stored.message for stored in history),
            own=len(own),
            outcomes=outcomes,
            begun=frozenset(step.call_id for step in steps if step.outcome is None),
            evidence=_words(tuple(own)),
            spent=spent,
        )

    def run(self, turn: ActiveTurn, host: Host) -> AsyncGenerator[Event, None]:
        """Run a turn to its end; the last event says how it ended."""
        equipment = Equipment(
            model=self._model,
            course=self._setup.course,
            toolbox=self._toolboxes.of(turn.conversation),
            price=self._price,
            now=self._now,
            show=self._pictures.show,
        )
        started = time.monotonic()
        budget = Budget(self._setup.limits, started=started, clock=time.monotonic)
        if turn.spent:
            tokens = turn.spent.input_tokens + turn.spent.output_tokens
            budget.spend(tokens, turn.spent.micro_dollars)
        loop = Loop(equipment, journal=turn.journal, host=host, budget=budget)
        return loop.run(
            Assignment(
                system=turn.prompt.system,
                tools=turn.prompt.tools,
                messages=turn.messages,
                outcomes=turn.outcomes,
                begun=turn.begun,
                person_id=turn.person.id,
                person_slug=turn.person.slug,
                conversation_id=turn.conversation.id,
                scope=turn.conversation.scope,
                turn_id=turn.id,
                evidence=turn.evidence,
                own=turn.own,
            )
        )

    def settle(
        self,
        connection: Connection,
        turn: ActiveTurn,
        *,
        ending: tuple[Ending, str],
        told: str,
        now: int,
    ) -> None:
        """Write down how a turn ended, within the caller's transaction.

        `ending` is (how, reason); `told` is the sentence the person reads where there is
        no answer of the model's own.
        """
        state, reason = ending
        if state == "suspended":
            raise ValueError("a suspended turn is not settled; it goes on at the next start")
        ended: TurnState = state
        turn.journal.settle(connection, told=told, now=now)
        # The provider's cache is warm from the last call on, not from the turn's beginning.
        sessions.touch(
            connection, session_id=turn.session_id, prompt_hash=turn.prompt.hash, now=now
        )
        turns.end(
            connection,
            turn_id=turn.id,
            state=ended,
            reason=reason,
            model=turn.journal.model,
            now=now,
        )

    async def _find_warm(self, session: Session | None, toolbox: Toolbox) -> FrozenPrompt | None:
        """The session's prompt if the provider may still have it, and the tools are the same."""
        if session is None or session.prompt_hash is None:
            return None
        if self._now() - session.last_at > _CACHE_LASTS[self._setup.cache_ttl]:
            return None
        prompt = await self._prompts.read(session.prompt_hash)
        return prompt if prompt.tools == toolbox.specs else None

    async def _compose(
        self, conversation: Conversation, person: Person, platform: str
    ) -> FrozenPrompt:
        """A fresh prompt. What a room's other people may not see does not enter it."""
        setup = self._setup
        snapshot = (
            await self._memory.snapshot(person.id, person.slug, self._now())
            if conversation.is_private
            else None
        )
        soul = await ensure_soul(setup.home)
        context = (
            await read_context(setup.context_folder, setup.context_files, setup.context_limit)
            if setup.context_folder
            else ()
        )
        tools = self._toolboxes.of(conversation).specs
        inputs = PromptInputs(
            soul=soul,
            snapshot=snapshot,
            context=context,
            platform=platform,
            tools=tuple(spec.name for spec in tools),
        )
        prompt = freeze(compose(inputs), tools)
        self._prompts.remember(prompt)
        return prompt

    def _journal(self, shelf: Shelf, conversation: Conversation) -> TurnJournal:
        return TurnJournal(
            database=self._database,
            shelf=shelf,
            effect=self._toolboxes.of(conversation).effect,
            price=self._price,
            now=self._now,
        )


def _words(said: tuple[Message, ...]) -> str:
    return "\n".join(message.text for message in said if message.role == "user")


def _open_session(connection: Connection, prepared: Prepared, asked: Asked, now: int) -> SessionId:
    """The session that a turn begins in, with the prompt that it begins with."""
    session, prompt = prepared.session, prepared.prompt
    session_id = (
        session.id
        if session
        else sessions.insert(
            connection,
            conversation_id=prepared.conversation.id,
            account_id=asked.account_id,
            now=now,
        )
    )
    if session is None or session.prompt_hash != prompt.hash:
        sessions.insert_prompt(
            connection,
            prompt_hash=prompt.hash,
            system=prompt.system,
            tools=dump_tools(prompt.tools),
            now=now,
        )
    sessions.touch(connection, session_id=session_id, prompt_hash=prompt.hash, now=now)
    return session_id
