"""The duties of a chat platform; optional abilities are in `abilities`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from adapters.ids import Address, PlatformMessageId
from adapters.messages import Inbound, OutboundMessage, RawEvent

HealthState = Literal["starting", "connected", "disconnected", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The send rates that a platform accepts. 0 means no limit."""

    chat_interval: float
    """Average seconds between two new messages in one direct chat."""
    room_interval: float = 0
    """The same in a group or channel, threads included."""
    burst: int = 1
    """New messages that a chat accepts at once after a quiet time."""
    edit_interval: float
    """Minimum seconds between two edits of a live message."""
    per_second: float
    """Maximum new messages per second over all chats."""
    grows: bool = True
    """False where every edit leaves a mark: an answer is shown once it is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The state of a connection. `detail` is a sentence; `alive_at` is the time of the last sign of
    life, in monotonic seconds.
    """

    state: HealthState
    detail: str = ""
    alive_at: float | None = None
    concerns: tuple[str, ...] = ()
    """What an owner should do although the connection works: a sentence each."""


class Inlet(Protocol):
    """The gateway's entry point for inbound events."""

    async def take(self, events: Sequence[RawEvent]) -> None:
        """Store the events and return once all are durable; the caller acknowledges them only then.

        Skips events that are already stored. Raises `Unreachable` if the store fails: the caller
        then acknowledges nothing, and hands over the same events again.
        """

    async def marks(self) -> Mapping[str, str]:
        """Return how far each channel was read: channel name to highest stored position.

        Names and positions come from the stored events. Platforms use them to fetch what they
        missed while disconnected. Raises `Unreachable`.
        """

    def notice(self, address: Address) -> None:
        """Report that an address is reachable again; waiting messages are sent at once."""


class ChatAdapter(Protocol):
    """A chat platform. Every method except `run` returns quickly."""

    @property
    def name(self) -> str:
        """The platform's name, used in the database and for its package."""

    @property
    def pace(self) -> Pace:
        """The platform's rate limits."""

    async def run(self, inlet: Inlet) -> None:
        """Connect and hand over events until cancelled; reconnects by itself.

        Raises `AdapterStopped` when only a person can fix the cause. Cancelling closes everything.
        """

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse an event; pure. None means that the event concerns no conversation.

        Raises `ValueError` on an event that cannot be parsed.
        """

    def split(self, text: str) -> tuple[str, ...]:
        """Split Markdown into parts that each fit one message; pure and lossless."""

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Send one new message. Raises any `AdapterError`; cancelling leaves delivery unknown."""

    def health(self) -> Health:
        """Report the current state of the connection."""
