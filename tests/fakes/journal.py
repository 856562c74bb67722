"""A journal in memory that also rejects invalid records."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from agent_core.agent.claims.deeds import Deed
from agent_core.events import Steer
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer
from agent_core.tools.contract import ToolResult
from agent_core.tools.own_words.contract import NO_WORDS, OwnWords
from agent_core.tools.policy.approval_requests import ApprovalRequest
from agent_core.transcript import Message, ToolCallPart, ToolResultPart, UntrustedSource

Kind = Literal["answer", "begin", "result", "input", "outage", "conclude"]


class FakeJournal:
    """Keeps records in order; `transcript` is what a database would have of the turn."""

    def __init__(self, open_calls: Sequence[ToolCallPart] = ()) -> None:
        self.kinds: list[Kind] = []
        self.sources: tuple[UntrustedSource, ...] = ()
        self.evidence = "hello"
        self.deeds: tuple[Deed, ...] = ()
        self.answers: list[ModelAnswer] = []
        self.results: dict[CallId, ToolResult] = {}
        self.inputs: list[tuple[Message, ...]] = []
        self.steers: list[Steer] = []
        self.outages: list[int] = []
        self.transcript: list[Message] = []
        self.last_words: tuple[Message, ...] | None = None
        self.paid: list[ModelAnswer] = []
        self.unpaid: list[ModelAnswer] = []
        self.open = {call.call_id for call in open_calls}
        self.before: Callable[[Kind], Awaitable[None]] | None = None

    def read_own_words(self) -> OwnWords:
        """Return no words."""
        return NO_WORDS

    def note_answer(self, answer: ModelAnswer) -> None:
        self.unpaid.append(answer)

    async def record_answer(self, answer: ModelAnswer) -> None:
        await self._note("answer")
        assert not self.open, "an answer came before the results of the last one's calls"
        assert answer.message.parts, "an answer without parts can't stand in a transcript"
        ids = [call.call_id for call in answer.message.calls]
        assert len(set(ids)) == len(ids)
        assert not set(ids) & set(self.results), "a call id was used twice in a turn"
        self.open = set(ids)
        self.answers.append(answer)
        self.paid, self.unpaid = [*self.paid, *self.unpaid], []
        self.transcript.append(answer.message)

    async def record_held(self) -> None:
        """Nothing is held back."""

    async def record_begin(
        self, call: ToolCallPart, request: ApprovalRequest | None = None
    ) -> bool:
        assert self._is_known(call.call_id), "a call began that was not recorded"
        await self._note("begin")
        return True

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        await self._note("result")
        assert self._is_known(call.call_id), "a result of a call that was not recorded"
        assert call.call_id not in self.results, "a second result of one call"
        self.results[call.call_id] = result
        if result.receipts and not result.is_error:
            self.deeds += (Deed(kind="any", receipts=result.receipts),)

    def _is_known(self, call_id: CallId) -> bool:
        """Return whether a call is from the last answer, or made by its code."""
        return call_id in self.open or call_id.rpartition(".")[0] in self.open

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        await self._note("input")
        assert added
        answered = [
            part.call_id
            for message in added
            for part in message.parts
            if isinstance(part, ToolResultPart)
        ]
        assert sorted(answered) == sorted(self.open), "each call is answered exactly once"
        self.open = set()
        self.inputs.append(tuple(added))
        self.steers += steers
        self.transcript += added

    async def record_outage(self, since: int) -> None:
        await self._note("outage")
        self.outages.append(since)

    def conclude(self, added: Sequence[Message]) -> None:
        self.kinds.append("conclude")
        assert self.last_words is None, "a turn is concluded once"
        assert not self.open, "a turn can't be concluded with calls that have no result"
        assert not any(message.calls for message in added), "calls that nothing will answer"
        assert all(message.parts for message in added)
        self.last_words = tuple(added)
        self.transcript += added

    async def _note(self, kind: Kind) -> None:
        assert self.last_words is None, "nothing is recorded after the last words"
        if self.before:
            await self.before(kind)
        self.kinds.append(kind)
