"""Inbound events: stored, parsed, merged with their edits."""

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.contract import ChatAdapter
from adapters.errors import Unreachable
from adapters.ids import Address, EventId
from adapters.messages import (
    ButtonPress,
    ChatMove,
    DeliveryReport,
    EmojiReaction,
    InboundMessage,
    Presence,
    RawEvent,
)
from agent_core.agent.loop.messages import has_visible_text
from agent_core.errors import StoreError
from agent_core.ids import InboxId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox
from agent_core.state.queues.inbox import InboxRow
from gateway.commands.catalog import read_sentence
from gateway.inbound.names import clean_names
from gateway.outbound.questions import Reaction
from gateway.people.onboarding import START
from gateway.texts import general

_log = logging.getLogger(__name__)

# A name as the platforms' menus allow it; groups on Telegram append the bot's own name.
_COMMAND = re.compile(
    r"/([A-Za-zÄÖÜäöü][A-Za-z0-9ÄÖÜäöüß_-]{0,63})(?:@\S+)?(?:\s+(.*))?", re.DOTALL
)

_INVITATION = re.compile(r"(claim|join|link)-([A-Za-z0-9-]+)")
"""The command and the code that a link carries: of `Linking`, an invitation or the start banner."""
CODE_COMMANDS = ("claim", "join")
"""Commands of accounts that may not talk yet; their codes let them in."""
_FIRST_CONTACT = 3_600_000
"""Milliseconds after the greeting during which bare words like "Vienna" answer it."""
_LONGEST_TEXT = 100_000
"""Characters of one message; more than any platform but the console sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundEvent:
    """A stored event with its message."""

    row: InboxRow
    message: InboundMessage
    is_press: bool = False
    """The message is the command of a button; its id is that of the message with the button."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PressEvent:
    """A stored event with the press of a button."""

    row: InboxRow
    press: ButtonPress


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionEvent:
    """A stored event with a person's reaction to a message."""

    row: InboxRow
    reaction: EmojiReaction


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveEvent:
    """A stored event with a group's new id."""

    row: InboxRow
    move: ChatMove


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEvent:
    """A stored event with what became of one of our messages."""

    row: InboxRow
    report: DeliveryReport


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleEvents:
    """Stored events whose person has changed: they are parsed again."""

    inbox_ids: tuple[InboxId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedEvent:
    """A stored event that is no message to the bot, or has a `fault`.

    `presence` is the people that it shows in a group or channel.
    """

    row: InboxRow
    fault: str = ""
    presence: Presence | None = None


Parsed = InboundEvent | PressEvent | ReactionEvent | MoveEvent | ReportEvent | SkippedEvent
Item = Parsed | StaleEvents


def parse_event(row: InboxRow, adapter: ChatAdapter) -> Parsed:
    """Parse a stored event."""
    try:
        event = RawEvent(event_id=EventId(row.event_id), payload=row.payload)
        found = clean_names(adapter.receive(event))
    except ValueError as error:
        _log.error("event %s of %s can't be parsed: %s", row.event_id, row.platform, error)
        return SkippedEvent(row=row, fault=str(error))
    if isinstance(found, ButtonPress):
        return PressEvent(row=row, press=found)
    if isinstance(found, EmojiReaction):
        return ReactionEvent(row=row, reaction=found)
    if isinstance(found, ChatMove):
        return MoveEvent(row=row, move=found)
    if isinstance(found, DeliveryReport):
        return ReportEvent(row=row, report=found)
    if isinstance(found, Presence):
        return SkippedEvent(row=row, presence=found)
    if found is None or not found.is_addressed:
        return SkippedEvent(row=row, presence=_find_author(found) if found else None)
    return InboundEvent(row=row, message=found)


def find_presence(item: Parsed) -> Presence | None:
    """Return the people that an event shows in a group or channel; None in a direct chat."""
    if isinstance(item, ReportEvent):
        return None
    if isinstance(item, SkippedEvent):
        shown = item.presence
    elif isinstance(item, MoveEvent):
        shown = Presence(address=item.move.address, user_ids=item.move.user_ids)
    elif isinstance(item, ReactionEvent):
        shown = Presence(address=item.reaction.address, user_ids=(item.reaction.user_id,))
    else:
        shown = _find_author(item.press if isinstance(item, PressEvent) else item.message)
    return None if shown is None or shown.address.is_direct else shown


def find_address(item: InboundEvent | PressEvent | ReactionEvent | MoveEvent) -> Address:
    """Return the chat in which an event happened."""
    if isinstance(item, MoveEvent):
        return item.move.address
    if isinstance(item, InboundEvent):
        return item.message.address
    return item.press.address if isinstance(item, PressEvent) else item.reaction.address


def _find_author(heard: InboundMessage | ButtonPress) -> Presence:
    """Return the author, and whoever wrote the message that they reply to."""
    quote = heard.quote if isinstance(heard, InboundMessage) else None
    quoted = (quote.author_id,) if quote and quote.author_id else ()
    return Presence(address=heard.address, user_ids=(heard.sender.user_id, *quoted))


def merge_edits(
    arrived: InboundEvent, waiting: deque[Item]
) -> tuple[InboundMessage, list[InboxId]]:
    """Apply the edits that wait behind a message; return it and the events in it.

    Takes the edits out of `waiting`.
    """
    message, inbox_ids = arrived.message, [arrived.row.id]
    for item in list(waiting):
        if isinstance(item, InboundEvent) and _is_edit_of(item.message, message):
            message = replace(message, text=item.message.text)
            inbox_ids.append(item.row.id)
            waiting.remove(item)
    return message, inbox_ids


def is_plain_text(message: InboundMessage) -> bool:
    """Return whether a message is only its sender's own text, as an answer must be."""
    return not (message.attachments or message.forwarded_from or message.is_program)


def find_fault(message: InboundMessage) -> str:
    """Return why a message can't be answered, or ""."""
    text = message.text.strip()
    if len(text) > _LONGEST_TEXT:
        return general.TOO_LONG(size=len(text), limit=_LONGEST_TEXT)
    has_more = message.quote or message.attachments or message.wishes
    is_empty = not (has_visible_text(text) or has_more)
    return general.EMPTY() if is_empty else ""


def _is_edit_of(edit: InboundMessage, message: InboundMessage) -> bool:
    is_same = edit.message_id == message.message_id
    return edit.is_edit and is_same and edit.sender.user_id == message.sender.user_id


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformInlet:
    """The inlet of one platform; see `adapters.contract.Inlet`.

    `taken` is called with new events, `notice` with chats that can be reached.
    """

    platform: str
    database: Database
    is_open: Callable[[], bool]
    taken: Callable[[Sequence[InboxRow]], None]
    notice: Callable[[Address], None]
    now: Callable[[], int]

    async def take(self, events: Sequence[RawEvent]) -> None:
        """Store events; return once they are on disk. Raises `Unreachable` if they can't be stored.

        A cancelled call still stores them, because the platform would not send them again.
        """
        if not self.is_open():
            raise Unreachable("Talaria is shutting down")
        await asyncio.shield(self._store(events))

    async def _store(self, events: Sequence[RawEvent]) -> None:
        now = self.now()
        fields = [(str(event.event_id), event.payload) for event in events]
        reached: dict[str, str] = {}
        for event in events:
            if event.position > reached.get(event.channel, ""):
                reached[event.channel] = event.position

        def work(connection: Connection) -> list[InboxRow]:
            rows = inbox.store(connection, platform=self.platform, events=fields, now=now)
            inbox.advance_positions(connection, platform=self.platform, reached=reached)
            return rows

        try:
            rows = await self.database.write("inbox.store", work)
        except StoreError as error:
            raise Unreachable(f"events can't be stored: {error}") from error
        if self.is_open():  # else the next start reads them from the database
            self.taken(rows)

    async def marks(self) -> Mapping[str, str]:
        """Return the read position of each channel. Raises `Unreachable`."""
        try:
            return await self.database.read(inbox.read_positions, platform=self.platform)
        except StoreError as error:
            raise Unreachable(f"marks can't be read: {error}") from error


def parse_command(text: str) -> tuple[str, str] | None:
    """Return the name and the argument of a command, or None for any other text."""
    found = _COMMAND.fullmatch(text.strip())
    return (found[1].lower(), (found[2] or "").strip()) if found else None


def is_newcomer(person: Person, message: InboundMessage, now: int) -> bool:
    """Return whether a direct message is one of a person's first, and may need an introduction."""
    is_new = person.asked_at is None or now - person.asked_at <= _FIRST_CONTACT
    is_own = not (message.is_edit or message.is_program)
    return is_new and message.address.is_direct and is_own


def make_reaction(row: InboxRow, heard: InboundMessage | ButtonPress, person: Person) -> Reaction:
    """Build a person's reaction to an open question."""
    return Reaction(
        inbox_id=row.id,
        platform=row.platform,
        address=heard.address,
        person=person,
        quoted=find_quoted(heard) if isinstance(heard, InboundMessage) else None,
    )


def find_quoted(message: InboundMessage) -> str | None:
    """Return the platform's id of the message that one answers, "" if unknown; None without one."""
    return (message.quote.message_id or "") if message.quote else None


def find_said_command(message: InboundMessage) -> tuple[str, str] | None:
    """Return the command that a message of the sender's own means in plain words, if it does."""
    is_own = is_plain_text(message) and not message.quote
    return read_sentence(message.text) if is_own else None


def split_command(message: InboundMessage) -> tuple[str, str] | None:
    """Return the command in a message of the sender's own; edits, forwards and programs have none.

    A code that is forwarded in a room is still read, so that it becomes invalid.
    """
    is_none = message.is_edit or message.is_program
    command = None if is_none else parse_command(message.text)
    invited = _INVITATION.fullmatch(command[1]) if command and command[0] == START else None
    if invited:
        command = (invited[1], invited[2])
    if command is None or message.forwarded_from is None:
        return command
    is_exposed = command[0] in (*CODE_COMMANDS, "link") and not message.address.is_direct
    return command if is_exposed else None


def language_of(item: Item) -> str | None:
    """Return the language of a sender's app, until their own setting is known."""
    if isinstance(item, InboundEvent):
        return item.message.sender.language
    return item.press.sender.language if isinstance(item, PressEvent) else None
