"""The agent: takes a person's words, runs one turn over their history, and settles it."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial

from agent_core.agent.active_turn import (
    ActiveTurn,
    AgentConfig,
    PreparedTurn,
    Toolboxes,
    TurnContextWindow,
    find_own_messages,
    limits_for,
    policy_for,
)
from agent_core.agent.caches import IdAllocator, ImageCache, SessionCache, SessionState, find_room
from agent_core.agent.compaction.compacted_view import apply_compaction, is_fresh
from agent_core.agent.journal import TurnJournal
from agent_core.agent.loop.contract import LoopDeps, TurnInput
from agent_core.agent.loop.guards import Budget
from agent_core.agent.loop.loop import Loop
from agent_core.agent.prompt.context import PromptContext, dump_shown
from agent_core.agent.prompt.facts import describe_searchable
from agent_core.agent.prompt.prompt_cache import PromptCache, PromptConfig, dump_tools
from agent_core.events import Ending, Event
from agent_core.host import Host
from agent_core.ids import CallId, PersonId, RoomId
from agent_core.memory.archive.inventory import VisibleMessages
from agent_core.memory.shared import SharedMemory
from agent_core.models.contract import Model
from agent_core.models.fingerprint import Fingerprints
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import messages, sessions, turns, usage
from agent_core.state.conversations.messages import START, Shelf, StoredMessage
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import Asked, Turn, TurnState
from agent_core.state.conversations.usage import Total
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.contract import ToolResult
from agent_core.transcript import Message


class Agent:
    """One agent for everyone; whose turn it is comes in with every call."""

    def __init__(
        self,
        *,
        setup: AgentConfig,
        database: Database,
        model: Model,
        toolboxes: Toolboxes,
        memory: SharedMemory,
        now: Callable[[], int],
    ) -> None:
        self._setup = setup
        self._database = database
        self._model = model
        self._toolboxes = toolboxes
        self._memory = memory
        self._now = now
        self._price = setup.quotas.prices.cost
        self._sessions = SessionCache(database)
        self._compactor = setup.compactor
        self._external_memory = setup.external_memory
        self._pictures = ImageCache(database)
        self._fingerprints = Fingerprints()
        ground = PromptConfig(
            home=setup.home,
            cache_ttl=setup.cache_ttl,
            context_folder=setup.context_folder,
            context_files=setup.context_files,
            context_limit=setup.context_limit,
        )
        self._freezer = PromptCache(ground, database=database, memory=memory, now=now)

    async def id_allocator(self) -> IdAllocator:
        """Where whoever writes turns besides the agent has their numbers from.

        Raises `StoreError`.
        """
        return await self._sessions.id_allocator()

    async def prepare(
        self,
        conversation: Conversation,
        person: Person,
        *,
        platform: str,
        room_id: RoomId | None = None,
        job_turn: JobTurn | None = None,
    ) -> PreparedTurn:
        """Read the open session, and freeze a new prompt where the old one may not stand.

        `room_id` is where the turn is held, for a direct talk that goes on in a room; other
        talks know that themselves. Raises `StoreError`.
        """
        standing = await self._sessions.look_up(
            conversation, conversation.room_id or room_id, is_afresh=job_turn is not None
        )
        context = PromptContext(
            conversation=conversation, person=person, room=standing.room, platform=platform
        )
        # What an outside memory makes of a person is for talks that are theirs alone.
        external_memory = (
            self._external_memory if conversation.is_private and not job_turn else None
        )
        if external_memory:
            external_memory.expect(person.id)
        tools = self._toolboxes.select(conversation, job_turn).specs
        session, history = standing.session, standing.transcript
        compaction = (
            await self._compactor.find(session.id, conversation.person_id) if session else None
        )
        warm = None if is_fresh(history, compaction) else session
        given = await self._freezer.give(context, warm, tools, history)
        view = VisibleMessages(
            messages=history, summarized_to=compaction.summarized_to if compaction else START
        )
        stock = await describe_searchable(self._toolboxes.inventory, context, view, self._now())
        heard = (
            await external_memory.recall(person.id, apply_compaction(history, compaction))
            if external_memory
            else ()
        )
        return PreparedTurn(
            context=context,
            session=session,
            prompt=given.prompt,
            history=history,
            compaction=compaction,
            news=(*given.news, *stock, *heard),
        )

    def create_turn(
        self, prepared: PreparedTurn, said: tuple[Message, ...], job_turn: JobTurn | None = None
    ) -> ActiveTurn:
        """A turn over what its person said. It runs as it is; its journal has to be told how
        it is begun (see `begin`) before anything of it is written.
        """
        context, session = prepared.context, prepared.session
        conversation = context.conversation
        shelf = Shelf(
            session_id=session.id if session else self._sessions.numbers.next_session(),
            turn_id=self._sessions.numbers.next_turn(),
            person_id=conversation.person_id,
            conversation_id=conversation.id,
            platform=context.platform,
            audience=context.audience,
        )
        if session is None:
            self._compactor.note(shelf.session_id, None)
        journal = self._journal(shelf, conversation, payer_id=context.person.id, job_turn=job_turn)
        return ActiveTurn(
            id=shelf.turn_id,
            session_id=shelf.session_id,
            is_untitled=not (session and session.title),
            conversation=conversation,
            person=context.person,
            memory_owner=context.memory_owner,
            journal=journal,
            window=TurnContextWindow(self._compactor, journal.shelf, context.person, journal.begin),
            prompt=prepared.prompt,
            messages=(*apply_compaction(prepared.history, prepared.compaction), *said),
            own=len(said),
            outcomes={},
            begun=frozenset(),
            evidence=_words(said),
            ground=prepared,
            job_turn=job_turn,
        )

    def insert_turn(self, connection: Connection, turn: ActiveTurn, asked: Asked, now: int) -> None:
        """Write down that a drafted turn begins, within the caller's transaction."""
        assert turn.ground  # noqa: S101 - a drafted turn has one
        asked = replace(asked, turn_id=turn.id)
        _open_session(connection, turn, turn.ground, asked, now)
        turns.insert(
            connection,
            conversation=turn.conversation,
            session_id=turn.session_id,
            asked=asked,
            prompt_hash=turn.prompt.hash,
            now=now,
        )
        turn.journal.append(connection, turn.messages[-turn.own :], now)

    async def resume(
        self,
        turn: Turn,
        conversation: Conversation,
        person: Person,
        job_turn: JobTurn | None = None,
    ) -> ActiveTurn:
        """Take up a turn where an earlier process left it. Raises `StoreError`."""

        def look(
            connection: Connection,
        ) -> tuple[list[StoredMessage], list[turns.Step], Total, Room | None]:
            return (
                messages.list_session(
                    connection, session_id=turn.session_id, person_id=conversation.person_id
                ),
                turns.list_steps(connection, turn_id=turn.id),
                usage.total_of_turn(connection, turn_id=turn.id),
                find_room(connection, conversation.room_id),
            )

        history, steps, spent, room = await self._database.read(look)
        compaction = await self._compactor.find(turn.session_id, conversation.person_id)
        assert turn.prompt_hash is not None  # noqa: S101 - a begun turn has one
        prompt = await self._freezer.read(turn.prompt_hash)
        outcomes = _outcomes(steps)
        context = PromptContext(
            conversation=conversation, person=person, room=room, platform=turn.platform
        )
        shelf = Shelf(
            session_id=turn.session_id,
            turn_id=turn.id,
            person_id=conversation.person_id,
            conversation_id=turn.conversation_id,
            platform=turn.platform,
            audience=context.audience,
        )
        journal = self._journal(shelf, conversation, payer_id=person.id, job_turn=job_turn)
        own = find_own_messages(history, compaction, turn.id)
        journal.resume(own.open_calls, outcomes)
        return ActiveTurn(
            id=turn.id,
            session_id=turn.session_id,
            is_untitled=False,
            conversation=conversation,
            person=person,
            memory_owner=context.memory_owner,
            journal=journal,
            window=TurnContextWindow(self._compactor, journal.shelf, person, journal.begin),
            prompt=prompt,
            messages=apply_compaction(history, compaction),
            own=own.shown,
            answers=own.answers,
            outcomes=outcomes,
            begun=frozenset(step.call_id for step in steps if step.outcome is None),
            evidence=_words(own.messages),
            job_turn=job_turn,
            spent=spent,
        )

    def run(self, turn: ActiveTurn, host: Host) -> AsyncGenerator[Event, None]:
        """Run a turn to its end; the last event says how it ended."""
        deps = LoopDeps(
            model=self._model,
            policy=policy_for(self._setup.policy, turn.job_turn),
            toolbox=self._toolboxes.select(turn.conversation, turn.job_turn),
            price=self._price,
            now=self._now,
            load_images=self._pictures.load_images,
            reserve=partial(self._setup.quotas.reserve, turn.person.id),
            fingerprints=self._fingerprints,
        )
        started = time.monotonic()
        limits = limits_for(self._setup.limits, turn.job_turn)
        budget = Budget(limits, started=started, clock=time.monotonic)
        if turn.spent:
            tokens = turn.spent.input_tokens + turn.spent.output_tokens
            budget.spend(tokens, turn.spent.micro_dollars)
        loop = Loop(deps, journal=turn.journal, host=host, budget=budget, window=turn.window)
        return loop.run(
            TurnInput(
                system=turn.prompt.system,
                tools=turn.prompt.tools,
                messages=turn.messages,
                outcomes=turn.outcomes,
                begun=turn.begun,
                person_id=turn.person.id,
                owner_id=turn.conversation.person_id,
                memory_owner=turn.memory_owner,
                conversation_id=turn.conversation.id,
                scope=turn.conversation.scope,
                turn_id=turn.id,
                evidence=turn.evidence,
                own=turn.own,
                answers=turn.answers,
                prompt_hash=turn.prompt.hash,
            )
        )

    def finalize(
        self,
        connection: Connection,
        turn: ActiveTurn,
        *,
        ending: tuple[Ending, str],
        told: str,
        now: int,
        is_fresh: bool = False,
    ) -> SessionState | None:
        """Write down how a turn ended, within the caller's transaction.

        `ending` is (how, reason); `told` is the sentence the person reads where there is
        no answer of the model's own. One that `is_fresh` was begun in the same transaction.
        Gives how its talk stands now, for `leave`; None where
        that has to be read anew.
        """
        state, reason = ending
        if state == "suspended":
            raise ValueError("a suspended turn is not settled; it goes on at the next start")
        ended: TurnState = state
        turn.journal.finalize(connection, told=told, now=now)
        # The provider's cache is warm from the last call on, not from the turn's beginning.
        session_id, prompt_hash = turn.session_id, turn.prompt.hash
        if is_fresh:  # it has the prompt: it was begun with it
            sessions.use(connection, session_id=session_id, now=now)
        else:
            sessions.touch(connection, session_id=session_id, prompt_hash=prompt_hash, now=now)
        turns.end(
            connection,
            turn_id=turn.id,
            state=ended,
            reason=reason,
            model=turn.journal.model,
            now=now,
        )
        if (
            self._external_memory
            and turn.job_turn is None
            and turn.conversation.person_id == turn.person.id
        ):
            self._external_memory.enqueue_turn(connection, turn.id, turn.person.id)
        ground = turn.ground
        session = sessions.find_open(connection, conversation_id=turn.conversation.id)
        if ground is None or session is None or session.id != session_id:
            return None
        if is_fresh:
            return SessionState(session, (*ground.history, *turn.journal.list_added()), None)
        added = messages.list_session(
            connection,
            session_id=session_id,
            person_id=turn.conversation.person_id,
            after=ground.history[-1].id if ground.history else START,
        )
        return SessionState(session, (*ground.history, *added), None)

    def cache_session(self, turn: ActiveTurn, standing: SessionState) -> None:
        """Keep a talk at hand as a settled turn has left it: the next one need not read it."""
        self._sessions.store(turn.conversation.id, standing)
        if self._external_memory:
            self._external_memory.ring()

    def clear_caches(self) -> None:
        """Words, files or people are gone: nothing that was read of them is kept at hand."""
        self._sessions.clear()
        self._freezer.forget()
        self._pictures.forget()
        if self._external_memory:
            self._external_memory.forget()

    def invalidate_conversations(self) -> None:
        """Something was done to talks from outside: the next turns read theirs anew."""
        self._sessions.forget()
        self._compactor.forget()
        self._toolboxes.inventory.forget()

    def _journal(
        self,
        shelf: Shelf,
        conversation: Conversation,
        *,
        payer_id: PersonId,
        job_turn: JobTurn | None,
    ) -> TurnJournal:
        return TurnJournal(
            database=self._database,
            shelf=shelf,
            payer_id=payer_id,
            tools=self._toolboxes.select(conversation, job_turn),
            price=self._price,
            now=self._now,
        )


def _outcomes(steps: Sequence[turns.Step]) -> dict[CallId, ToolResult]:
    return {
        step.call_id: ToolResult(text=step.outcome, is_error=step.is_error)
        for step in steps
        if step.outcome is not None
    }


def _words(said: tuple[Message, ...]) -> str:
    return "\n".join(message.text for message in said if message.role == "user")


def _open_session(
    connection: Connection, turn: ActiveTurn, ground: PreparedTurn, asked: Asked, now: int
) -> None:
    """The session that a turn begins in, with the prompt that it begins with."""
    session, prompt = ground.session, turn.prompt
    if session is None:
        sessions.insert(
            connection,
            conversation_id=turn.conversation.id,
            session_id=turn.session_id,
            account_id=asked.account_id,
            now=now,
        )
    if session is None or session.prompt_hash != prompt.hash:
        sessions.insert_prompt(
            connection,
            prompt_hash=prompt.hash,
            system=prompt.system,
            tools=dump_tools(prompt.tools),
            shown=dump_shown(prompt.shown),
            now=now,
        )
        sessions.touch(connection, session_id=turn.session_id, prompt_hash=prompt.hash, now=now)
