"""Ids of rows, each its own type so that they can't be confused."""

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
"""A moment in milliseconds since the epoch: the time of storing its entry, or just after."""

CallId = NewType("CallId", str)
"""A model's own id of one tool call, unique within one answer."""

PromptHash = NewType("PromptHash", str)
"""SHA-256, in hex, of a frozen prompt."""
