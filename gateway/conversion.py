"""Chat types to core types and back; the only file that speaks both."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from adapters.ids import Address, PlatformMessageId
from adapters.messages import Button, InboundMessage, OutboundFile, OutboundMessage, Step
from agent_core.agent.prompt import FactInputs, QuotedMessage, compose_facts
from agent_core.events import Steer
from agent_core.ids import InboxId, RoomId
from agent_core.schedule import JobTurn
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools import escape
from agent_core.transcript import Message, user_message
from gateway.attachments import Reading, is_spoken, notes_of, parts_of

_MOST_CHATS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a turn is answered: a chat of a platform, and the message that the answer is to."""

    platform: str
    chat: str
    answers: str | None = None

    @property
    def fields(self) -> tuple[str, str, str | None]:
        """As the core knows it."""
        return self.platform, self.chat, self.answers


@dataclass(slots=True, kw_only=True)
class QueuedMessage:
    """A message that waits for its conversation's next step.

    `inbox_ids` grows, and `message` is replaced, when the person edits what still waits.
    `starts_own_turn` keeps it for a turn of its own instead of steering the running one.
    """

    inbox_ids: tuple[InboxId, ...]
    platform: str
    message: InboundMessage
    person: Person
    conversation: Conversation
    room_id: RoomId | None = None
    """The room that it was written in, if any."""
    starts_own_turn: bool = False
    readings: tuple[Reading, ...] = ()
    """What became of the message's attachments."""
    unasked: tuple[str, ...] = ()
    """What the person was never asked for and is to be asked now."""
    is_repeat: bool = False
    """It was read before: a process may have ended over it, or its turn could not be begun."""
    job_turn: JobTurn | None = None
    """The run of a job that it is; nobody has written it then."""
    note: str = ""
    """What the model has to know of it besides; a line of its facts."""

    def amend(self, text: str, inbox_id: InboxId) -> None:
        """Replace the words by those of an edit."""
        self.message = replace(self.message, text=text)
        self.inbox_ids = (*self.inbox_ids, inbox_id)


@lru_cache(maxsize=_MOST_CHATS)
def name_chat(address: Address) -> str:
    """An address as the database knows it: the same place, the same text."""
    fields: list[object] = [address.chat_id, address.thread_id, address.is_direct]
    if address.ticket is not None:
        fields.append(address.ticket)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=_MOST_CHATS)
def read_chat(chat: str) -> Address:
    """The reverse of `name_chat`."""
    chat_id, thread_id, is_direct, *ticket = json.loads(chat)
    return Address(
        chat_id=chat_id,
        thread_id=thread_id,
        is_direct=is_direct,
        ticket=ticket[0] if ticket else None,
    )


def is_chat(chat: str) -> bool:
    """False for what no address was ever written as: it was damaged on disk."""
    try:
        read_chat(chat)
    except (ValueError, TypeError):
        return False
    return True


def is_direct_chat(chat: str) -> bool:
    """Return whether a stored chat is a direct one; an empty name is none."""
    return read_chat(chat).is_direct if chat else False


def make_zone_finder(default: str) -> Callable[[Person], str]:
    """Return a function that finds a person's IANA time zone; `default` is the deployment's."""

    def find(person: Person) -> str:
        return person.time_zone or default

    return find


def name_conversation(platform: str, address: Address, person: Person) -> str:
    """The key of the conversation that a message belongs to.

    A direct talk is the person's, whatever the platform; in a room it is the talk of this
    person in this room or thread.
    """
    if address.is_direct:
        return f"direct:{person.id}"
    return f"room:{platform}:{address.chat_id}:{address.thread_id or ''}:{person.id}"


def name_shared(platform: str, address: Address) -> str:
    """The key of the one talk that all who are in a room or thread share there."""
    return f"room:{platform}:{address.chat_id}:{address.thread_id or ''}:all"


def said(pending: QueuedMessage, *, zone: str, now: int, news: tuple[str, ...] = ()) -> Message:
    """A waiting message as the model reads it: facts first, then the person's words.

    `news` is what the talk has to be told besides.
    """
    return user_message(
        _words(pending.message),
        facts=_facts(pending, zone=zone, now=now, news=news),
        parts=parts_of(pending.readings, is_own=_is_own(pending.message)),
    )


def steer(pending: QueuedMessage, *, zone: str, now: int) -> Steer:
    """A waiting message as it is put into a running turn."""
    return Steer(
        inbox_ids=pending.inbox_ids,
        facts=_facts(pending, zone=zone, now=now),
        text=_words(pending.message),
        parts=parts_of(pending.readings, is_own=_is_own(pending.message)),
    )


def place_of(waiting: Sequence[QueuedMessage]) -> Place:
    """Where a turn's answer goes, by its newest message."""
    newest = waiting[-1]
    return Place(
        platform=newest.platform,
        chat=name_chat(newest.message.address),
        answers=newest.message.message_id or None,
    )


def outbound(
    row: OutboxRow,
    *,
    text: str,
    is_live: bool = False,
    file: OutboundFile | None = None,
    steps: tuple[Step, ...] = (),
) -> OutboundMessage:
    """A message owed, as its platform takes it; `text` is the body, or what is shown of it.

    In a room the first part shows which message it answers; a direct talk needs no such mark.
    """
    address = read_chat(row.chat)
    shows_answered = row.answers and row.part == 0 and not address.is_direct
    return OutboundMessage(
        address=address,
        text=text,
        reply_to=PlatformMessageId(row.answers) if row.answers and shows_answered else None,
        is_silent=row.is_silent,
        is_live=is_live,
        key=str(row.id),
        buttons=tuple(
            Button(key=choice.key, label=choice.label, style=choice.style) for choice in row.buttons
        ),
        file=file,
        steps=steps,
    )


def _facts(pending: QueuedMessage, *, zone: str, now: int, news: tuple[str, ...] = ()) -> str:
    message = pending.message
    return compose_facts(
        FactInputs(
            now=now,
            zone=zone,
            platform=pending.platform,
            is_direct=message.address.is_direct,
            room_title=message.room_title,
            is_thread=message.address.thread_id is not None,
            author=message.sender.display_name,
            language=message.sender.language,
            quote=_quote(message),
            attachments=notes_of(pending.readings),
            is_spoken=is_spoken(pending.readings, is_own=_is_own(message)),
            wanted=pending.person.language if pending.conversation.is_private else None,
            unasked=pending.unasked,
            news=(*news, pending.note) if pending.note else news,
        )
    )


def _is_own(message: InboundMessage) -> bool:
    return message.forwarded_from is None


def _words(message: InboundMessage) -> str:
    """What the sender said. What they only passed on is somebody else's, and is quoted."""
    return escape(message.text) if _is_own(message) else ""


def _quote(message: InboundMessage) -> QuotedMessage | None:
    if message.forwarded_from is not None:
        return QuotedMessage(author=message.forwarded_from, text=message.text, is_ours=False)
    answered = message.quote
    if answered is None:
        return None
    return QuotedMessage(author=answered.author, text=answered.text, is_ours=answered.is_ours)
