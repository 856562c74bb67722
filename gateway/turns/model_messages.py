"""Waiting messages as the model reads them."""

from collections.abc import Iterator, Sequence
from itertools import chain

from adapters.messages import InboundMessage
from agent_core.agent.prompt.message_facts import FactInputs, QuotedMessage, compose_facts
from agent_core.agent.wishes import ProgramWishes, load_wishes, show_wishes
from agent_core.events import Steer
from agent_core.safe_names import PlainName, name_caller, name_member, name_stranger
from agent_core.state.conversations.images import PDF
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
from gateway.conversation_keys import is_of_pages
from gateway.media.readings import Picture, Reading, Unreadable, Words
from gateway.queued_message import QueuedMessage

_SCAN = "It holds no text, such as a scan."
_NAME_LIMIT = 120
"""Most characters of a file's name, and of the note on how much of the file was read."""


def make_user_message(
    pending: QueuedMessage,
    *,
    zone: str,
    now: int,
    news: tuple[str, ...] = (),
    shown: Sequence[Message] = (),
) -> Message:
    """Convert a waiting message for the model: facts first, then the person's words.

    `news` are further facts about the conversation, and `shown` the messages before. A program that
    only sends results says nothing new, so that its message has no facts.
    """
    message = pending.message
    wishes = load_wishes(message.wishes)
    parts = show_wishes(wishes, message.sender.display_name, shown)
    if wishes.results and not (message.text.strip() or pending.readings):
        return Message(role="user", parts=parts)
    return user_message(
        _words(message),
        facts=_facts(pending, zone=zone, now=now, news=news),
        parts=(*parts, *parts_of(pending.readings, is_own=_is_own(message))),
    )


def make_user_messages(
    batch: Sequence[QueuedMessage],
    *,
    zone: str,
    now: int,
    news: tuple[str, ...],
    shown: Sequence[Message],
) -> tuple[Message, ...]:
    """Convert the messages that a turn answers; the `news` stand in the first one."""
    return tuple(
        make_user_message(pending, zone=zone, now=now, news=() if number else news, shown=shown)
        for number, pending in enumerate(batch)
    )


def find_wishes(message: InboundMessage) -> ProgramWishes:
    """Return what a program wishes of the turn that its message starts."""
    return load_wishes(message.wishes)


def make_steer(pending: QueuedMessage, *, zone: str, now: int) -> Steer:
    """Convert a waiting message that steers a running turn."""
    return Steer(
        inbox_ids=pending.inbox_ids,
        facts=_facts(pending, zone=zone, now=now),
        text=_words(pending.message),
        parts=parts_of(pending.readings, is_own=_is_own(pending.message)),
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
            program=_name_program(message),
            quote=_quote(message),
            attachments=notes_of(pending.readings),
            is_spoken=is_spoken(pending.readings, is_own=_is_own(message)),
            wanted=pending.person.language if pending.conversation.is_private else None,
            unasked=pending.unasked,
            news=(*news, pending.note) if pending.note else news,
        )
    )


def _name_program(message: InboundMessage) -> str:
    """Return the name of the program that wrote; "" for a person, on a page, too."""
    is_persons = not message.is_program or is_of_pages(message.address)
    return "" if is_persons else message.sender.display_name


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
