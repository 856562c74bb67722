"""Types for the ids of rows, so that they can't be confused, and the current turn.

Each log line names the current turn. Tasks and threads that a turn starts inherit it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NewType

PersonId = NewType("PersonId", int)
AccountId = NewType("AccountId", int)
ConversationId = NewType("ConversationId", int)
SessionId = NewType("SessionId", int)
MessageId = NewType("MessageId", int)
PassageId = NewType("PassageId", int)
InboxId = NewType("InboxId", int)
TurnId = NewType("TurnId", int)
OutboxId = NewType("OutboxId", int)
TaskId = NewType("TaskId", int)
QuestionId = NewType("QuestionId", int)
LinkId = NewType("LinkId", int)
RoomId = NewType("RoomId", int)
BlockId = NewType("BlockId", int)
JobId = NewType("JobId", int)
RunId = NewType("RunId", int)
ProcessId = NewType("ProcessId", int)
ApprovalId = NewType("ApprovalId", int)

ArchiveId = NewType("ArchiveId", int)
"""The time when its entry was stored, in milliseconds since the epoch, or the next free one."""

CallId = NewType("CallId", str)
"""A model's own id of one tool call, unique within one answer."""

PromptHash = NewType("PromptHash", str)
"""SHA-256, in hex, of a frozen prompt."""

_turn: ContextVar[TurnId | None] = ContextVar("turn", default=None)


def find_current_turn() -> TurnId | None:
    """Return the turn that the current task works for; None outside of turns."""
    return _turn.get()


@contextmanager
def use_turn(turn_id: TurnId | None) -> Iterator[None]:
    """Work for a turn, or for none, while the block runs."""
    token = _turn.set(turn_id)
    try:
        yield
    finally:
        _turn.reset(token)


def set_turn(turn_id: TurnId | None) -> None:
    """Work for another turn until the enclosing `use_turn` or the task ends."""
    _turn.set(turn_id)
