"""Read back a turn that an earlier process began."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.agent.loop.messages import is_answer
from agent_core.ids import CallId, TurnId
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.turns import Step
from agent_core.tools.contract import ToolResult
from agent_core.transcript import Message, ToolCallPart


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMessages:
    """The messages that a turn added.

    `shown` counts those that calls still see; `answers` are the turn's answers among the others.
    """

    messages: tuple[Message, ...]
    shown: int
    answers: tuple[str, ...]

    @property
    def open_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls of the turn's last message, if nothing followed them."""
        return self.messages[-1].calls if self.messages else ()


def find_own_messages(
    transcript: Sequence[StoredMessage], compaction: Compaction | None, turn_id: TurnId
) -> OwnMessages:
    """Select a turn's messages from its session's transcript."""
    own = [stored for stored in transcript if stored.turn_id == turn_id]
    result = [
        stored.message for stored in own if compaction and stored.id <= compaction.summarized_to
    ]
    return OwnMessages(
        messages=tuple(stored.message for stored in own),
        shown=len(own) - len(result),
        answers=tuple(message.text for message in result if is_answer(message)),
    )


def list_results(steps: Sequence[Step]) -> dict[CallId, ToolResult]:
    """Return the recorded results of a turn's calls."""
    return {
        step.call_id: ToolResult(
            text=step.outcome,
            is_error=step.is_error,
            sources=step.sources,
            images=step.images,
            receipts=step.receipts,
        )
        for step in steps
        if step.outcome is not None
    }
