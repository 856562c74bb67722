"""Record a running turn, so that a crash loses no answer, tool call or result."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.claims.deeds import Deed, read_deed
from agent_core.agent.present_words import read_own_words
from agent_core.agent.prompt.message_facts import find_sources
from agent_core.events import Steer, TurnEnded
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import CallId, InboxId, PersonId
from agent_core.models.catalog import bill
from agent_core.models.contract import ModelAnswer
from agent_core.state.conversations import approvals, files, messages, turns, usage
from agent_core.state.conversations.messages import StoredMessage, TranscriptPlace
from agent_core.state.conversations.turns import TurnEnding
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import inbox
from agent_core.tools.contract import ToolResult
from agent_core.tools.own_words.contract import NO_WORDS, OwnWords
from agent_core.tools.policy.approval_requests import ApprovalRequest
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UntrustedSource,
)

_MOST_SOURCES = 20
"""Untrusted sources that are named; a long session may have hundreds."""
_STOPPED = "The turn was cut short before this call gave a result."

TurnWrite = Callable[[Connection], None]
"""Writes within the caller's transaction."""
InsertTurn = Callable[[Connection, "TurnJournal"], None]
"""Inserts the journal's turn within the caller's transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """A call's result; times are in milliseconds since the epoch."""

    call: ToolCallPart
    result: ToolResult
    begun_at: int
    ended_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    """An answer with calls, and its time in milliseconds since the epoch."""

    answer: ModelAnswer
    at: int


class TurnJournal:
    """The loop's `Journal` of one turn, in the database.

    A turn cancelled during a write waits for the commit, so that the journal and the disk never
    differ. The turn itself is inserted with its first record; a crash before that leaves nothing.
    """

    def __init__(
        self,
        *,
        database: Database,
        shelf: TranscriptPlace,
        payer_id: PersonId,
        tools: Toolbox,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self.shelf = shelf
        self._payer_id = payer_id
        self._tools = tools
        self._now = now
        self._open_calls: tuple[ToolCallPart, ...] = ()
        self._results: dict[CallId, ToolResult] = {}
        self._begun_at: dict[CallId, int] = {}
        """When the calls began whose beginning need not be on disk."""
        self._held: _Answered | None = None
        """The answer that the next record writes, because its only call begins late."""
        self._unwritten: tuple[_Ended, ...] = ()
        """Results that the next record writes, because it follows at once."""
        self._last_messages: list[Message] = []
        self._unbilled: list[ModelAnswer] = []
        """Answers that arrived, but whose usage is not on disk yet."""
        self.waiting_since: int | None = None
        """The beginning of the outage that the turn waits out."""
        self._begin: InsertTurn | None = None
        self._was_attempted = False
        self._added: list[StoredMessage] = []
        self.ending: TurnEnding | None = None
        """The turn's ending, if the same transaction inserts and ends the turn."""
        self.cannot_begin = False
        """True once an attempt to insert the turn has failed."""
        self.model = ""
        """The model that answered last."""
        self.sources: tuple[UntrustedSource, ...] = ()
        """The untrusted sources of the prompt and of the whole session, even of messages no longer
        shown.
        """
        self.evidence = ""
        """The person's words in the turn so far."""
        self._said: tuple[Message, ...] = ()
        self._said_before: tuple[Message, ...] = ()
        self._own_words: OwnWords | None = None
        self.deeds: tuple[Deed, ...] = ()
        """What the calls of the turn have changed so far."""
        self.claimed: set[InboxId] = set()
        """Inbound events whose steers this turn has claimed permanently."""

    def begin_with(self, begin: InsertTurn) -> None:
        """Set how the turn is inserted. Without this call, an earlier process has inserted it.

        `begin` must not refer to the running turn: the two would form a cycle, which stays in
        memory until the collector runs.
        """
        self._begin = begin

    @property
    def is_begun(self) -> bool:
        """True once the turn is known to be on disk."""
        return self._begin is None

    def ensure_begun(
        self, connection: Connection, ended: TurnEnded | None = None, now: int = 0
    ) -> bool:
        """Insert the turn within the caller's transaction; False if it is on disk already.

        `ended` and `now` are its ending, if the same transaction ends it. Raises what the
        insertion raises.
        """
        if self._begin is None:
            return False
        if self._was_attempted and turns.exists(connection, turn_id=self.shelf.turn_id):
            return False
        self._was_attempted = self.cannot_begin = True
        self._added, self.ending = [], self._make_ending(ended, now) if ended else None
        self._begin(connection, self)
        self.cannot_begin = False
        return True

    def _make_ending(self, ended: TurnEnded, now: int) -> TurnEnding:
        assert ended.ending != "suspended"  # noqa: S101 - such a turn resumes at the next start
        return ended.ending, ended.reason, self.model, now

    def note_sources(
        self, added: Iterable[Message], before: Sequence[UntrustedSource] = ()
    ) -> None:
        """Note the untrusted sources in messages of the turn's session.

        `before` are the sources of the messages before them.
        """
        noted = tuple(dict.fromkeys((*self.sources, *before, *find_sources(added))))
        self.sources = noted[-_MOST_SOURCES:]

    def note_words(self, added: Iterable[Message]) -> None:
        """Count the words of the person in messages of the turn as evidence."""
        said = (message.text for message in added if message.role == "user")
        self.evidence = "\n".join(filter(None, (self.evidence, *said)))

    def note_present(self, said: Iterable[Message], before: Sequence[Message] = ()) -> None:
        """Count messages of a person as said now, after the messages `before`.

        Those of a job or of a helper are nobody's present words.
        """
        self._said += tuple(one for one in said if one.role == "user")
        self._said_before, self._own_words = self._said_before or tuple(before), None

    def read_own_words(self) -> OwnWords:
        """Return what the person typed or spoke in this turn. Cached, because few calls need it."""
        if self._own_words is None:
            said = self._said
            self._own_words = read_own_words(said, self._said_before) if said else NO_WORDS
        return self._own_words

    def inherit_sources(self, sources: Sequence[UntrustedSource]) -> None:
        """Note the untrusted sources of the prompt, or of the turn that started this one."""
        self.sources = tuple(dict.fromkeys((*sources, *self.sources)))[-_MOST_SOURCES:]

    def append(self, connection: Connection, added: Sequence[Message], now: int) -> None:
        """Append messages of the turn to the transcript, within the caller's transaction."""
        ids = messages.append(connection, self.shelf, added, now=now)
        self.note_sources(added)
        turn_id = self.shelf.turn_id
        self._added += [
            StoredMessage(id=message_id, turn_id=turn_id, message=message)
            for message_id, message in zip(ids, added, strict=True)
        ]

    def list_added(self) -> tuple[StoredMessage, ...]:
        """The turn's messages, if one transaction began and ended it."""
        return tuple(self._added)

    async def begin(self) -> None:
        """Insert the turn if it isn't on disk yet. Raises what the insertion raises."""
        await self._write("turns.begin", lambda _: None)

    async def _write(self, name: str, work: TurnWrite) -> None:
        ended = self._unwritten

        def whole(connection: Connection) -> None:
            self.ensure_begun(connection)
            self._end_steps(connection, ended)
            work(connection)

        await self._database.write(name, whole)
        self._begin = None
        self._unwritten = tuple(one for one in self._unwritten if one not in ended)

    def resume(
        self,
        calls: tuple[ToolCallPart, ...],
        results: dict[CallId, ToolResult],
        session: Iterable[StoredMessage] = (),
        *,
        waiting_since: int | None = None,
    ) -> None:
        """Take over the open calls of an earlier process, with the results it recorded.

        `session` are all messages of the session. `waiting_since` is the beginning of an outage in
        which the turn waited, in milliseconds since the epoch.
        """
        self.note_sources(stored.message for stored in session)
        self.waiting_since = waiting_since
        self._open_calls = calls
        self._results = dict(results)

    def note_answer(self, answer: ModelAnswer) -> None:
        """Note an answer that arrived; it is billed with the next record, or with the ending."""
        self.model = answer.model
        self._unbilled.append(answer)

    async def record_answer(self, answer: ModelAnswer) -> None:
        """Record a noted answer and the intent of its calls, before any of them runs.

        The record of a single call that begins late follows at once, unless a person is asked: one
        commit instead of two. The policy reads the turn, so it must be on disk.
        """
        answered = _Answered(answer=answer, at=self._now())
        names = [call.name for call in answer.message.calls]
        if self.is_begun and len(names) == 1 and self._tools.begins_late(names[0]):
            self._held = answered
            self._open_calls, self._results = answer.message.calls, {}
        else:
            await finish(self._record_answer(answered))

    async def _record_answer(self, answered: _Answered) -> None:
        await self._record("turns.answer", lambda c: self._add_answer(c, answered))
        self.waiting_since = None
        self._open_calls, self._results = answered.answer.message.calls, {}

    async def record_held(self) -> None:
        """Write an answer that was held back."""
        if self._held:
            await finish(self._record("turns.answer", lambda _: None))

    async def _record(self, name: str, work: TurnWrite) -> None:
        """Write the answer that was held back, and then `work`. Never cancelled."""
        held, now = self._held, self._now()

        def whole(connection: Connection) -> None:
            if held:
                self._add_answer(connection, held)
            work(connection)
            self._bill(connection, now)

        await self._write(name, whole)
        self._unbilled = []
        if held:
            self._held = self.waiting_since = None

    def _add_answer(self, connection: Connection, answered: _Answered) -> None:
        """Write an answer and the intent of its calls within the caller's transaction."""
        message, turn_id = answered.answer.message, self.shelf.turn_id
        calls = [
            (call.call_id, call.name, self._tools.effect(call.name))
            for call in message.calls
            if not self._tools.begins_late(call.name)
        ]
        messages.append(connection, self.shelf, [message], now=answered.at)
        turns.begin_steps(connection, turn_id=turn_id, calls=calls, now=answered.at)
        if self.waiting_since is not None:
            turns.end_wait(connection, turn_id=turn_id, now=answered.at)

    async def record_begin(
        self, call: ToolCallPart, request: ApprovalRequest | None = None
    ) -> bool:
        """Record that a call runs, and use up its approval; see `Begin` of the tools.

        A call that does no harm twice needs no record: after a crash, it runs again.
        """
        now = self._begun_at[call.call_id] = self._now()
        if request is None and self._held is None and self._tools.effect(call.name) == "read":
            return True
        is_allowed = True

        def work(connection: Connection) -> None:
            nonlocal is_allowed
            is_allowed = request is None or approvals.use(
                connection, person_id=request.person_id, digest=request.digest, now=now
            )
            if is_allowed:
                self._begin_step(connection, call, now)

        await finish(self._record("turns.begin_step", work))
        return is_allowed

    def _begin_step(self, connection: Connection, call: ToolCallPart, now: int) -> None:
        turns.begin_steps(
            connection,
            turn_id=self.shelf.turn_id,
            calls=[(call.call_id, call.name, self._tools.effect(call.name))],
            now=now,
        )

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        """Record a call's result, so that it never runs again.

        The last result of an answer's calls goes with the next input, which follows at once: one
        commit instead of two. Both are on disk before the next model call.
        """
        self._results[call.call_id] = result
        deed = read_deed(call.name, result.receipts, self._tools, is_error=result.is_error)
        self.deeds += (deed,) if deed else ()
        now = self._now()
        begun_at = self._begun_at.pop(call.call_id, now)
        self._unwritten += (_Ended(call=call, result=result, begun_at=begun_at, ended_at=now),)
        open_ids = [one.call_id for one in self._open_calls]
        if call.call_id not in open_ids or not self._results.keys() >= {*open_ids}:
            await finish(self._record("turns.result", lambda _: None))

    def _end_steps(self, connection: Connection, ended: Iterable[_Ended]) -> None:
        """Write results within the caller's transaction."""
        for one in ended:
            result, now = one.result, one.ended_at
            self._begin_step(connection, one.call, one.begun_at)  # unless its step has begun
            for image in result.images:
                if data := result.image_data.get(image.file_key):
                    files.store(connection, data=data, media_type=image.media_type, now=now)
            turns.end_step(
                connection,
                turn_id=self.shelf.turn_id,
                step=turns.Step(
                    call_id=one.call.call_id,
                    name=one.call.name,
                    outcome=result.text,
                    is_error=result.is_error,
                    sources=result.sources,
                    images=result.images,
                    receipts=result.receipts,
                ),
                now=now,
            )

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        """Record the messages that precede the next model call, and claim the steers among them."""
        await finish(self._record_input(added, steers))

    async def _record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        now = self._now()

        def work(connection: Connection) -> None:
            self.append(connection, added, now)
            inbox.claim(
                connection,
                inbox_ids=[inbox_id for steer in steers for inbox_id in steer.inbox_ids],
                turn_id=self.shelf.turn_id,
            )

        await self._record("turns.input", work)
        self.note_words(added)
        if self._said:
            self.note_present(added)
        self._open_calls = ()
        self.claimed.update(inbox_id for steer in steers for inbox_id in steer.inbox_ids)

    async def record_outage(self, since: int) -> None:
        """Record that the turn waits for a model."""
        turn_id, self.waiting_since = self.shelf.turn_id, since
        await finish(
            self._write("turns.outage", lambda c: turns.wait(c, turn_id=turn_id, since=since))
        )

    def conclude(self, added: Sequence[Message]) -> None:
        """Keep the turn's last messages until it is finalized."""
        self._last_messages = list(added)

    def interrupt(self) -> None:
        """Give every open call a result, because the turn was cancelled."""
        results = tuple(part for call in self._open_calls for part in self._close(call))
        self._last_messages = [Message(role="tool", parts=results)] if results else []

    def finalize(self, connection: Connection, *, notice: str, now: int) -> None:
        """Write the last messages within the caller's transaction.

        `notice` is the sentence that the person reads instead of an answer; it joins the
        transcript, so that every turn ends with a reply.
        """
        if self._held:
            self._add_answer(connection, self._held)
        self._end_steps(connection, self._unwritten)
        final = list(self._last_messages)
        if notice and not (final and final[-1].role == "assistant"):
            final.append(Message(role="assistant", parts=(TextPart(text=notice),)))
        self.append(connection, final, now)
        if self.sources:
            turns.mark_untrusted(connection, turn_id=self.shelf.turn_id)
        self._bill(connection, now)

    async def write_off(self) -> None:
        """Bill the noted answers of a turn that can't be inserted, or goes on without them."""
        now, turn_id = self._now(), self.shelf.turn_id if self.is_begun else None

        def work(connection: Connection) -> None:
            for answer in self._unbilled:
                spent = bill(replace(answer, fingerprint=None), "broken")
                usage.insert(connection, spent, person_id=self._payer_id, turn_id=turn_id, now=now)

        if self._unbilled:
            await self._database.write("turns.write_off", work)
            self._unbilled = []

    def _close(self, call: ToolCallPart) -> tuple[Part, ...]:
        result = self._results.get(call.call_id) or ToolResult(text=_STOPPED, is_error=True)
        closed = ToolResultPart(
            call_id=call.call_id,
            name=call.name,
            text=result.text,
            is_error=result.is_error,
            sources=result.sources,
        )
        return closed, *result.images

    def _bill(self, connection: Connection, now: int) -> None:
        for answer in self._unbilled:
            usage.insert(
                connection,
                bill(answer, "turn"),
                person_id=self._payer_id,
                turn_id=self.shelf.turn_id,
                now=now,
            )
