"""Optional abilities of a chat platform; the gateway checks for them with `isinstance`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import Attachment, DeliveryReport, OutboundMessage


@runtime_checkable
class CanEdit(Protocol):
    """Platforms that can change a sent message."""

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Replace the message's content. Idempotent. Raises `AdapterError`."""


@runtime_checkable
class CanDraft(Protocol):
    """Platforms that show a growing text as a draft, until a message takes its place."""

    async def draft(self, message: OutboundMessage) -> bool:
        """Show the text so far; return False if drafts are not possible there.

        A draft notifies nobody and disappears by itself. Raises `AdapterError`.
        """


@runtime_checkable
class CanType(Protocol):
    """Platforms that show a typing indicator."""

    typing_lasts: float
    """Seconds until the indicator disappears by itself."""

    async def type(self, address: Address) -> None:
        """Show the indicator once. Raises `AdapterError`."""


@runtime_checkable
class CanFind(Protocol):
    """Platforms that can look up a message whose delivery is unknown."""

    def newest(self, address: Address) -> PlatformMessageId | None:
        """Return the newest message id known in this address's sequence, or None. Pure.

        The dispatcher calls it just before a send and stores the result: the new message comes
        after that id.
        """

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Return the message's id if the platform has it, or None if it certainly has not.

        `known` holds ids from before the send, in any order: the result of `newest`, our newest
        messages there, and the message that this one answers. Raises `Unsure` if neither result is
        certain, and any other `AdapterError` if the lookup itself fails.
        """


@runtime_checkable
class CountsTogether(Protocol):
    """Platforms that can look for a message only by trying its possible ids.

    Two addresses that share one id sequence could claim each other's message. The dispatcher
    therefore sends one message at a time to all addresses of a sequence, and passes our newest
    messages in all topics of the chat to a lookup.
    """

    def count_of(self, address: Address) -> str:
        """Return the name of the id sequence that an address belongs to. Pure."""


@runtime_checkable
class SeesAllChats(Protocol):
    """Platforms whose look-up for a message sees what was sent to any chat.

    It could take another message, or the edit of one, for the one in doubt.
    """

    def note_known(self, known: Sequence[PlatformMessageId]) -> None:
        """Take note of what is on record of all chats; called before each `find`. Pure.

        `known` holds the ids of the newest messages, and of their versions.
        """

    def version_of(self, message_id: PlatformMessageId) -> PlatformMessageId | None:
        """Return the id of the newest edit of a message that this process made. Pure.

        The dispatcher calls it after each edit and stores the result.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuText:
    """A slash command in a menu, in one language.

    A name may have umlauts; the gateway reads it with "ae" for "ä", too.
    """

    name: str
    description: str
    argument: str = ""
    """Says what may stand behind the command, where a platform asks for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEntry(MenuText):
    """A slash command as a platform's menu shows it."""

    translations: Mapping[str, MenuText] = field(default_factory=dict)
    """The same in further languages, by their ISO 639-1 code; each entry has the same codes."""
    is_transient: bool = False
    """The reply only confirms, so that only the sender sees it. In a direct chat, it may vanish,
    too.
    """
    is_listed: bool = True
    """False for a command that works for some people, so that no menu shows it."""


@runtime_checkable
class CanShowMenu(Protocol):
    """Platforms with a native command menu."""

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the listed entries. Called once, after the first connection.

        Raises `AdapterError`.
        """


@runtime_checkable
class SpellsCommands(Protocol):
    """Platforms where people type a command differently than `/name`."""

    command_prefix: str
    """The text in front of a command's name on this platform."""


@runtime_checkable
class CanInvite(Protocol):
    """Platforms where an address leads to the bot's direct chat."""

    invites_with_words: bool
    """Whether the address offers to send `/start words`; otherwise, the person writes them."""

    def invite(self, words: str) -> str | None:
        """Return the address; None before the first connection. Pure.

        `words` are at most 64 of `[A-Za-z0-9_-]`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """The account that a platform's tokens belong to."""

    name: str
    """As people of the platform see it."""
    link: str
    """A link that opens the bot's chat, or adds the bot to a server."""
    gaps: tuple[str, ...] = ()
    """Rights that the bot lacks: a sentence each, with the remedy."""


@runtime_checkable
class CanIdentify(Protocol):
    """Platforms that can check their tokens without receiving anything."""

    async def identify(self) -> Bot:
        """Return the bot. Not called while `run` runs.

        Raises `AdapterStopped` if a token is refused, and any other `AdapterError`.
        """


@runtime_checkable
class CanLink(Protocol):
    """Platforms whose account is joined by a code that another device scans."""

    async def link(self, show: Callable[[str], None]) -> None:
        """Show the code's text, and wait until it was scanned.

        Called after `identify` raised `NotLinked`. Raises `AdapterError`.
        """


@runtime_checkable
class CanAsk(Protocol):
    """Platforms that show a message's buttons and report presses.

    The adapter acknowledges a press to the platform once the event is durable. Presses of
    buttons that an earlier process sent arrive in the same way.
    """

    most_buttons: int
    """Buttons that fit on one message; with more choices, the gateway asks for a typed answer."""


@runtime_checkable
class CanOpenPages(Protocol):
    """Platforms whose buttons can open an https address in a browser; see `Button.url`."""

    opens_pages: bool
    """Always true; it marks the ability."""


@runtime_checkable
class CanDelete(Protocol):
    """Platforms that can delete one of our messages."""

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Delete the message; a missing message is not an error.

        Raises `MessageLocked` or `Rejected` if it stays, and any other `AdapterError`.
        """


@runtime_checkable
class CanReact(Protocol):
    """Platforms that can put a reaction on a person's message."""

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Add or remove the "seen" reaction (eyes). Idempotent. Raises `AdapterError`."""


@runtime_checkable
class CanFetch(Protocol):
    """Platforms that let the bot download attachments."""

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Download an attachment; never reads past `most_bytes`.

        Raises `FileTooLarge`, `Rejected` if the file no longer exists, and any other
        `AdapterError`.
        """


@runtime_checkable
class CanSendFiles(Protocol):
    """Platforms that can send `OutboundMessage.file`."""

    most_file_bytes: int
    """The largest file that the platform accepts, in bytes."""


@runtime_checkable
class CanCount(Protocol):
    """Platforms that report who is in a group or channel."""

    async def count_people(self, address: Address) -> int | None:
        """Count the people besides the bot who can read the address; None if unknown.

        Raises `AdapterError`. The gateway asks before each turn that shows private content in a
        group or channel. A count above one may be up to a minute old; a count of one is never
        cached. If people can read a place without being members, its count is unknown.
        """


@runtime_checkable
class KnowsCreator(Protocol):
    """Platforms that report who created a group or channel."""

    async def find_creator(self, address: Address) -> PlatformUserId | None:
        """Return the account that created the group or channel; None if unknown.

        Raises `AdapterError`.
        """


@runtime_checkable
class CanPreview(Protocol):
    """Platforms that can render a text without sending it."""

    def preview(self, text: str) -> list[str]:
        """Return the messages that the Markdown would result in, in the platform's format. Pure."""


@runtime_checkable
class CanShowSteps(Protocol):
    """Platforms with a native view of `OutboundMessage.steps` on a live message."""

    shows_steps: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """A request to the platform's path on our HTTP server. Names of headers are in lower case."""

    method: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAnswer:
    """The answer to a request, as plain text."""

    status: int
    text: str = ""


@runtime_checkable
class TakesRequests(Protocol):
    """Platforms whose servers call us, at `/hooks/NAME`.

    Anybody can call that path, with any host, so the adapter checks who did.
    """

    most_request_bytes: int

    async def take_request(self, request: WebRequest) -> WebAnswer:
        """Answer a request; it is done once everything in it is durable."""


@runtime_checkable
class HearsReports(Protocol):
    """Platforms that report later what became of a message, and find messages by the reports."""

    def note_report(self, report: DeliveryReport) -> None:
        """Take note of a report; it may come again, and from an earlier process. Pure."""
