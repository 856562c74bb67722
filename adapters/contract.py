"""What a chat platform must do for Talaria, and what it may be able to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from adapters.ids import Address, PlatformMessageId
from adapters.messages import InboundMessage, OutboundMessage, RawEvent

HealthState = Literal["starting", "connected", "disconnected", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a platform wants to be written to. 0 means without a limit."""

    chat_interval: float
    """Least seconds between two new messages in one chat."""
    edit_interval: float
    """Least seconds between two edits of a live message."""
    per_second: float
    """Most new messages a second over all chats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a platform fares. `detail` is a sentence; `alive_at` is monotonic seconds."""

    state: HealthState
    detail: str = ""
    alive_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuEntry:
    """One slash command as a platform's menu shows it."""

    name: str
    description: str


class Inlet(Protocol):
    """Where an adapter hands over what came in."""

    async def take(self, events: Sequence[RawEvent]) -> None:
        """Return once every event is durable; only then may it be confirmed.

        Events seen before are passed over. Raises whatever the store raises, wrapped as
        `Unreachable`: then nothing may be confirmed, and the same events are handed over again.
        """

    def notice(self, address: Address) -> None:
        """Somebody can be reached there (again): what waits for them is tried at once."""


class ChatAdapter(Protocol):
    """The few duties of a platform. All methods but `run` return soon."""

    @property
    def name(self) -> str:
        """The folder's name, also the platform's name in the database."""

    @property
    def pace(self) -> Pace:
        """The platform's limits."""

    async def run(self, inlet: Inlet) -> None:
        """Connect, then hand over events until cancelled; mends its own connection.

        Raises `AdapterStopped` when only a person can help. Cancelling closes everything.
        """

    def receive(self, event: RawEvent) -> InboundMessage | None:
        """Read an event; pure. None means that it is of no concern to a person's talk.

        Raises `ValueError` on an event that can't be read.
        """

    def split(self, text: str) -> tuple[str, ...]:
        """Cut Markdown into parts each of which is one message here; pure, loses nothing."""

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Post one new message. Raises any `AdapterError`; cancelling leaves it unsure."""

    def health(self) -> Health:
        """How the connection fares now."""


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
class CanShowMenu(Protocol):
    """Platforms with a native menu of commands."""

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the menu; called once after the first connection. Raises `AdapterError`."""
