"""What the suite asks of each platform: the adapter, the other end of its wire, a person there.

The rig of a platform stands in `rigs_<platform>.py`, which exports an async context manager
of that name: `async with telegram(folder) as rig`. The suite runs the adapter itself, by
`running`. Rigs have no `says` before that.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal, Protocol

from adapters.abilities import (
    CanAsk,
    CanCount,
    CanDelete,
    CanEdit,
    CanFetch,
    CanFind,
    CanPreview,
    CanReact,
    CanSendFiles,
    CanShowMenu,
    CanShowSteps,
    CanType,
    CountsTogether,
    SeesAllChats,
    SpellsCommands,
)
from adapters.contract import ChatAdapter, Inlet
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from tests.adapters.rig import started

ABILITIES: tuple[type, ...] = (
    CanAsk,
    CanCount,
    CanDelete,
    CanEdit,
    CanFetch,
    CanFind,
    CanPreview,
    CanReact,
    CanSendFiles,
    CanShowMenu,
    CanShowSteps,
    CanType,
    CountsTogether,
    SeesAllChats,
    SpellsCommands,
)

Place = Literal["direct", "room", "thread"]
"""Where something is said: to the bot alone, in a room that it is in, in a thread there."""

Trait = Literal["edits", "rooms", "threads", "grows", "limits", "marks", "reactions"]
"""What a platform may have besides the adapter's abilities: people can change what they
wrote; there are rooms; they have threads; answers grow; it asks for pauses; its events carry
positions; people can react to what the bot said."""


class Rig(Protocol):
    """One platform with one person on it. Methods of traits that it lacks are never called."""

    adapter: ChatAdapter
    """The adapter that is run now; `renew` makes another one."""
    abilities: frozenset[type]
    """Exactly the ones of `ABILITIES` that the adapter has to have."""
    traits: frozenset[Trait]
    address: Address
    """Where the person talks to the bot alone."""
    room: Address | None
    """A room with the bot, the person and others; None on a platform without any."""
    room_people: int
    """How many people are in the room besides the bot."""
    ways_to_go: tuple[str, ...]
    """The ways in which a chat can be gone, by names that `goes` knows; may be empty."""

    def renew(self) -> None:
        """Make `adapter` afresh, as a new process would. The one before has ended."""

    def looking(self) -> AbstractAsyncContextManager[None]:
        """Open the person's client, where messages are shown only to one that is open.

        Entered once the adapter is connected, and left before it is cancelled.
        """

    # The person

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        """The person writes, in rooms to the bot by its name, and it gets to the adapter.

        Returns the message's id; where the platform asks for it, not before it was taken.
        """

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        """The person writes as in `says`, while no adapter runs or while all is `cut`."""

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        """The person changes what they wrote to the bot alone. Trait "edits"."""

    async def presses(self, label: str) -> None:
        """The person presses the button of this label on the bot's newest message that has it.

        Raises `LookupError` if there is none: people press only what they see.
        """

    async def reacts(self, sign: str, *, is_on: bool = True) -> PlatformMessageId:
        """The person reacts to the newest message of the bot to them alone, or takes it back.

        `sign` is an emoji. Returns the message's id. Trait "reactions".
        """

    async def goes(self, way: str) -> Address:
        """A chat goes, in one of `ways_to_go`; returns its address."""

    # What the person sees, always only of what the bot said, in order of age

    def shown(self, place: Place = "direct") -> list[str]:
        """The texts that stand where what was said in that place is answered."""

    def buttons(self) -> list[str]:
        """The labels of the buttons below the bot's newest message to the person alone."""

    def files(self) -> list[tuple[str, bytes]]:
        """Names and contents of the files that the bot sent to the person alone."""

    def reactions(self) -> list[str]:
        """The bot's signs on the newest message that the person wrote to it alone."""

    def acknowledged(self) -> int:
        """How many presses the adapter has acknowledged to the platform."""

    # The wire

    async def redeliver(self) -> None:
        """All events so far come once more, as the platform repeats them."""

    def limit(self, seconds: int) -> None:
        """The next new message is refused with this pause. Trait "limits"."""

    def lose_answer(self, *, is_file: bool = False) -> None:
        """The next message (with a file) gets through, and its answer does not."""

    def lose_request(self, *, is_file: bool = False) -> None:
        """The next message (with a file) does not get through, and nobody can tell."""

    async def cut(self) -> None:
        """From now on nothing gets through, and the adapter can tell."""

    async def clear_faults(self) -> None:
        """The end of `cut`; need not wait until the adapter is connected again."""


Rigs = dict[str, Callable[[Path], AbstractAsyncContextManager[Rig]]]


@asynccontextmanager
async def running(rig: Rig, inlet: Inlet) -> AsyncIterator[None]:
    """The adapter runs and is connected, and the person's client is open."""
    async with started(rig.adapter, inlet), rig.looking():
        yield
