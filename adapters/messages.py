"""What passes between a platform and the hall: events in, messages in, messages out."""

from dataclasses import dataclass
from typing import Literal

from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId

AttachmentKind = Literal["image", "voice", "audio", "video", "document", "sticker", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """One event as the platform sent it. `payload` is JSON text, kept until it is done."""

    event_id: EventId
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who wrote a message, in the platform's own terms."""

    user_id: PlatformUserId
    display_name: str
    username: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something that came with a message and is not text. `size` is in bytes, if told."""

    kind: AttachmentKind
    file_id: str
    name: str | None = None
    media_type: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The message that this one answers: its text and who wrote it."""

    author: str
    text: str
    is_ours: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """One message from a person, or the new text of one that was edited."""

    address: Address
    message_id: PlatformMessageId
    sender: Sender
    text: str
    """The person's words, without the bot's own mention; empty when there are none."""
    is_addressed: bool
    """True in a direct talk, and in a room when mentioned, answered or commanded."""
    is_edit: bool = False
    attachments: tuple[Attachment, ...] = ()
    quote: Quote | None = None
    room_title: str | None = None
    forwarded_from: str | None = None
    """Who wrote the words, when the sender only passed them on: then they are not the sender's."""
    sent_at: int
    """Milliseconds since the epoch, UTC, by the platform's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One message owed to an address. `text` is Markdown that `split` let through."""

    address: Address
    text: str
    reply_to: PlatformMessageId | None = None
    is_silent: bool = False
    """True asks the platform not to ring."""
    is_live: bool = False
    """True while the turn that says it still runs: more will follow in this message."""
    key: str = ""
    """Unique per message owed; platforms with an idempotency key send it along."""
