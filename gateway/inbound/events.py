"""What the intake works through: stored events, before and after somebody looked into them."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.contract import ChatAdapter
from adapters.errors import Unreachable
from adapters.ids import Address, EventId
from adapters.messages import ButtonPress, InboundMessage, RawEvent
from agent_core.errors import StoreError
from agent_core.ids import InboxId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import inbox, read_positions
from agent_core.state.queues.inbox import InboxRow
from gateway.texts import general

_log = logging.getLogger(__name__)

_LONGEST_TEXT = 100_000
"""Characters of one message that are read; more than any platform but the console sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """A stored event that nobody has looked into. `is_repeat`: a restart reads it again."""

    row: InboxRow
    is_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundEvent:
    """A stored event with the message in it."""

    row: InboxRow
    message: InboundMessage
    is_repeat: bool
    is_press: bool = False
    """The message is what a button stands for, and its id that of the message with the button."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PressEvent:
    """A stored event with the press of a button in it."""

    row: InboxRow
    press: ButtonPress


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleEvents:
    """Stored events that turned out to be somebody else's by now, and have to be read again."""

    inbox_ids: tuple[InboxId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedEvent:
    """A stored event that is no message to us. `fault` says why it can't be read, if so."""

    row: InboxRow
    fault: str = ""


Item = StoredEvent | InboundEvent | PressEvent | StaleEvents | SkippedEvent


def parse_event(
    unread: StoredEvent, adapter: ChatAdapter
) -> InboundEvent | PressEvent | SkippedEvent:
    """What is in a stored event."""
    row = unread.row
    try:
        found = adapter.receive(RawEvent(event_id=EventId(row.event_id), payload=row.payload))
    except ValueError as error:
        _log.error("event %s of %s can't be read: %s", row.event_id, row.platform, error)
        return SkippedEvent(row=row, fault=str(error))
    if isinstance(found, ButtonPress):
        return PressEvent(row=row, press=found)
    if found is None or not found.is_addressed:
        return SkippedEvent(row=row)
    return InboundEvent(row=row, message=found, is_repeat=unread.is_repeat)


def merge_edits(
    arrival: InboundEvent, waiting: deque[Item]
) -> tuple[InboundMessage, list[InboxId]]:
    """A message as its sender has edited it since, and the events in it.

    Takes the edits out of `waiting`: what came behind the message in its chat.
    """
    message, inbox_ids = arrival.message, [arrival.row.id]
    for item in list(waiting):
        if isinstance(item, InboundEvent) and _is_edit_of(item.message, message):
            message = replace(message, text=item.message.text)
            inbox_ids.append(item.row.id)
            waiting.remove(item)
    return message, inbox_ids


def is_plain_text(message: InboundMessage) -> bool:
    """True for the sender's own words and nothing else: only those can answer a question."""
    return not message.attachments and message.forwarded_from is None


def find_fault(message: InboundMessage) -> str:
    """Why a message can't be worked on, or nothing."""
    text = message.text.strip()
    if len(text) > _LONGEST_TEXT:
        return general.TOO_LONG(size=len(text), limit=_LONGEST_TEXT)
    return "" if text or message.quote or message.attachments else general.EMPTY()


def _is_edit_of(edit: InboundMessage, message: InboundMessage) -> bool:
    is_same = edit.message_id == message.message_id
    return edit.is_edit and is_same and edit.sender.user_id == message.sender.user_id


class PlatformInlet:
    """The inlet of one platform; see `adapters.contract.Inlet`."""

    def __init__(
        self,
        *,
        platform: str,
        database: Database,
        is_open: Callable[[], bool],
        taken: Callable[[Sequence[InboxRow]], None],
        noticed: Callable[[Address], None],
        now: Callable[[], int],
    ) -> None:
        """`taken` is told of what was stored and is new, `noticed` of who can be reached."""
        self._platform = platform
        self._database = database
        self._is_open = is_open
        self._taken = taken
        self._now = now
        self.notice = noticed

    async def take(self, events: Sequence[RawEvent]) -> None:
        """Return once every event is on disk. Raises `Unreachable` if they can't be stored.

        Cancelled, it goes on all the same: what is stored would not be taken a second time.
        """
        if not self._is_open():
            raise Unreachable("Talaria is shutting down")
        await asyncio.shield(self._store(events))

    async def _store(self, events: Sequence[RawEvent]) -> None:
        now = self._now()
        fields = [(str(event.event_id), event.payload) for event in events]
        reached: dict[str, str] = {}
        for event in events:
            if event.position > reached.get(event.channel, ""):
                reached[event.channel] = event.position

        def work(connection: Connection) -> list[InboxRow]:
            rows = inbox.store(connection, platform=self._platform, events=fields, now=now)
            read_positions.advance(connection, platform=self._platform, reached=reached)
            return rows

        try:
            rows = await self._database.write("inbox.store", work)
        except StoreError as error:
            raise Unreachable(f"events can't be stored: {error}") from error
        if self._is_open():  # else they stand in the database, and are read at the next start
            self._taken(rows)

    async def marks(self) -> Mapping[str, str]:
        """How far each channel was read. Raises `Unreachable`."""
        try:
            return await self._database.read(
                lambda c: read_positions.read_all(c, platform=self._platform)
            )
        except StoreError as error:
            raise Unreachable(f"marks can't be read: {error}") from error
