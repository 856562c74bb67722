"""What a chat platform may be able to do besides its duties; the hall asks by `isinstance`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from adapters.ids import Address, PlatformMessageId
from adapters.messages import Attachment, OutboundMessage


@runtime_checkable
class CanEdit(Protocol):
    """Platforms on which a sent message can be changed."""

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Make the message read so; doing it twice changes nothing. Raises `AdapterError`."""


@runtime_checkable
class CanType(Protocol):
    """Platforms that show that the bot is at work."""

    typing_lasts: float
    """Seconds until the sign fades by itself."""

    async def type(self, address: Address) -> None:
        """Show the sign once. Raises `AdapterError`."""


@runtime_checkable
class CanFind(Protocol):
    """Platforms where an unsure message can be looked for."""

    def newest(self, address: Address) -> PlatformMessageId | None:
        """The newest id known where messages of this address are counted, or None.

        Asked for just before a send and kept with it: the message comes after it. Pure.
        """

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """The id of the message if the platform has it, None if it surely has not.

        `known` are ids from before the send, in no order, as far as there are any: what
        `newest` said, the newest message of ours, the one that was answered. Raises `Unsure`
        when neither can be said, and any other `AdapterError` when looking itself failed.
        """


@runtime_checkable
class CountsTogether(Protocol):
    """Platforms that can look for an unsure message only by trying the numbers it may have.

    There a message in doubt could be taken for one of another address with the same count. So
    to all addresses of one count the hall sends one message after the other.
    """

    def count_of(self, address: Address) -> str:
        """What names the count in which the messages of an address are numbered; pure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEntry:
    """One slash command as a platform's menu shows it."""

    name: str
    description: str


@runtime_checkable
class CanShowMenu(Protocol):
    """Platforms with a native menu of commands."""

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the menu; called once after the first connection. Raises `AdapterError`."""


@runtime_checkable
class SpellsCommands(Protocol):
    """Platforms on which a command is not typed as a slash and its name."""

    command_prefix: str
    """What stands in front of the name there."""


@runtime_checkable
class CanAsk(Protocol):
    """Platforms that show an outbound message's buttons and hand over presses of them.

    The adapter itself acknowledges a press to the platform, once the event is durable. A
    press of a button that an earlier process sent is handed over like any other.
    """

    most_buttons: int
    """Buttons that one message can carry; the hall shows no more, and asks in words then."""


@runtime_checkable
class CanDelete(Protocol):
    """Platforms on which a message of ours can be taken away."""

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Take it away; one that is gone already is no error. Raises `AdapterError`."""


@runtime_checkable
class CanReact(Protocol):
    """Platforms that can show a small sign on a person's message."""

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Show that the message was seen (eyes), or take the sign away; may be repeated.

        Raises `AdapterError`.
        """


@runtime_checkable
class CanFetch(Protocol):
    """Platforms from which what is attached to a message can be had."""

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """The attached file. Never reads on beyond `most_bytes`.

        Raises `Rejected` with a sentence for the person if it is larger, or gone; and any
        other `AdapterError`.
        """


@runtime_checkable
class CanSendFiles(Protocol):
    """Platforms on which `OutboundMessage.file` is shown as a file to be opened."""

    most_file_bytes: int
    """The largest file that the platform takes."""


@runtime_checkable
class CanCount(Protocol):
    """Platforms that tell who is in a room."""

    async def count_people(self, address: Address) -> int | None:
        """How many people besides the bot can read along there; None if it can't be told.

        Raises `AdapterError`. Asked before each turn in a room, so that there are others may be
        up to a minute old. That nobody else is there is looked up afresh: what is private is
        said there then.
        """


@runtime_checkable
class CanPreview(Protocol):
    """Platforms that tell beforehand how a text would look, as their own wire writes it."""

    def preview(self, text: str) -> list[str]:
        """The messages that Markdown would be sent as, in the platform's own form; pure."""


@runtime_checkable
class CanShowSteps(Protocol):
    """Platforms that show `OutboundMessage.steps` of a live message in a way of their own."""

    shows_steps: bool
