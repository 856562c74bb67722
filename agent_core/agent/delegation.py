"""Run helpers and asked agents: turns that a tool call of another turn asks for."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent_core.agent.budget import Budget
from agent_core.agent.caches import SessionCache
from agent_core.agent.claims.deeds import list_receipts, read_deeds
from agent_core.agent.journal import TurnJournal
from agent_core.agent.named.chain import DEFAULT, MOST_HOPS, find_objection
from agent_core.agent.named.mail import AgentMail
from agent_core.agent.new_turn import NewTurn, insert_turn
from agent_core.agent.turn import ActiveTurn
from agent_core.chats import Place
from agent_core.errors import AgentBroken, StoreDamaged, ToolArgumentError
from agent_core.events import Ending, Event, Host, ModelFault, Steer, TurnEnded
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import CallId, PersonId, SessionId, use_turn
from agent_core.state.conversations import delegated_turns, past_sessions, sessions, turns, usage
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn, TurnRequest
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import agent_messages
from agent_core.state.queues.agent_messages import AgentMessage
from agent_core.tools.clock import local_time
from agent_core.tools.delegated_tasks import HelperReport, HelperTask
from agent_core.tools.delegation import check_answer, find_json
from agent_core.tools.user_questions import QuestionPending
from agent_core.transcript import UntrustedSource, user_message

if TYPE_CHECKING:
    from agent_core.agent.agent import Agent

MOST_STEPS = 30
"""Model calls of one helper."""
MOST_AT_ONCE = 4
"""Helpers of a turn that work at the same time; more would slow down other people's turns."""
_PLATFORM = "helper"
_ORDER = (
    "You are a helper of another assistant. Do this task alone: nobody can answer questions, and"
    " nobody reads anything but your last message. It is the whole result: the facts with their"
    " sources, and what you could not do."
)
_ASKED = (
    "{sender}, another assistant of the same person, asks you this. Answer it alone: nobody can"
    " answer questions, and nobody reads anything but your last message. You see your own"
    " conversation as it was; it does not notice this. Say what you could not do."
)
_SHAPE = "Your last message is one JSON object that fits this JSON Schema, and nothing else:"


@dataclass(frozen=True, slots=True)
class HelperHost(Host):
    """The host of a helper. Nobody writes to a helper, and it ends with its parent's process."""

    parent: Host

    def take_steers(self) -> Sequence[Steer]:
        """Return nothing: the person's messages are for the parent."""
        return ()

    def is_draining(self) -> bool:
        """Return whether the process is shutting down."""
        return self.parent.is_draining()

    async def pause(self, seconds: float) -> None:
        """Never called: a helper has no patience, because its parent waits out an outage."""

    async def note_fault(self, fault: ModelFault) -> None:
        """Report a fault of a model to the owners."""
        await self.parent.note_fault(fault)

    def show_loading(self) -> None:
        """Never called: the parent's model has answered."""

    def show_helpers(self, call_id: CallId, done: int, total: int) -> None:
        """Show nothing: the chat shows what the parent does."""

    def show_progress(self, call_id: CallId, note: str) -> None:
        """Show nothing: the chat shows what the parent does."""

    def show_plan(self, number: int, total: int, title: str) -> None:
        """Never called: a helper keeps no plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperTurns:
    """The helpers of one turn; see `Helpers`."""

    agent: "Agent"
    database: Database
    sessions: SessionCache
    mail: AgentMail
    now: Callable[[], int]
    parent: ActiveTurn
    budget: Budget
    """The parent's; it is charged for what the helpers use."""
    host: Host
    places: asyncio.Semaphore
    """The places of all the turn's helpers."""

    async def find_objection(self, agent: str) -> str:
        """Return why the turn may not write to a named agent, or ""; see `Helpers`."""
        return find_objection(await self._read_chain(), agent)

    async def tell(self, call_id: CallId, agent: str) -> None:
        """Leave the message of a call for a named agent; see `Helpers`."""
        first = _find_first(self.parent)
        here = first.conversation
        base = here.base
        if here.is_private:
            base = sessions.name_direct(here.person_id)
        elif first.job_turn:
            raise ToolArgumentError("a job in a group or channel can't `tell`; `ask` instead")
        await self.mail.send(await self._make_message(call_id, agent, base))

    async def start(self, call_id: CallId, number: int) -> str:
        """Let a helper work in the background; see `Helpers`."""
        here = self.parent.conversation
        if self.parent.job_turn or here.kind != "direct":
            raise ToolArgumentError("only a direct conversation has tasks in the background")
        message = await self._make_message(call_id, "", here.key)
        if len(message.chain) > MOST_HOPS:
            raise ToolArgumentError(
                f"this turn goes on with a task already, {MOST_HOPS} times in a row; do it at once"
            )
        await self.mail.send(replace(message, kind="task", number=number))
        return f"{self.parent.id}-{number}"

    async def _make_message(self, call_id: CallId, agent: str, base: str) -> AgentMessage:
        first = _find_first(self.parent)
        here = first.conversation
        return AgentMessage(
            turn_id=self.parent.id,
            call_id=call_id,
            agent=agent,
            chain=await self._read_chain(),
            base=base,
            owner_id=here.person_id,
            person_id=first.person.id,
            is_private=here.is_private,
            room_id=here.room_id,
            is_tainted=bool(self.parent.journal.sources),
        )

    async def _read_chain(self) -> tuple[str, ...]:
        """Return the chain of agents that ends with the parent. Raises `StoreError`."""
        names: list[str] = []
        turn: ActiveTurn | None = self.parent
        while turn:
            names.insert(0, turn.agent.name if turn.agent else "")
            turn = turn.parent
        first_id = _find_first(self.parent).id
        before = await self.database.read(agent_messages.find_chain, turn_id=first_id)
        return (*before, *names)

    def as_team(self, steps: int, micro_dollars: int) -> "HelperTurns":
        """Return these helpers with a common limit; see `Helpers`."""
        return replace(self, budget=self.budget.share_in_team(steps, micro_dollars))

    def find_limit(self) -> str:
        """Return the limit that the helpers have reached together, or ""."""
        return self.budget.exhausted()

    def show_progress(self, call_id: CallId, done: int, total: int) -> None:
        """Show in the chat how many helpers of a call are done."""
        self.host.show_helpers(call_id, done, total)

    async def run(self, call_id: CallId, number: int, task: HelperTask) -> HelperReport:
        """Run one helper to its end, once it has a place; see `Helpers`."""
        async with self.places:
            return await self._run(call_id, number, task)

    async def _run(self, call_id: CallId, number: int, task: HelperTask) -> HelperReport:
        key = delegated_turns.name_helper(self.parent.id, call_id, number, task.agent)
        person, owner_id = self.parent.person, self._find_owner(task)
        found = await self.database.read(
            delegated_turns.find, key=key, owner_id=owner_id, person_id=person.id
        )
        left = task.seconds
        if found is None:
            try:
                active = await self._begin(key, task)
            except AgentBroken as error:
                return HelperReport(text=f"[{error}]", is_error=True)
        else:
            conversation, turn = found
            if turn.state != "running":
                return await self._recall(turn, task)
            active = await self.agent.resume(turn, conversation, person)
            left -= (self.now() - turn.started_at) / 1000
        return await self._play(active.for_parent(self.parent), task, left)

    def _find_owner(self, task: HelperTask) -> PersonId:
        """Return the owner of a helper's transcript; for a named agent, the parent's owner."""
        return self.parent.conversation.person_id if task.agent else self.parent.person.id

    async def _begin(self, key: str, task: HelperTask) -> ActiveTurn:
        person, parent_id, now = self.parent.person, self.parent.id, self.now()
        branch_id = (await self.sessions.id_allocator()).next_session() if task.agent else None

        def open_conversation(connection: Connection) -> Conversation:
            here = self.parent.conversation
            conversation = sessions.ensure_conversation(
                connection,
                sessions.NewConversation(
                    key=key,
                    kind="helper",
                    agent=task.agent,
                    person_id=self._find_owner(task),
                    is_direct=bool(task.agent) and here.is_private,
                    room_id=here.room_id if task.agent else None,
                ),
                now=now,
            )
            if branch_id:
                self._branch(connection, conversation, task.agent, branch_id)
            return conversation

        conversation = await self.database.write("helpers.open", open_conversation)
        prepared = await self.agent.prepare(conversation, person, platform=_PLATFORM)
        facts = (
            f"<facts>Time: {local_time(now, person.time_zone or 'UTC'):%a %Y-%m-%d %H:%M}</facts>"
        )
        sender = (self.parent.agent.name if self.parent.agent else "") or DEFAULT
        words = word_task(task, sender)
        new = NewTurn(prepared=prepared, said=(user_message(words, facts=facts),), now=now)
        active = self.agent.create_turn(prepared, new.said)

        def begin(connection: Connection, journal: TurnJournal) -> None:
            parent = turns.find(connection, turn_id=parent_id)
            if parent is None:
                raise StoreDamaged(f"turn {parent_id} asks for a helper and is not on disk")
            asked = TurnRequest(
                person_id=person.id,
                account_id=parent.account_id,
                place=Place(chat=parent.place.chat),
            )
            insert_turn(connection, journal, new, asked)

        active.journal.begin_with(begin)
        await active.journal.begin()
        return active

    def _branch(
        self, connection: Connection, into: Conversation, agent: str, branch_id: SessionId
    ) -> None:
        """Start `into` as a branch of the agent's own conversation at the first turn's place, if
        any.
        """
        first = _find_first(self.parent).conversation
        base = first.base
        if first.is_private:
            base = sessions.name_direct(first.person_id)
        key = sessions.name_conversation(agent, base)
        own = sessions.find_conversation(connection, key=key, person_id=first.person_id)
        source = sessions.find_open(connection, conversation_id=own.id) if own else None
        if source and not sessions.find_open(connection, conversation_id=into.id):
            past_sessions.branch(
                connection,
                session_id=source.id,
                into=into.id,
                title="",
                now=self.now(),
                made_id=branch_id,
            )

    async def _play(self, active: ActiveTurn, task: HelperTask, left: float) -> HelperReport:
        try:
            ended = await self._run_to_end(active, task, left)
        except BaseException:  # also the end of its parent
            await finish(active.journal.write_off())
            raise
        now, failure = self.now(), _describe(ended.ending, ended.reason)

        def end(connection: Connection) -> None:
            self.agent.finalize(
                connection,
                active,
                ending=(ended.ending, ended.reason, ended.detail),
                notice=failure,
                now=now,
            )
            sessions.end(connection, conversation_id=active.conversation.id, now=now)

        # The answer is paid for, but only in memory, like the answer in `TurnFinalizer`.
        await self.database.retry_while_unavailable(
            lambda: finish(self.database.write("helpers.end", end)),
            f"the end of helper {active.id}",
        )
        text = "\n\n".join(part for part in (ended.text, failure) if part)
        report = _report(text, task, bool(failure), active.journal.sources)
        limit = ended.reason if ended.ending == "exhausted" else ""
        return replace(report, receipts=list_receipts(active.journal.deeds), limit=limit)

    async def _run_to_end(self, active: ActiveTurn, task: HelperTask, left: float) -> TurnEnded:
        """Run a helper; return its ending. Raises `QuestionPending` if the process drains."""
        budget, host = self.budget.share(task.steps or MOST_STEPS), HelperHost(self.host)
        deadline = asyncio.timeout(max(left, 0.0) if task.seconds else None)
        try:
            with use_turn(active.id):
                async with deadline:
                    ended = await self.agent.run(active, host, _show_nothing, budget)
        except TimeoutError:
            if not deadline.expired():
                raise
            active.journal.interrupt()
            ended = TurnEnded(ending="exhausted", text="", reason="time")
        if ended.ending == "suspended":
            raise QuestionPending
        return ended

    async def _recall(self, turn: StoredTurn, task: HelperTask) -> HelperReport:
        """Return the result of a helper whose end is on disk already."""

        def look(connection: Connection) -> tuple[str, list[turns.Step], usage.Total]:
            return (
                delegated_turns.find_answer(connection, turn_id=turn.id),
                turns.list_steps(connection, turn_id=turn.id),
                usage.total_of_turn(connection, turn_id=turn.id),
            )

        text, steps, spent = await self.database.read(look)
        self.budget.spend(spent.input_tokens + spent.output_tokens, spent.micro_dollars)
        self.budget.take_steps_of_helper(spent.calls)
        sources = [source for step in steps for source in step.sources]
        known = self.parent.journal.sources
        report = _report(
            text, task, turn.state != "answered", tuple(dict.fromkeys((*known, *sources)))
        )
        toolbox = self.parent.toolbox
        limit = turn.reason if turn.state == "exhausted" else ""
        return replace(report, receipts=list_receipts(read_deeds(steps, toolbox)), limit=limit)


async def _show_nothing(event: Event) -> None:
    """Take an event of a helper: the chat shows what the parent does."""


def _find_first(turn: ActiveTurn) -> ActiveTurn:
    """Return the turn that started a chain of helpers."""
    while turn.parent:
        turn = turn.parent
    return turn


def word_task(task: HelperTask, sender: str = DEFAULT) -> str:
    """Return the first message to a helper, or to a named agent that `sender` asks."""
    order = _ASKED.format(sender=sender) if task.agent else _ORDER
    parts = [order, f"Task: {task.goal.strip()}"]
    if task.context.strip():
        parts.append(f"What you must know:\n{task.context.strip()}")
    if task.schema:
        parts.append(f"{_SHAPE}\n{task.schema}")
    return "\n\n".join(parts)


def _describe(ending: Ending, reason: str) -> str:
    """Tell the parent's model why there is no answer; "" if there is one."""
    if ending == "answered":
        return ""
    limits = {"steps": "steps", "tokens": "tokens", "money": "money", "time": "time"}
    if ending == "exhausted" and reason in limits:
        return f"[The helper stopped here: it had no {limits[reason]} left.]"
    return f"[The helper ended without an answer: {reason or ending}.]"


def _report(
    text: str, task: HelperTask, is_error: bool, sources: tuple[UntrustedSource, ...]
) -> HelperReport:
    fault = "" if is_error else check_answer(text, task.schema)
    if fault:
        text = f"{text}\n\n[This does not fit `output_schema`: {fault}.]"
    elif task.schema and not is_error:
        text = find_json(text)
    return HelperReport(text=text, is_error=is_error or bool(fault), sources=sources)
