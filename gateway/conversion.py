"""Converts chat types to agent types and back; the only module that knows both."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import (
    Button,
    InboundMessage,
    OutboundFile,
    OutboundMessage,
    Sender,
    Step,
)
from agent_core.agent.prompt.facts import FactInputs, QuotedMessage, compose_facts
from agent_core.events import Steer
from agent_core.ids import InboxId, RoomId
from agent_core.names import PlainName, name_caller, name_member, name_stranger
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import sessions
from agent_core.state.conversations.images import PDF
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Account, Person
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    PdfPart,
    TextPart,
    escape,
    quote,
    user_message,
)
from gateway.media.readings import Picture, Reading, Unreadable, Words

_MOST_CHATS = 4096
_ASIDE = "aside"
CONSOLE = "@console"
"""The name under which the console's pages act as a client; no token can have this name."""
_SCAN = "It holds no text, such as a scan."
_NAME_LIMIT = 120
"""Most characters of a file's name, and of the note on how much of the file was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The chat of an answer, and the message that it replies to."""

    platform: str
    chat: str
    answers: str | None = None

    @property
    def fields(self) -> tuple[str, str, str | None]:
        """The columns of the database: platform, chat and message."""
        return self.platform, self.chat, self.answers


@dataclass(slots=True, kw_only=True)
class QueuedMessage:
    """A message that waits for its conversation's next turn or step.

    An edit of a waiting message replaces `message` and adds to `inbox_ids`. `starts_own_turn`
    keeps
    it from steering the running turn.
    """

    inbox_ids: tuple[InboxId, ...]
    platform: str
    message: InboundMessage
    person: Person
    conversation: Conversation
    room_id: RoomId | None = None
    """The room that it was written in, if any."""
    room_name: PlainName | None = None
    """The name that one of our own people gave to the room."""
    starts_own_turn: bool = False
    readings: tuple[Reading, ...] = ()
    """The results of reading the message's attachments."""
    unasked: tuple[str, ...] = ()
    """Questions to ask the person now, because they were never asked."""
    is_steer: bool = False
    """True if it reaches its person's running turn from any chat, and before queued messages."""
    is_repeat: bool = False
    """True if the event was read before: the process may have crashed, or the turn could not begin.
    """
    job_turn: JobTurn | None = None
    """The job run that this message starts; None if a person wrote the message."""
    note: str = ""
    """A further line of facts for the model."""

    def amend(self, text: str, inbox_id: InboxId) -> None:
        """Replace the text by that of an edit."""
        self.message = replace(self.message, text=text)
        self.inbox_ids = (*self.inbox_ids, inbox_id)


@lru_cache(maxsize=_MOST_CHATS)
def name_chat(address: Address) -> str:
    """Return an address as stored text: equal for the same place."""
    fields: list[object] = [address.chat_id, address.thread_id, address.is_direct]
    if address.ticket is not None:
        fields.append(address.ticket)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=_MOST_CHATS)
def name_queue(address: Address) -> str:
    """Return the chat within which messages keep their order, as stored text.

    The threads of a direct chat are one conversation: a person who writes in several of them is
    answered in the order of writing.
    """
    return name_chat(replace(address, thread_id=None) if address.is_direct else address)


def name_threads(address: Address) -> tuple[str, str]:
    """Return the range of stored texts that name a chat or a thread of it: first, and end."""
    start = json.dumps([address.chat_id], ensure_ascii=False)[:-1]
    return f"{start},", f"{start}-"  # "-" is the character after ","


@lru_cache(maxsize=_MOST_CHATS)
def read_chat(chat: str) -> Address:
    """Return the address of a stored text; the reverse of `name_chat`."""
    chat_id, thread_id, is_direct, *ticket = json.loads(chat)
    return Address(
        chat_id=chat_id,
        thread_id=thread_id,
        is_direct=is_direct,
        ticket=ticket[0] if ticket else None,
    )


def span_topics(chat: str) -> tuple[str, str]:
    """Return a range of stored texts that holds all topics of a chat, and no other chat."""
    start = json.dumps([read_chat(chat).chat_id], ensure_ascii=False).removesuffix("]") + ","
    return start, f"{start}\U0010ffff"


def is_chat(chat: str) -> bool:
    """Return whether a stored text is a valid address; False means that it is damaged."""
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
    """Return the key of the conversation that a message belongs to.

    A direct conversation is the person's on every platform; a room has one for each person and
    thread.
    """
    if address.is_direct:
        return sessions.name_direct(person.id)
    return f"room:{platform}:{address.chat_id}:{address.thread_id or ''}:{person.id}"


def make_unwritten(
    person: Person, accounts: Sequence[Account], place: tuple[str, str], text: str, now: int
) -> InboundMessage:
    """Make a message that starts a turn for a person, as if the person had sent it.

    `accounts` are theirs, `place` is (platform, chat), and `now` is in milliseconds UTC.
    """
    platform, chat = place
    user_id = next((one.user_id for one in accounts if one.platform == platform), "")
    return InboundMessage(
        address=read_chat(chat),
        message_id=PlatformMessageId(""),
        sender=Sender(user_id=PlatformUserId(user_id), display_name=person.name),
        text=text,
        is_addressed=True,
        sent_at=now,
    )


def is_of_pages(address: Address) -> bool:
    """Return whether an address of the API is that of the console's pages."""
    return f"/{CONSOLE}/" in address.chat_id


def name_program(address: Address, person: Person) -> str:
    """Return the key of the conversation of a person's program, separate from their direct one."""
    return f"program:{address.chat_id}:{person.id}"


def name_shared(platform: str, address: Address) -> str:
    """Return the key of the conversation that everybody in a room or thread shares."""
    return f"room:{platform}:{address.chat_id}:{address.thread_id or ''}:all"


def name_aside(key: str, inbox_id: InboxId) -> str:
    """Return the key of the conversation of the side question that came with an event."""
    return f"{_ASIDE}:{inbox_id}:{key}"


def is_aside(key: str) -> bool:
    """Return whether a key is that of a side question."""
    return key.startswith(f"{_ASIDE}:")


def said(pending: QueuedMessage, *, zone: str, now: int, news: tuple[str, ...] = ()) -> Message:
    """Convert a waiting message for the model: facts first, then the person's words.

    `news` are further facts about the conversation.
    """
    return user_message(
        _words(pending.message),
        facts=_facts(pending, zone=zone, now=now, news=news),
        parts=parts_of(pending.readings, is_own=_is_own(pending.message)),
    )


def steer(pending: QueuedMessage, *, zone: str, now: int) -> Steer:
    """Convert a waiting message that steers a running turn."""
    return Steer(
        inbox_ids=pending.inbox_ids,
        facts=_facts(pending, zone=zone, now=now),
        text=_words(pending.message),
        parts=parts_of(pending.readings, is_own=_is_own(pending.message)),
    )


def place_of(waiting: Sequence[QueuedMessage]) -> Place:
    """Return the place of a turn's answer: that of its newest message."""
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
    """Convert an outbox row for its platform; `text` is the body, or the part shown of it.

    In a room, the first part replies to the message that it answers.
    """
    address = read_chat(row.chat)
    shows_answered = row.answers and row.part == 0 and not address.is_direct
    return OutboundMessage(
        address=address,
        text=text,
        reply_to=PlatformMessageId(row.answers) if row.answers and shows_answered else None,
        is_silent=row.is_silent,
        is_live=is_live,
        key=row.key,
        buttons=tuple(
            Button(key=choice.key, label=choice.label, style=choice.style) for choice in row.buttons
        ),
        file=file,
        steps=steps,
    )


def readdress(row: OutboxRow, place: tuple[str, str]) -> NewOutboxMessage:
    """Make a row's message for another platform and chat, without its buttons and question."""
    platform, chat = place
    return NewOutboxMessage(
        platform=platform,
        chat=chat,
        body=row.body,
        person_id=row.person_id,
        turn_id=row.turn_id,
        part=row.part,
        is_silent=row.is_silent,
        file=row.file,
    )


def _facts(pending: QueuedMessage, *, zone: str, now: int, news: tuple[str, ...] = ()) -> str:
    message = pending.message
    return compose_facts(
        FactInputs(
            now=now,
            zone=zone,
            platform=pending.platform,
            is_direct=message.address.is_direct,
            room_name=pending.room_name,
            is_thread=message.address.thread_id is not None,
            author=_name_author(pending),
            language=message.sender.language,
            program=message.sender.display_name if message.is_program else "",
            quote=_quote(message),
            attachments=notes_of(pending.readings),
            is_spoken=is_spoken(pending.readings, is_own=_is_own(message)),
            wanted=pending.person.language if pending.conversation.is_private else None,
            unasked=pending.unasked,
            news=(*news, pending.note) if pending.note else news,
        )
    )


def _name_author(pending: QueuedMessage) -> PlainName:
    """Return the name of a message's author: in private that of the person, on every platform."""
    person, sender = pending.person, pending.message.sender
    if pending.message.address.is_direct:
        return name_caller(person.id, person.name)
    return name_member(person.id, sender.display_name, sender.username, person.name)


def _is_own(message: InboundMessage) -> bool:
    return message.forwarded_from is None


def _words(message: InboundMessage) -> str:
    """Return the sender's own words; forwarded words are quoted."""
    return escape(message.text) if _is_own(message) else ""


def _quote(message: InboundMessage) -> QuotedMessage | None:
    if message.forwarded_from is not None:
        return QuotedMessage(
            author=name_stranger(message.forwarded_from),
            text=message.text,
            is_ours=False,
            is_forward=True,
        )
    answered = message.quote
    if answered is None:
        return None
    return QuotedMessage(
        author=name_stranger(answered.author),
        text=answered.text,
        is_ours=answered.is_ours,
        is_untrusted=answered.is_untrusted,
    )


def parts_of(readings: Sequence[Reading], *, is_own: bool = True) -> tuple[Part, ...]:
    """Return the parts after a message's text: voice notes, then files, then pictures.

    A voice note counts as its sender's words. A forwarded one (not `is_own`) and any other
    recording may hold another person's words: they are quoted like a file.
    """
    words = [reading for reading in readings if isinstance(reading, Words)]
    spoken = [one for one in words if one.is_voice and is_own]
    quoted = [one for one in words if not (one.is_voice and is_own)]
    return (
        *(TextPart(text=escape(one.text)) for one in spoken),
        *chain.from_iterable(_show_file(one) for one in quoted),
        *(
            ImagePart(file_key=one.file_key, media_type=one.media_type, size=one.size)
            for one in readings
            if isinstance(one, Picture)
        ),
    )


def _show_file(words: Words) -> Iterator[Part]:
    """Show the text of a file, and then the file itself if the model can see it as a PDF file."""
    yield DocumentPart(name=words.name, text=_quote_file(words))
    if pdf := words.pdf:
        yield PdfPart(file_key=pdf.file_key, media_type=PDF, size=pdf.size, pages=pdf.pages)


def _quote_file(words: Words) -> str:
    """Quote a file; our own tags in it are escaped, so that it can't end its block."""
    extent = f" part={quote(words.extent, _NAME_LIMIT)}" if words.extent else ""
    head = f"<attached-file name={quote(words.name, _NAME_LIMIT)}{extent}>"
    return f"{head}\n{escape(words.text) or _SCAN}\n</attached-file>"


def is_spoken(readings: Sequence[Reading], *, is_own: bool = True) -> bool:
    """Return whether words of the person come from a voice note."""
    return is_own and any(isinstance(one, Words) and one.is_voice for one in readings)


def notes_of(readings: Sequence[Reading]) -> tuple[str, ...]:
    """Return the notes to the model about attachments that it can't see."""
    return tuple(one.note for one in readings if isinstance(one, Unreadable))
