"""Keeps what a running turn must not lose: its beginning, answers, intents, results, last words."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Protocol

from agent_core.host import Steer
from agent_core.ids import CallId, InboxId, PersonId
from agent_core.models.catalog import Cost, bill
from agent_core.models.contract import ModelAnswer
from agent_core.state.conversations import messages, turns, usage
from agent_core.state.conversations.messages import Shelf, StoredMessage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import inbox
from agent_core.tools.contract import ToolResult
from agent_core.transcript import Message, TextPart, ToolCallPart, ToolResultPart

_STOPPED = "The turn was cut short before this call gave a result."


class Tools(Protocol):
    """What is to be known of tools; see `Toolbox`."""

    def effect(self, name: str) -> str:
        """What a repeat of a call would do."""

    def needs_approval(self, name: str) -> bool:
        """True for a tool whose calls begin only once they are allowed."""


Work = Callable[[Connection], None]
"""What is written within somebody's transaction."""


class TurnJournal:
    """The journal of one turn over the database; what `loop.Journal` asks for.

    A turn that is stopped in the middle of a record waits for the commit: what is on disk
    and what the journal knows of it never differ. The turn itself is written down with the
    first record, and not before: until then a crash leaves nothing of it.
    """

    def __init__(
        self,
        *,
        database: Database,
        shelf: Shelf,
        payer_id: PersonId,
        tools: Tools,
        price: Cost,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self.shelf = shelf
        self._payer_id = payer_id
        self._tools = tools
        self._price = price
        self._now = now
        self._open_calls: tuple[ToolCallPart, ...] = ()
        self._results: dict[CallId, ToolResult] = {}
        self._last_words: list[Message] = []
        self._unpaid: list[ModelAnswer] = []
        self._unwritten: list[ModelAnswer] = []
        self._begin: Work | None = None
        self._was_tried = False
        self._added: list[StoredMessage] = []
        self.is_over = False
        """True while a turn is written down that ends in the same transaction."""
        self.cannot_begin = False
        """True once an attempt to write down how the turn begins has failed."""
        self.model = ""
        """The name of the model that answered last."""
        self.claimed: set[InboxId] = set()
        """Events of the steers that are the turn's for good."""

    def begin_with(self, work: Work) -> None:
        """How the turn is written down; without this it was, by an earlier process."""
        self._begin = work

    @property
    def is_begun(self) -> bool:
        """True once it is known that the turn is on disk."""
        return self._begin is None

    def ensure_begun(self, connection: Connection, *, is_over: bool = False) -> bool:
        """Write down the turn, within the caller's transaction; False if it stands there.

        `is_over` says that the same transaction ends it. Raises what the work raises that it
        was given.
        """
        if self._begin is None:
            return False
        if self._was_tried and turns.exists(connection, turn_id=self.shelf.turn_id):
            return False
        self._was_tried = self.cannot_begin = True
        self._added, self.is_over = [], is_over
        self._begin(connection)
        self.cannot_begin = False
        return True

    def append(self, connection: Connection, added: Sequence[Message], now: int) -> None:
        """Add messages of the turn to the transcript, within the caller's transaction."""
        ids = messages.append(connection, self.shelf, added, now=now)
        turn_id = self.shelf.turn_id
        self._added += [
            StoredMessage(id=message_id, turn_id=turn_id, message=message)
            for message_id, message in zip(ids, added, strict=True)
        ]

    def list_added(self) -> tuple[StoredMessage, ...]:
        """The whole turn as it stands in the transcript, if it is begun and ended at once."""
        return tuple(self._added)

    async def begin(self) -> None:
        """Write down the turn if it is not yet. Raises what `ensure_begun` raises."""
        await self._write("turns.begin", lambda _: None)

    async def _write(self, name: str, work: Work) -> None:
        def whole(connection: Connection) -> None:
            self.ensure_begun(connection)
            work(connection)

        await self._database.write(name, whole)
        self._begin = None

    def resume(self, calls: tuple[ToolCallPart, ...], results: dict[CallId, ToolResult]) -> None:
        """Take over calls that an earlier process left open, with the results it recorded."""
        self._open_calls = calls
        self._results = dict(results)

    async def record_answer(self, answer: ModelAnswer) -> None:
        """Keep an answer and the intent of its calls before any of them is run."""
        await _see_through(self._record_answer(answer))

    async def _record_answer(self, answer: ModelAnswer) -> None:
        self.model = answer.model
        now = self._now()
        calls = [
            (call.call_id, call.name, self._tools.effect(call.name))
            for call in answer.message.calls
            if not self._tools.needs_approval(call.name)
        ]

        def work(connection: Connection) -> None:
            messages.append(connection, self.shelf, [answer.message], now=now)
            turns.begin_steps(connection, turn_id=self.shelf.turn_id, calls=calls, now=now)
            self._pay(connection, answer, now)

        self._unwritten = [answer]
        await self._write("turns.answer", work)
        self._unwritten = []
        self._open_calls = answer.message.calls
        self._results = {}

    async def record_begin(self, call: ToolCallPart) -> None:
        """Keep that a call which needed leave has it, before it is run."""
        await _see_through(self._write("turns.begin_step", partial(self._begin_step, call)))

    def _begin_step(self, call: ToolCallPart, connection: Connection) -> None:
        turns.begin_steps(
            connection,
            turn_id=self.shelf.turn_id,
            calls=[(call.call_id, call.name, self._tools.effect(call.name))],
            now=self._now(),
        )

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        """Keep what a call gave, so that it is never run again."""
        self._results[call.call_id] = result
        now = self._now()

        def work(connection: Connection) -> None:
            self._begin_step(call, connection)  # one that was refused was never begun
            turns.end_step(
                connection,
                turn_id=self.shelf.turn_id,
                call_id=call.call_id,
                outcome=result.text,
                is_error=result.is_error,
                now=now,
            )

        await _see_through(self._write("turns.result", work))

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        """Keep what goes in front of the next model call, and claim the steers in it."""
        await _see_through(self._record_input(added, steers))

    async def _record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        now = self._now()

        def work(connection: Connection) -> None:
            messages.append(connection, self.shelf, added, now=now)
            inbox.claim(
                connection,
                inbox_ids=[inbox_id for steer in steers for inbox_id in steer.inbox_ids],
                turn_id=self.shelf.turn_id,
            )

        await self._write("turns.input", work)
        self._open_calls = ()
        self.claimed.update(inbox_id for steer in steers for inbox_id in steer.inbox_ids)

    def conclude(self, added: Sequence[Message], answers: Sequence[ModelAnswer]) -> None:
        """Hold the turn's last words until it is settled."""
        self._last_words = list(added)
        self._unpaid = list(answers)
        if answers:
            self.model = answers[-1].model

    def interrupt(self) -> None:
        """Close a turn that was cut short: every open call gets a result."""
        results = tuple(self._close(call) for call in self._open_calls)
        self._last_words = [Message(role="tool", parts=results)] if results else []
        self._unpaid = []

    def finalize(self, connection: Connection, *, told: str, now: int) -> None:
        """Write the last words within the caller's transaction.

        `told` is the sentence that the person reads where the model gave no answer; it
        stands in the transcript then, so that the conversation stays whole.
        """
        words = list(self._last_words)
        if told and not (words and words[-1].role == "assistant"):
            words.append(Message(role="assistant", parts=(TextPart(text=told),)))
        self.append(connection, words, now)
        for answer in self._unpaid:
            self._pay(connection, answer, now)

    async def write_off(self) -> None:
        """The turn is never begun; what its model said meanwhile is paid for all the same."""
        lost, now = [*self._unwritten, *self._unpaid], self._now()

        def work(connection: Connection) -> None:
            for answer in lost:
                spent = bill(answer.model, answer.usage, "broken", self._price)
                usage.insert(connection, spent, person_id=self._payer_id, turn_id=None, now=now)

        if lost:
            await self._database.write("turns.write_off", work)

    def _close(self, call: ToolCallPart) -> ToolResultPart:
        result = self._results.get(call.call_id) or ToolResult(text=_STOPPED, is_error=True)
        return ToolResultPart(
            call_id=call.call_id, name=call.name, text=result.text, is_error=result.is_error
        )

    def _pay(self, connection: Connection, answer: ModelAnswer, now: int) -> None:
        usage.insert(
            connection,
            bill(answer.model, answer.usage, "turn", self._price, answer.asked),
            person_id=self._payer_id,
            turn_id=self.shelf.turn_id,
            now=now,
        )


async def _see_through(work: Coroutine[object, object, None]) -> None:
    """Await `work` to its end even if the caller is cancelled meanwhile."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # taken note of; the cancellation goes on all the same
        raise
