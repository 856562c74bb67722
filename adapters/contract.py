"""What a chat platform must do for Talaria; what it may be able to do stands in `abilities`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from adapters.ids import Address, PlatformMessageId
from adapters.messages import Inbound, OutboundMessage, RawEvent

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


class Inlet(Protocol):
    """Where an adapter hands over what came in."""

    async def take(self, events: Sequence[RawEvent]) -> None:
        """Return once every event is durable; only then may it be confirmed.

        Events seen before are passed over. Raises whatever the store raises, wrapped as
        `Unreachable`: then nothing may be confirmed, and the same events are handed over again.
        """

    async def marks(self) -> Mapping[str, str]:
        """How far each channel was read: its name -> the greatest position taken in so far.

        Names and positions are those of the events that were taken. For platforms that can
        be asked for what was said while nobody listened. Raises `Unreachable`.
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

    def receive(self, event: RawEvent) -> Inbound | None:
        """Read an event; pure. None means that it is of no concern to a person's talk.

        Raises `ValueError` on an event that can't be read.
        """

    def split(self, text: str) -> tuple[str, ...]:
        """Cut Markdown into parts each of which is one message here; pure, loses nothing."""

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Post one new message. Raises any `AdapterError`; cancelling leaves it unsure."""

    def health(self) -> Health:
        """How the connection fares now."""
