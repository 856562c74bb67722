"""What the model gave in each call of a turn, as far as the transcript tells; pure."""

from collections.abc import Sequence

from agent_core.loop.answers import is_answer
from agent_core.models.contract import ModelAnswer, StopReason, Usage
from agent_core.replay.rebuilding import Call, Sent
from agent_core.replay.records import TurnRecord
from agent_core.state.turns import TurnState
from agent_core.transcript import Message, TextPart

_EMPTY = Message(role="assistant", parts=())
_FLAWS: dict[str, StopReason] = {
    "length": "length",
    "unknown_stop": "unknown",
    "overflow": "overflow",
}
_OPEN_OR_ANSWERED: tuple[TurnState, ...] = ("running", "answered")


def list_answers(record: TurnRecord, calls: Sequence[Call]) -> tuple[ModelAnswer, ...]:
    """The answers to `calls`. Of one that held nothing only that it came is known."""
    following = (*(call.sent for call in calls[1:]), None)
    return tuple(
        _answer(record, call.sent, later) for call, later in zip(calls, following, strict=True)
    )


def speaks_for_loop(message: Message) -> bool:
    """True for what the loop itself put in front of a call: facts, and nobody's words."""
    return message.role == "user" and all(
        isinstance(part, TextPart) and part.is_fact for part in message.parts
    )


def _answer(record: TurnRecord, sent: Sent | None, later: Sent | None) -> ModelAnswer:
    said = [stored.message for stored in record.said]
    end = sent.end if sent else None
    message = said[end] if end is not None and end < len(said) else _EMPTY
    if sent and later and later.end == sent.end:
        # Nothing was added: the same was asked once more, or with a shorter transcript.
        return _give(_EMPTY, "pause" if later.fold == sent.fold else "overflow")
    if message.role == "assistant" and end is not None and not _was_told(record, said, end):
        return _give(message, _stop_of(record, said, end))
    if record.turn.state == "refused":
        return _give(_EMPTY, "refusal", refusal=record.turn.reason)
    return _give(_EMPTY, "end" if end != len(said) - 1 else _flaw(record))


def _give(message: Message, stop: StopReason, refusal: str = "") -> ModelAnswer:
    return ModelAnswer(message=message, stop=stop, usage=Usage(), model="", refusal=refusal)


def _was_told(record: TurnRecord, said: Sequence[Message], end: int) -> bool:
    """True for the sentence that a person read because there was no answer."""
    is_last = end == len(said) - 1 and not said[end].calls
    if not is_last or record.turn.state in _OPEN_OR_ANSWERED:
        return False
    return not (record.turn.state == "exhausted" and speaks_for_loop(said[end - 1]))


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
