"""The agent: prepares, runs, resumes and finalizes turns."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from agent_core.agent.budget import Budget, Limits
from agent_core.agent.caches import ImageCache, SessionCache, SessionState, find_room
from agent_core.agent.claims.check import ClaimCheck
from agent_core.agent.claims.deeds import read_deeds
from agent_core.agent.compaction.compactor import Compactor, apply_compaction, is_fresh
from agent_core.agent.compaction.context_window import TurnContextWindow
from agent_core.agent.delegation import MOST_AT_ONCE, HelperTurns
from agent_core.agent.history import Told
from agent_core.agent.journal import TurnJournal
from agent_core.agent.loop.loop import Loop
from agent_core.agent.named.folder import AgentFolder, load_agent
from agent_core.agent.named.mail import AgentMail
from agent_core.agent.outcomes import note_outcomes
from agent_core.agent.prompt.message_facts import (
    count_searchable,
    describe_counts,
    describe_recalled,
    find_visible,
)
from agent_core.agent.prompt.prompt_cache import FrozenPrompt, PromptCache
from agent_core.agent.prompt.reminder_news import find_reminder_news
from agent_core.agent.prompt.visibility import PromptContext, Reported
from agent_core.agent.quotas.reservations import Quotas
from agent_core.agent.resumed_turn import find_own_messages, list_results
from agent_core.agent.toolboxes import Toolboxes
from agent_core.agent.turn import ActiveTurn, PreparedTurn, make_place
from agent_core.agent.wishes import NO_WISHES, ProgramWishes
from agent_core.events import Emit, Ending, Host, TurnEnded
from agent_core.ids import PersonId, RoomId, TurnId
from agent_core.memory.archive.conclusions import LocalUserModel
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.memory.recall.turn_recall import TurnRecall
from agent_core.models.contract import Model
from agent_core.models.fingerprints import Fingerprints
from agent_core.models.router import ModelPolicy
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import delegated_turns, messages, sessions, turns, usage
from agent_core.state.conversations.messages import StoredMessage, TranscriptPlace
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn, TurnState
from agent_core.state.conversations.usage import Total
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message


class Agent:
    """The agent of all people; each call names the conversation and the person."""

    def __init__(
        self,
        *,
        database: Database,
        model: Model,
        policy: ModelPolicy,
        models: tuple[str, ...] = (),
        job_patience: float = 86_400.0,
        limits: Limits,
        quotas: Quotas,
        toolboxes: Toolboxes,
        prompts: PromptCache,
        sessions: SessionCache,
        compactor: Compactor,
        recall_tokens: int = 0,
        external_memory: ExternalMemory | None = None,
        user_model: LocalUserModel | None = None,
        agents: AgentFolder,
        agent_mail: AgentMail,
        note_end: Callable[[Connection, TurnId, PersonId, int], None] | None = None,
        now: Callable[[], int],
    ) -> None:
        """`models` are those that people and jobs may choose. `job_patience` is in seconds: that
        long, the turn of a job waits while no model answers. `recall_tokens` is the most tokens of
        past messages in the facts of a turn. `user_model` holds conclusions about people, unless
        an external memory knows them. `note_end` is called in the transaction that ends a turn.
        """
        self._database = database
        self._model = model
        self._policy = policy
        self._models = models
        self._job_patience = job_patience
        self._limits = limits
        self._quotas = quotas
        self.toolboxes = toolboxes
        self._prompts = prompts
        self._sessions = sessions
        self._compactor = compactor
        self._recall = TurnRecall(database, recall_tokens)
        self._external_memory = external_memory
        self._user_model = user_model
        self._agents = agents
        self._agent_mail = agent_mail
        self.note_end = note_end or (lambda *_: None)
        self._now = now
        self._images = ImageCache(database)
        self._fingerprints = Fingerprints()
        self._faulty: set[str] = set()

    async def prepare(
        self,
        conversation: Conversation,
        person: Person,
        *,
        platform: str,
        room_id: RoomId | None = None,
        job_turn: JobTurn | None = None,
        wishes: ProgramWishes = NO_WISHES,
    ) -> PreparedTurn:
        """Load the open session, and build a new prompt if the cached one is no longer valid.

        `room_id` names the room of a private conversation that continues there; other conversations
        know their room. Raises `StoreError`, and `AgentBroken` if a named agent can't be used.
        """
        state = await self._sessions.look_up(
            conversation, conversation.room_id or room_id, is_afresh=job_turn is not None
        )
        context = PromptContext(
            conversation=conversation,
            person=person,
            room=state.room,
            platform=platform,
            agent=await load_agent(self._agents, conversation, job_turn),
        )
        # The user model knows private things; a room or a job must not show them.
        is_own = conversation.is_private and not job_turn
        if is_own and self._external_memory:
            self._external_memory.prefetch(person.id)
        toolbox = self.toolboxes.open(context, job_turn, client=wishes.client_tools)
        session = state.session
        compaction = (
            await self._compactor.find(session.id, conversation.person_id) if session else None
        )
        history = state.history.under(compaction)
        shown, reported = history.messages, history.told.reported
        warm = None if is_fresh(shown, compaction) else session
        given = await self._prompts.find_with_news(
            context, session, warm, toolbox.specs, reported, toolbox.still_offers
        )
        own: tuple[str, ...] = ()
        if is_own:
            own = await find_reminder_news(self._database, person.id, session, history.newest)
        view, zone = find_visible(shown, compaction), person.time_zone or "UTC"
        counts = await count_searchable(self.toolboxes.inventory, context, view, self._now())
        recalled: tuple[str, ...] = ()
        if is_own and (user_model := self._external_memory or self._user_model):
            recalled = await user_model.recall(person.id, apply_compaction(shown, compaction))
        return PreparedTurn(
            context=context,
            session=session,
            prompt=given.prompt,
            history=history,
            toolbox=toolbox,
            compaction=compaction,
            news=(*given.news, *own, *describe_counts(counts, zone), *recalled),
            has_searchable=bool(counts.messages),
            wishes=_adapt(wishes, toolbox),
        )

    def suggest_skills(self, prepared: PreparedTurn, request: str) -> tuple[str, ...]:
        """Return the line for the facts on skills that fit; see `PromptCache`."""
        return self._prompts.suggest_skills(prepared.prompt, request)

    async def recall_past(self, prepared: PreparedTurn, request: str) -> tuple[str, ...]:
        """Return the lines for the facts on past messages that a request refers to.

        None if the prompt shows all messages, or has no tool to search. Raises `StoreError`.
        """
        tools = {spec.name for spec in prepared.prompt.tools}
        if not prepared.has_searchable or RecallTool.spec.name not in tools:
            return ()
        view = find_visible(prepared.history.messages, prepared.compaction)
        return await describe_recalled(self._recall, prepared.context, view, request)

    def create_turn(
        self, prepared: PreparedTurn, said: tuple[Message, ...], job_turn: JobTurn | None = None
    ) -> ActiveTurn:
        """Create a turn for a person's messages. It is not on disk yet: pass `insert_turn` to its
        journal before it runs.
        """
        context, session = prepared.context, prepared.session
        numbers = self._sessions.numbers
        session_id = session.id if session else numbers.next_session()
        shelf = make_place(context, session_id, numbers.next_turn())
        if session is None:
            self._compactor.remember(shelf.session_id, None)
        journal = self._journal(shelf, prepared.toolbox, prepared.prompt, context.person.id)
        journal.note_sources(said, prepared.history.told.sources)
        journal.note_words(said)
        if job_turn is None and context.conversation.is_private and not context.is_shared:
            journal.note_present(said, prepared.shown)
        return ActiveTurn(
            id=shelf.turn_id,
            session_id=shelf.session_id,
            is_untitled=not (session and session.title),
            context=context,
            memory_owner=context.tool_owner,
            journal=journal,
            toolbox=prepared.toolbox,
            window=TurnContextWindow(self._compactor, journal, context.person, prepared.compaction),
            prompt=prepared.prompt,
            messages=(*prepared.shown, *said),
            own_count=len(said),
            wishes=prepared.wishes,
            read_news=self._watch_blocks(context, prepared.prompt, prepared.history.told.reported),
            prepared=prepared,
            job_turn=job_turn,
        )

    def _watch_blocks(
        self, context: PromptContext, prompt: FrozenPrompt, told: Reported
    ) -> Callable[[Sequence[Message]], Awaitable[tuple[str, ...]]] | None:
        """Return what finds changes of blocks for a running turn of a named agent; else None."""
        if context.agent is None:
            return None
        return partial(self._prompts.find_block_news, context, prompt, told)

    async def resume(
        self,
        turn: StoredTurn,
        conversation: Conversation,
        person: Person,
        job_turn: JobTurn | None = None,
        wishes: ProgramWishes = NO_WISHES,
    ) -> ActiveTurn:
        """Load a turn that an earlier process began. Raises `StoreError`."""

        def look(c: Connection) -> tuple[list[StoredMessage], list[turns.Step], Total, Room | None]:
            person_id = conversation.person_id
            return (
                messages.list_session(c, session_id=turn.session_id, person_id=person_id),
                turns.list_steps(c, turn_id=turn.id),
                usage.total_of_turn(c, turn_id=turn.id),
                find_room(c, conversation.room_id),
            )

        history, steps, spent, room = await self._database.read(look)
        compaction = await self._compactor.find(turn.session_id, conversation.person_id)
        assert turn.prompt_hash is not None  # noqa: S101 - a begun turn has one
        prompt = await self._prompts.read(turn.prompt_hash)
        results = list_results(steps)
        context = PromptContext(
            conversation=conversation,
            person=person,
            room=room,
            platform=turn.place.chat.platform,
            agent=await load_agent(self._agents, conversation, job_turn, is_begun=True),
        )
        shelf = make_place(context, turn.session_id, turn.id)
        toolbox = self.toolboxes.open(context, job_turn, steps, wishes.client_tools)
        journal = self._journal(shelf, toolbox, prompt, person.id)
        own = find_own_messages(history, compaction, turn.id)
        journal.note_words(own.messages)
        if job_turn is None and conversation.is_private and not context.is_shared:
            journal.note_present(own.messages)
        journal.resume(own.open_calls, results, history, waiting_since=turn.waiting_since)
        journal.deeds = read_deeds(steps, toolbox)
        return ActiveTurn(
            id=turn.id,
            session_id=turn.session_id,
            context=context,
            memory_owner=context.tool_owner,
            journal=journal,
            toolbox=toolbox,
            window=TurnContextWindow(self._compactor, journal, person, compaction),
            prompt=prompt,
            messages=apply_compaction(history, compaction),
            own_count=own.shown,
            earlier_answers=own.answers,
            wishes=_adapt(wishes, toolbox),
            read_news=self._watch_blocks(context, prompt, Told().extend(history).reported),
            results=results,
            started=frozenset(step.call_id for step in steps if step.outcome is None),
            waiting_since=turn.waiting_since,
            job_turn=job_turn,
            spent=spent,
        )

    async def run(
        self, turn: ActiveTurn, host: Host, emit: Emit, budget: Budget | None = None
    ) -> TurnEnded:
        """Run a turn and return its ending; `emit` gets its events.

        `budget` is set for helpers only. Raises what `Loop.run` raises.
        """
        budget = budget or self._make_budget(turn)
        make_helpers = partial(
            HelperTurns,
            agent=self,
            database=self._database,
            sessions=self._sessions,
            mail=self._agent_mail,
            now=self._now,
            parent=turn,
            budget=budget,
            host=host,
            places=asyncio.Semaphore(MOST_AT_ONCE),
        )
        if turn.spent:
            tokens = turn.spent.input_tokens + turn.spent.output_tokens
            budget.spend(tokens, turn.spent.micro_dollars)
        loop = Loop(
            turn,
            model=self._model,
            policy=self._choose_policy(turn),
            toolbox=turn.toolbox,
            journal=turn.journal,
            window=turn.window,
            host=host,
            budget=budget,
            emit=emit,
            now=self._now,
            load_images=self._images.load_images,
            reserve=partial(self._quotas.reserve, turn.person.id),
            fingerprints=self._fingerprints,
            faulty=self._faulty,
            claims=ClaimCheck(reads_wishes=turn.job_turn is None and turn.parent is None),
            helpers=make_helpers if turn.agent or not turn.parent else None,
        )
        return await loop.run()

    def _choose_policy(self, turn: ActiveTurn) -> ModelPolicy:
        """Apply the model of a job, of a named agent, or that a person chose for private
        conversations.

        A choice that is no longer configured counts as none. A room keeps one model, because each
        change of it would void the provider's cache.
        """
        own = turn.agent.model if turn.agent else ""
        if turn.parent:  # which waits out an outage itself
            policy = self._choose_policy(turn.parent)
            return replace(policy, model=own or policy.model, patience=None)
        policy, job_turn, known = self._policy, turn.job_turn, self._models
        if job_turn:
            wanted = job_turn.model or own
            model = wanted if wanted in known else policy.model
            return replace(policy, model=model, patience=self._job_patience)
        chosen = own or (turn.person.model if turn.conversation.is_private else "")
        return replace(policy, model=chosen) if chosen in known else policy

    def _make_budget(self, turn: ActiveTurn) -> Budget:
        """Make a turn's budget; its money is capped by what its job may still spend today."""
        limits = self._limits
        left = turn.job_turn.micro_dollars if turn.job_turn else None
        if left is not None:
            most = min(limits.micro_dollars, left) if limits.micro_dollars else left
            limits = replace(limits, micro_dollars=max(most, 1))
        return Budget(limits, started=time.monotonic(), clock=time.monotonic)

    def finalize(
        self,
        connection: Connection,
        turn: ActiveTurn,
        *,
        ending: tuple[Ending, str, str],
        notice: str,
        now: int,
    ) -> SessionState | None:
        """Write a turn's end, within the caller's transaction.

        `ending` is (ending, reason, detail) of `TurnEnded`; `notice` is the sentence that the
        person reads instead of an answer of the model. Returns the session for `cache_session`;
        None if it must be read again.
        """
        state, reason, detail = ending
        if state == "suspended":
            raise ValueError("a suspended turn is not finalized; it resumes at the next start")
        ended: TurnState = state
        turn.journal.finalize(connection, notice=notice, now=now)
        # The provider's cache is warm from the turn's last call on, not from its beginning.
        session_id, conversation = turn.session_id, turn.conversation
        is_at_once = turn.journal.ending is not None
        if is_at_once:  # this transaction has inserted the turn with its prompt and its ending
            session = sessions.use(connection, session_id=session_id, now=now)
        else:
            delegated_turns.stop_all(connection, turn_id=turn.id, now=now)
            used = turn.prompt.hash
            sessions.touch(connection, session_id=session_id, prompt_hash=used, now=now)
            turns.end(connection, turn_id=turn.id, state=ended, reason=reason, now=now)
            session = sessions.find_open(connection, conversation_id=conversation.id)
        if sessions.has_used_skills(
            connection,
            conversation_id=conversation.id,
            person_id=turn.person.id,
            turn_id=turn.id,
        ):
            note_outcomes(connection, turn, ended, now)
        self.note_end(connection, turn.id, turn.person.id, now)
        if detail:
            turns.note_error(connection, turn_id=turn.id, detail=detail)
        if (
            self._external_memory
            and turn.job_turn is None
            and turn.parent is None
            and conversation.person_id == turn.person.id
        ):
            self._external_memory.enqueue_turn(connection, turn.id, turn.person.id)
        prepared = turn.prepared
        if prepared is None or session is None or session.id != session_id:
            return None
        added: Sequence[StoredMessage] = turn.journal.list_added()
        if not is_at_once:
            added = messages.list_session(
                connection,
                session_id=session_id,
                person_id=conversation.person_id,
                after=prepared.history.newest,
            )
        return SessionState(session, prepared.history.extend(added), None)

    def cache_session(self, turn: ActiveTurn, state: SessionState) -> None:
        """Cache the session of a finalized turn, so that the next turn need not read it."""
        self._sessions.store(turn.conversation.id, state)
        if self._external_memory:
            self._external_memory.wake()

    def clear_caches(self) -> None:
        """Drop every cache, because messages, files or people were deleted."""
        self._sessions.clear()
        self._prompts.forget()
        self._images.forget()
        if self._external_memory:
            self._external_memory.forget()

    def invalidate_conversations(self) -> None:
        """Make the next turns read their sessions again, because something other than a turn
        changed them.
        """
        self._sessions.forget()
        self._compactor.forget()
        self.toolboxes.inventory.forget()
        if self._user_model:
            self._user_model.forget()

    def _journal(
        self, shelf: TranscriptPlace, toolbox: Toolbox, prompt: FrozenPrompt, payer_id: PersonId
    ) -> TurnJournal:
        journal = TurnJournal(
            database=self._database,
            shelf=shelf,
            payer_id=payer_id,
            tools=toolbox,
            now=self._now,
        )
        journal.inherit_sources(prompt.sources)
        return journal


def _adapt(wishes: ProgramWishes, toolbox: Toolbox) -> ProgramWishes:
    """Return the wishes with the call to make first under the name that the model knows."""
    names = [spec.name for spec in wishes.tools]
    choice = names[0] if wishes.tool_choice == "required" and len(names) == 1 else ""
    choice = choice or wishes.tool_choice
    if choice not in names:
        return wishes
    return replace(wishes, tool_choice=toolbox.name_client_tool(choice))
