"""Values that pass between a platform and the gateway."""

from dataclasses import dataclass
from typing import Literal

from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId

AttachmentKind = Literal[
    "image", "voice", "audio", "video", "document", "sticker", "described", "other"
]
"""`described` is no file, such as a location: the attachment's name says what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """An event as the platform sent it. `payload` is JSON text, kept until the event is done.

    Raises `ValueError` if a text holds an unpaired surrogate: no store accepts it, and the whole
    batch of the event would fail.
    """

    event_id: EventId
    payload: str
    channel: str = ""
    """The channel whose position counter the event belongs to, on platforms that can replay."""
    position: str = ""
    """The event's position in its channel, as text that sorts in order.

    Empty while older events of the channel may still be missing: only an event with a position
    advances the channel's read position.
    """

    def __post_init__(self) -> None:
        """Check that the event can be stored."""
        for text in (self.event_id, self.payload, self.channel, self.position):
            if not text.isascii():
                text.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The author of a message, in the platform's terms."""

    user_id: PlatformUserId
    display_name: str
    username: str | None = None
    language: str | None = None
    """The language of the author's app, a BCP 47 tag."""
    time_zone: str | None = None
    """The author's IANA time zone, if the platform knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file or other non-text part of a message. `size` is in bytes, if known."""

    kind: AttachmentKind
    file_id: str
    name: str | None = None
    media_type: str | None = None
    size: int | None = None
    """None if unknown: the adapter needs only `file_id` to fetch the file."""
    is_stored: bool = False
    """True if `file_id` is the key of a file in the gateway's store; nobody fetches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The message that this one replies to: its text and its author."""

    author: str
    text: str
    is_ours: bool
    sent_at: int = 0
    """Milliseconds since the epoch, UTC; 0 if unknown."""
    message_id: PlatformMessageId | None = None
    """The id of the message in the chat of the reply; None if the message is elsewhere or unknown.
    """
    author_id: PlatformUserId | None = None
    """The account of an author who wrote in the chat of the reply; None for us and if unknown."""
    is_untrusted: bool = False
    """True for a message of Talaria that may hold words of others; the gateway sets this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A person, role, channel or picture that a text names by a name that somebody chose."""

    shown: str
    """The name as it stands in the text, with its sign, such as `@Ada`."""
    name: str
    """The name without its sign."""
    neutral: str
    """The same thing by its kind and id, such as `@user 42`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """A message from a person, or the new text of an edited one."""

    address: Address
    message_id: PlatformMessageId
    sender: Sender
    text: str
    """The person's words without the bot's mention; empty when there are none."""
    is_addressed: bool
    """True in a direct chat, and in a group when the bot is mentioned, answered or commanded."""
    mentions: tuple[Mention, ...] = ()
    """Whatever the text names by a name that the sender did not type."""
    is_edit: bool = False
    reply_address: Address | None = None
    """The address for the reply to a slash command: in the same place, but only the sender sees it.

    None if a command is answered in `address`. A platform that sets this address waits for the
    reply.
    """
    attachments: tuple[Attachment, ...] = ()
    quote: Quote | None = None
    room_title: str | None = None
    forwarded_from: str | None = None
    """The original author of a forwarded message; the words are not the sender's own."""
    is_command_line: bool = False
    """The person wrote the text after the platform's only command, so its first word may be a
    command.
    """
    is_anonymous: bool = False
    """The sender wrote in the name of a group or channel, so nobody can tell which person it was.
    """
    is_program: bool = False
    """A program wrote the message with its person's token: it is no command and answers no
    question.
    """
    wishes: str = ""
    """What the program wishes of the answer, as the gateway's JSON text; "" for nothing."""
    sent_at: int
    """Milliseconds since the epoch, UTC, by the platform's clock."""
    expires_in: int = 0
    """Seconds after which the apps of the chat delete the message; 0 if they keep it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPress:
    """A press of a button that we sent."""

    address: Address
    message_id: PlatformMessageId
    """The message that carries the button."""
    sender: Sender
    key: str
    """The button's key as sent; untrusted, because a client can forge it."""
    sent_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EmojiReaction:
    """A change of one person's reactions to a message that may be ours.

    The reactions are Unicode emoji; a platform leaves out its own pictures.
    """

    address: Address
    """The chat of the message; without its thread if the platform does not name that."""
    message_id: PlatformMessageId
    user_id: PlatformUserId
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """An event that shows people in a group or channel and needs no answer, such as a join."""

    address: Address
    user_ids: tuple[PlatformUserId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMove:
    """The platform gave a group a new id: what belongs to the group follows."""

    address: Address
    """The chat in which the event happened: the old one or the new one."""
    old_chat_id: str
    new_chat_id: str
    user_ids: tuple[PlatformUserId, ...] = ()
    """The accounts that the event shows in that chat."""


DeliveryOutcome = Literal["sent", "again", "waits", "gone", "refused"]
"""What became of a message: it is on its way; it failed, and may be sent again now; it may be sent
once the person writes again; nobody can be reached there; it will never be accepted.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """A platform's report on one of our messages, after it had accepted the message."""

    address: Address
    message_id: PlatformMessageId
    key: str
    """`OutboundMessage.key`, which the platform repeats."""
    outcome: DeliveryOutcome
    reason: str = ""


Inbound = InboundMessage | ButtonPress | EmojiReaction | Presence | ChatMove | DeliveryReport
"""The result of parsing an event. A platform's slash commands, stop buttons and the like become a
message with the command's text, such as `/stop`.
"""

ButtonStyle = Literal["plain", "good", "danger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button. `key` is at most 40 characters of `[A-Za-z0-9:_-]`, `label` at most 60."""

    key: str
    label: str
    style: ButtonStyle = "plain"
    url: str = ""
    """An https address that the button opens, instead of sending its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file that a message carries. `name` contains no path.

    The type `audio/ogg; codecs=opus` marks speech, which is sent as a voice message if the platform
    has them.
    """

    name: str
    media_type: str
    data: bytes


StepState = Literal["running", "done", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a running turn, for platforms that list steps."""

    key: str
    title: str
    state: StepState


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """A message to send. `text` is Markdown that `split` returned."""

    address: Address
    text: str
    reply_to: PlatformMessageId | None = None
    is_silent: bool = False
    """Ask the platform not to notify."""
    is_live: bool = False
    """True while the message's turn runs: the gateway will edit the message."""
    key: str = ""
    """Unique per outbox message; platforms with an idempotency key send it along."""
    at: int = 0
    """When the gateway said it, in milliseconds UTC; 0 if that is unknown."""
    buttons: tuple[Button, ...] = ()
    """Shown below the text if the platform `CanAsk`. An edit without buttons removes them."""
    file: OutboundFile | None = None
    """Sent if the platform `CanSendFiles`; the text becomes the caption and may be empty. `find`
    looks for the message with this file.
    """
    steps: tuple[Step, ...] = ()
    """Steps of the running turn so far, on live messages; see `CanShowSteps`."""
