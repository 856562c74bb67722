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
    channel: str = ""
    """Where the platform counts it, for platforms that can be asked for what was missed."""
    position: str = ""
    """Its place in the channel, in a form in which later ones sort behind earlier ones as
    text. Left empty while older events of the channel may still be missing: only what has a
    position moves the channel's mark."""


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
    """`file_id` is all that the adapter needs to fetch it, for as long as the platform has it."""


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
class ButtonPress:
    """Somebody pressed a button that we showed."""

    address: Address
    message_id: PlatformMessageId
    """The message that carries the button."""
    sender: Sender
    key: str
    """The button's key, as it was sent out; anybody could have made it up."""
    sent_at: int


Inbound = InboundMessage | ButtonPress
"""What an event comes to. Slash commands, stop buttons and the like of a platform are read
as the message that says the same in words: `/stop`."""

ButtonStyle = Literal["plain", "good", "danger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """One button. `key` is at most 40 characters of `[A-Za-z0-9:_-]`, `label` at most 60."""

    key: str
    label: str
    style: ButtonStyle = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file that a message carries. `name` has no path in it."""

    name: str
    media_type: str
    data: bytes


StepState = Literal["running", "done", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that a running turn does or did, for platforms that show such lists."""

    key: str
    title: str
    state: StepState


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
    buttons: tuple[Button, ...] = ()
    """Shown below the text where the platform `CanAsk`. An edit without them takes them away."""
    file: OutboundFile | None = None
    """Shown where the platform `CanSendFiles`; the text is its caption then, and may be empty.
    What `find` looks for is the message with this file."""
    steps: tuple[Step, ...] = ()
    """What the running turn has done so far, on live messages; see `CanShowSteps`."""
