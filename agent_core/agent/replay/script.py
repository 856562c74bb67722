"""The recorded course of a turn, and the position of its replay."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.budget import Budget, Limits
from agent_core.agent.claims.notes import is_question
from agent_core.agent.compaction.compacted_view import find_compaction
from agent_core.agent.compaction.compactor import apply_compaction
from agent_core.agent.compaction.left_out import is_note
from agent_core.agent.loop.contract import Reservation
from agent_core.agent.loop.messages import is_answer
from agent_core.agent.replay.rebuild import RebuiltCall, SentRequest
from agent_core.agent.replay.records import TurnRecord
from agent_core.events import Steer
from agent_core.models.contract import ModelAnswer, ModelRequest, StopReason, Usage
from agent_core.models.images import choose
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.turns import TurnState
from agent_core.transcript import Message, Part, TextPart

_EMPTY = Message(role="assistant", parts=())
_FLAWS: dict[str, StopReason] = {
    "length": "length",
    "unknown_stop": "unknown",
    "overflow": "overflow",
}
_OPEN_OR_ANSWERED: tuple[TurnState, ...] = ("running", "answered")


def list_answers(record: TurnRecord, calls: Sequence[RebuiltCall]) -> tuple[ModelAnswer, ...]:
    """List the answers to `calls`; none if the turn failed before its first answer.

    The content of an empty answer is unknown.
    """
    following = (*(call.sent for call in calls), None)[1:]
    return tuple(
        _answer(record, call.sent, later) for call, later in zip(calls, following, strict=True)
    )


def is_loop_message(message: Message) -> bool:
    """True for a message of the loop itself: facts only."""
    return message.role == "user" and all(
        isinstance(part, TextPart) and part.is_fact for part in message.parts
    )


def _answer(record: TurnRecord, sent: SentRequest | None, later: SentRequest | None) -> ModelAnswer:
    said = [stored.message for stored in record.said]
    end = sent.end if sent else None
    message = said[end] if end is not None and end < len(said) else _EMPTY
    if sent and later and later.end == sent.end:
        # Nothing was added: the same request was sent again, or one with a shorter transcript.
        return _give(_EMPTY, "pause" if later.compaction == sent.compaction else "overflow")
    if message.role == "assistant" and end is not None and not _is_notice(record, said, end):
        return _give(message, _stop_of(record, said, end))
    if record.turn.state == "refused":
        return _give(_EMPTY, "refusal", refusal=record.turn.reason)
    return _give(_EMPTY, "end" if end != len(said) - 1 else _flaw(record))


def _give(message: Message, stop: StopReason, refusal: str = "") -> ModelAnswer:
    return ModelAnswer(message=message, stop=stop, usage=Usage(), model="", refusal=refusal)


def _is_notice(record: TurnRecord, said: Sequence[Message], end: int) -> bool:
    """True for the notice that the person read instead of an answer."""
    is_last = end == len(said) - 1 and not said[end].calls
    if not is_last or record.turn.state in _OPEN_OR_ANSWERED:
        return False
    return not (record.turn.state == "exhausted" and is_loop_message(said[end - 1]))


def _stop_of(record: TurnRecord, said: Sequence[Message], end: int) -> StopReason:
    message = said[end]
    if message.calls:
        return "tools"
    if end == len(said) - 1:
        return _flaw(record)
    goes_on = said[end + 1].role == "assistant" or not is_answer(message)
    return "pause" if goes_on else "end"


def _flaw(record: TurnRecord) -> StopReason:
    return _FLAWS.get(record.turn.reason, "end")


_ENDLESS = 1_000_000
_LATE = 1e9


class RecordEnds(Exception):
    """The record ends here: the next answer or result is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoReservation:
    """A reservation that sets nothing aside: the call was paid for when it was made."""

    request: ModelRequest
    price: Callable[[], int]
    used_cheap_model: bool = False

    def finalize(self, model: str, spent: Usage) -> int:
        """Return the price of the call; see `ReplayScript.price`."""
        return self.price()

    def close(self, *, streamed: int = 0) -> None:
        """Do nothing."""


class ReplayScript:
    """The recorded turn and the position of its replay."""

    def __init__(self, record: TurnRecord, calls: Sequence[RebuiltCall]) -> None:
        self._record = record
        self._calls = calls
        self._answers = list_answers(record, calls)
        self._said = [stored.message for stored in record.said]
        self.recorded = _count_opening(self._said)
        self._compaction = self._find_first_compaction()
        self.opening = self._view()
        self._is_summarized = _is_summarized(record, calls)
        self.replayed: list[ModelRequest] = []
        self.has_spoken = False
        """True while the last answer is in the transcript but not recorded yet."""

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """The recorded answer. Raises `RecordEnds`."""
        number = len(self.replayed)
        self.replayed.append(request)
        if number >= len(self._answers):
            raise RecordEnds
        answer = self._answers[number]
        self.has_spoken = bool(answer.message.parts)
        return answer

    async def load_images(self, messages: Sequence[Message]) -> Mapping[str, bytes]:
        """The recorded images; their keys are enough for a fingerprint."""
        number = min(len(self.replayed), len(self._calls) - 1)
        sent = self._calls[number].sent if self._calls else None
        return {key: b"" for key in choose(messages) if sent is None or key in sent.shown}

    def fit(self) -> tuple[Message, ...] | None:
        """The messages under the next call's compaction and notes on what it leaves out; None if
        they apply already.
        """
        number = len(self.replayed)
        sent = self._calls[number].sent if number < len(self._calls) else None
        notes = 0
        for message in self._said[self.recorded :]:
            if not is_note(message):
                break
            notes += 1
        self.recorded += notes
        if sent is None or (sent.compaction == self._compaction and not notes):
            return self._view() if notes else None
        self._compaction = sent.compaction
        return self._view()

    def _view(self) -> tuple[Message, ...]:
        end = len(self._record.transcript) - self._record.own + self.recorded
        return apply_compaction(self._record.transcript[:end], self._compaction)

    def _find_first_compaction(self) -> Compaction | None:
        """The compaction that applied when the turn began."""
        sent = self._calls[0].sent if self._calls else None
        compaction = sent.compaction if sent else None
        if compaction is None or compaction.made_after < self._record.said[0].id:
            return compaction
        before = self._record.transcript[: -self._record.own]
        return find_compaction(before, self._record.compactions)

    async def reserve(self, request: ModelRequest, *, cheap: str) -> Reservation:
        """Use the model of the recorded call, which may be a fallback or the cheap model."""
        number = len(self.replayed)
        if number >= len(self._calls):
            return _NoReservation(request=request, price=self.price)
        spent = self._calls[number].spent
        asked = replace(
            request,
            model=spent.asked_model or spent.model,
            max_output_tokens=spent.output_limit or 0,
            shape=spent.request_shape,
        )
        return _NoReservation(request=asked, price=self.price)

    def take_steers(self) -> list[Steer]:
        """The person's next recorded messages, if they come next."""
        place = self.recorded + (1 if self.has_spoken else 0)
        while place < len(self._said) and (
            self._said[place].role == "tool" or is_loop_message(self._said[place])
        ):
            place += 1
        steers = []
        for message in self._said[place:]:
            if message.role != "user" or is_loop_message(message):
                break
            steers.append(_steer(message))
        return steers

    def find_question(self) -> Message | None:
        """The recorded question about the claims of the last answer; None if there was none."""
        place = self.recorded + (1 if self.has_spoken else 0)
        said = self._said[place] if place < len(self._said) else None
        return said if said and is_question(said) else None

    @property
    def _is_spent(self) -> bool:
        """Return True if the recorded turn had reached its limit here."""
        return self._is_summarized and len(self.replayed) >= len(self._calls) - 1

    def price(self) -> int:
        """The price of the last call: the whole budget, if the turn had reached it."""
        return 1 if self._is_spent else 0

    def budget(self) -> Budget:
        """A budget that is exhausted when the recorded one was."""
        reason = self._record.turn.reason if self._is_summarized else ""
        limits = Limits(
            steps=max(1, len(self._calls) - 1) if reason == "steps" else _ENDLESS,
            tokens=1 if reason == "tokens" else 0,
            micro_dollars=1 if reason == "money" else 0,
            seconds=1.0 if reason == "time" else 0,
        )
        return Budget(limits, started=0.0, clock=lambda: _LATE if self._is_spent else 0.0)

    def usage(self) -> Usage:
        """The usage of the last call, computed like `price`."""
        return Usage(output_tokens=self.price())


def _is_summarized(record: TurnRecord, calls: Sequence[RebuiltCall]) -> bool:
    """True if the turn's last call asked for a summary because a limit was reached."""
    sent = calls[-1].sent if calls and record.turn.state == "exhausted" else None
    return sent is not None and is_loop_message(sent.messages[-1])


def _count_opening(said: Sequence[Message]) -> int:
    """The number of messages before the first call."""
    later = (
        place
        for place, message in enumerate(said)
        if message.role != "user" or (place and is_loop_message(message))
    )
    return next(later, len(said))


def _steer(message: Message) -> Steer:
    """Return the steer from which a message was made."""
    facts, words, parts = "", "", list[Part](message.parts)
    if isinstance(parts[0], TextPart) and parts[0].is_fact:
        facts, parts = parts[0].text, parts[1:]
    if parts and isinstance(parts[0], TextPart) and not parts[0].is_fact:
        words, parts = parts[0].text, parts[1:]
    return Steer(inbox_ids=(), facts=facts, text=words, parts=tuple(parts))
