"""Calls of a person's other programs, such as Claude Code: each is a turn without a model."""

import json
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.prompt.visibility import PromptContext
from agent_core.agent.toolboxes import Toolboxes
from agent_core.chats import Chat
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.memory.shared import SharedMemory
from agent_core.state.conversations import client_calls, sessions, turns
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import Step
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.contract import ToolResult
from agent_core.tools.gate import PROPOSED
from agent_core.tools.selection.renamed_calls import renew
from agent_core.tools.user_questions import QuestionPending
from agent_core.transcript import ToolCallPart, ToolSpec, UntrustedSource, make_source
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.people.owner_notices import find_direct_chat

MOST_A_MINUTE = 120
"""Calls or requests of one client in a minute."""
_MINUTE = 60_000
_MOST_CLIENTS = 1024
_CALL = CallId("client")
_JOBS = "manage_jobs"
_OFFERED = ("recall", "memory", "archive", "remind", "schedule_job", _JOBS, "send_message")
"""The tools that a client may call."""
_OLD_JOBS = "jobs"
"""What clients called the tool for jobs when it was one."""
_READ_MEMORY = ToolSpec(
    name="read_memory",
    description="Show what Talaria remembers of this person, and the shared lists they see.",
    schema='{"type":"object","properties":{},"additionalProperties":false}',
)
READ_ONLY = frozenset({"recall", _READ_MEMORY.name})
"""The tools that change nothing."""
_NOBODY = "The person of this token may not use Talaria any more."
_PROPOSED = (
    "Proposed, not done: the person decides with a button in their chat with Talaria. Don't repeat"
    " the call, and don't say that it is done."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that acts for a person. `name` is that of its token."""

    person_id: PersonId
    name: str

    @property
    def source(self) -> UntrustedSource:
        """The source of its words: a model wrote them, not the person."""
        return make_source("client", self.name)


class ClientRate:
    """Counts what clients ask for within the last minute."""

    def __init__(self) -> None:
        self._recent: OrderedDict[Client, deque[int]] = OrderedDict()

    def admit(self, client: Client, now: int) -> bool:
        """Count a request; False if there were too many in the last minute."""
        recent = self._recent.setdefault(client, deque())
        self._recent.move_to_end(client)
        if len(self._recent) > _MOST_CLIENTS:
            self._recent.popitem(last=False)
        while recent and recent[0] <= now - _MINUTE:
            recent.popleft()
        if len(recent) >= MOST_A_MINUTE:
            return False
        recent.append(now)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """The turn of one call."""

    id: TurnId
    person: Person
    conversation: Conversation
    has_chat: bool
    """False if the person can't be asked anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCalls:
    """Runs the calls of clients with the rights, the switches and the gate of their person.

    A client's words count as words of others: what it wants to change or to send to others is
    proposed to the person.
    """

    database: Database
    memory: SharedMemory
    toolboxes: Toolboxes
    questions: Questions
    dispatcher: OutboxDispatcher
    platforms: Collection[str]
    """The names of the enabled platforms."""
    find_admitted: Callable[[Connection, PersonId], Person | None]
    """Finds a person who may still talk; see `Identity`."""
    load_ids: Callable[[], Awaitable[IdAllocator]]
    now: Callable[[], int]
    _rate: ClientRate = field(default_factory=ClientRate, init=False)

    async def list_tools(self, client: Client) -> Sequence[ToolSpec]:
        """List the tools that a client may call now. Raises `StoreError`."""
        person = await self.database.read(self.find_admitted, client.person_id)
        if person is None:
            return ()
        own = {spec.name: spec for spec in self.toolboxes.private.all_specs}
        return (
            *(own[name] for name in _OFFERED if name in own and name not in person.tools_off),
            _READ_MEMORY,
        )

    async def call(self, client: Client, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        """Run one call. A failure is a result, too. Raises `StoreError`."""
        if tool not in (_READ_MEMORY.name, _OLD_JOBS, *_OFFERED):
            names = ", ".join((*_OFFERED, _READ_MEMORY.name))
            return _fail(f"There is no tool {tool!r}. There are: {names}.")
        if not self._rate.admit(client, self.now()):
            return _fail(f"Too many calls: at most {MOST_A_MINUTE} a minute. Wait a minute.")
        if tool == _READ_MEMORY.name:
            return await self._read_memory(client)
        turn = await self._begin(client)
        if turn is None:
            return _fail(_NOBODY)
        if not turn.has_chat and tool not in READ_ONLY:
            return _fail(
                "Talaria has no chat with this person in which it could ask them. They write to it"
                " once; then this works."
            )
        return await self._run(client, turn, _make_call(tool, arguments))

    async def _run(self, client: Client, turn: _Turn, call: ToolCallPart) -> ToolResult:
        now, name = self.now(), call.name
        place = PromptContext(
            conversation=turn.conversation, person=turn.person, room=None, platform="client"
        )
        toolbox = self.toolboxes.open(place, None)
        effect = toolbox.effect(name)
        await self.database.write(
            "clients.begin",
            turns.begin_steps,
            turn_id=turn.id,
            calls=[(_CALL, name, effect)],
            now=now,
        )
        context = place.make_tool_context(
            turn.id,
            _CALL,
            memory_owner=place.memory_owner,
            now=now,
            evidence="",
            sources=(client.source,),
        )
        try:
            result = await toolbox.run(call, context)
        except QuestionPending:
            result = _fail("Talaria is stopping. Call again when it runs.")
        if result.text == PROPOSED:
            result = replace(result, text=_PROPOSED)
        await self._end(turn, name, result)
        return result

    async def _end(self, turn: _Turn, name: str, result: ToolResult) -> None:
        """Record the result of a call, and ask the person about what it proposed."""
        now = self.now()
        step = Step(call_id=_CALL, name=name, outcome=result.text, is_error=result.is_error)

        def work(connection: Connection) -> list[OutboxRow]:
            turns.end_step(connection, turn_id=turn.id, step=step, now=now)
            return self.questions.end_of_turn(connection, turn.id, now)

        self.dispatcher.enqueue(await self.database.write("clients.end", work))

    async def _begin(self, client: Client) -> _Turn | None:
        """Record a call as a turn; None if the person was deleted."""
        now = self.now()
        ids = await self.load_ids()
        turn_id, fresh = ids.next_turn(), ids.next_session()

        def work(connection: Connection) -> _Turn | None:
            person = self.find_admitted(connection, client.person_id)
            if person is None:
                return None
            chat = find_direct_chat(connection, person, self.platforms)
            conversation = sessions.ensure_conversation(
                connection,
                sessions.NewConversation(
                    key=f"client:{person.id}:{client.name}",
                    kind="client",
                    person_id=person.id,
                    is_direct=True,
                ),
                now=now,
            )
            session = sessions.find_open(connection, conversation_id=conversation.id)
            client_calls.record(
                connection,
                turn_id=turn_id,
                conversation=conversation,
                session_id=session.id
                if session
                else sessions.insert(
                    connection, conversation_id=conversation.id, session_id=fresh, now=now
                ),
                chat=chat or Chat(platform="client", address=client.name),
                now=now,
            )
            return _Turn(
                id=turn_id, person=person, conversation=conversation, has_chat=chat is not None
            )

        return await self.database.write("clients.turn", work)

    async def _read_memory(self, client: Client) -> ToolResult:
        now = self.now()
        person = await self.database.read(self.find_admitted, client.person_id)
        if person is None:
            return _fail(_NOBODY)
        own = await self.memory.store.snapshot(person.id, person.slug, now)
        lists = [("user", own.user), ("memory", own.memory)]
        lists += [(one.target, one.entries) for one in await self.memory.look(person.id, now)]
        parts = [
            "\n".join([f"# {name}", *(f"- {entry}" for entry in entries)])
            for name, entries in lists
            if entries
        ]
        return ToolResult(text="\n\n".join(parts) or "Nothing is remembered yet.")


def _make_call(tool: str, arguments: Mapping[str, object]) -> ToolCallPart:
    """Return the call of a tool; one of the old tool for jobs is that of a present one."""
    text = json.dumps(arguments, ensure_ascii=False)
    if tool != _OLD_JOBS:
        return ToolCallPart(call_id=_CALL, name=tool, arguments=text)
    old = ToolCallPart(call_id=_CALL, name="schedule", arguments=text)
    return new if (new := renew(old)) != old else replace(old, name=_JOBS)


def _fail(sentence: str) -> ToolResult:
    return ToolResult(text=sentence, is_error=True)
