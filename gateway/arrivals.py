"""What the intake works through: stored events, before and after somebody looked into them."""

import logging
from collections import deque
from dataclasses import dataclass, replace

from adapters.contract import ChatAdapter
from adapters.ids import EventId
from adapters.messages import ButtonPress, InboundMessage, RawEvent
from agent_core.ids import InboxId
from agent_core.state.inbox import InboxRow
from gateway import wording

_log = logging.getLogger(__name__)

_LONGEST_TEXT = 100_000
"""Characters of one message that are read; more than any platform but the console sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A stored event that nobody has looked into. `is_repeat`: a restart reads it again."""

    row: InboxRow
    is_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A stored event with the message in it."""

    row: InboxRow
    message: InboundMessage
    is_repeat: bool
    is_press: bool = False
    """The message is what a button stands for, and its id that of the message with the button."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A stored event with the press of a button in it."""

    row: InboxRow
    press: ButtonPress


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """Stored events that turned out to be somebody else's by now, and have to be read again."""

    inbox_ids: tuple[InboxId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A stored event that is no message to us. `fault` says why it can't be read, if so."""

    row: InboxRow
    fault: str = ""


Item = Unread | Arrival | Pressed | Stale | Aside


def look_into(unread: Unread, adapter: ChatAdapter) -> Arrival | Pressed | Aside:
    """What is in a stored event."""
    row = unread.row
    try:
        found = adapter.receive(RawEvent(event_id=EventId(row.event_id), payload=row.payload))
    except ValueError as error:
        _log.error("event %s of %s can't be read: %s", row.event_id, row.platform, error)
        return Aside(row=row, fault=str(error))
    if isinstance(found, ButtonPress):
        return Pressed(row=row, press=found)
    if found is None or not found.is_addressed:
        return Aside(row=row)
    return Arrival(row=row, message=found, is_repeat=unread.is_repeat)


def fold_edits(arrival: Arrival, waiting: deque[Item]) -> tuple[InboundMessage, list[InboxId]]:
    """A message as its sender has edited it since, and the events in it.

    Takes the edits out of `waiting`: what came behind the message in its chat.
    """
    message, inbox_ids = arrival.message, [arrival.row.id]
    for item in list(waiting):
        if isinstance(item, Arrival) and _is_edit_of(item.message, message):
            message = replace(message, text=item.message.text)
            inbox_ids.append(item.row.id)
            waiting.remove(item)
    return message, inbox_ids


def is_words(message: InboundMessage) -> bool:
    """True for the sender's own words and nothing else: only those can answer a question."""
    return not message.attachments and message.forwarded_from is None


def complain(message: InboundMessage) -> str:
    """Why a message can't be worked on, or nothing."""
    text = message.text.strip()
    if len(text) > _LONGEST_TEXT:
        return wording.TOO_LONG.format(size=len(text), limit=_LONGEST_TEXT)
    return "" if text or message.quote or message.attachments else wording.EMPTY


def _is_edit_of(edit: InboundMessage, message: InboundMessage) -> bool:
    is_same = edit.message_id == message.message_id
    return edit.is_edit and is_same and edit.sender.user_id == message.sender.user_id
