"""What a slash command is, and the list of all of them."""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from adapters.abilities import MenuEntry
from adapters.messages import InboundMessage
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.quotas.reservations import Quotas
from agent_core.ids import InboxId
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.shared import SharedMemory
from agent_core.memory.store import MemoryStore
from agent_core.state.conversations.questions import Choice
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.state.queues.outbox import OutboxRow
from gateway.conversion import QueuedMessage
from gateway.outbound.questions import Questions
from gateway.people.data_requests import DataRequests
from gateway.people.identity import Identity
from gateway.people.linking import Linking
from gateway.people.rooms import Rooms
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.lanes import Lanes

_SHAPE = re.compile(r"/([A-Za-z][A-Za-z0-9_]{0,31})(?:@\S+)?(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The parts of the house that commands may use."""

    database: Database
    identity: Identity
    lanes: Lanes
    questions: Questions
    linking: Linking
    rooms: Rooms
    memory: MemoryStore
    shared: SharedMemory
    outside: ExternalMemory | None
    ceilings: Quotas
    folding: Compactor
    unpacking: AttachmentStage
    belongings: DataRequests
    model: str
    """The name of the model that thinks, for people to read."""
    platforms: Collection[str]
    """The names of those that are on."""
    zone_of: Callable[[Person], str]
    """The IANA time zone that a person lives by."""
    wake_jobs: Callable[[], None]
    """Something may be due earlier than was known; to be said once that is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One use of a command. `is_repeat` is true when a restart reads the event again."""

    argument: str
    platform: str
    message: InboundMessage
    inbox_id: InboxId
    person: Person
    conversation: Conversation
    room: Room | None
    """The room that it was used in, if any."""
    zone: str
    now: int
    is_repeat: bool
    is_press: bool = False
    """True where a button was pressed that stands for the command."""

    @property
    def actor(self) -> str:
        """Who used it, as `audit` names them."""
        return f"account:{self.platform}:{self.message.sender.user_id}"


Effect = Callable[[Connection], tuple[str, Sequence[OutboxRow]]]
"""What a command writes: its reply, and the messages it owes besides; all one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What comes of a command.

    `pending` is handed to its lane once the reply is written, and sees the event done.
    """

    text: str = ""
    buttons: tuple[Choice, ...] = ()
    """Shown below the text; see `gateway.buttons`."""
    effect: Effect | None = None
    pending: QueuedMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """One command: its name without the slash, one line for menus, and what it does."""

    name: str
    summary: str
    run: Callable[[Call, House], Awaitable[Reply]]
    owner_only: bool = False


def parse(text: str) -> tuple[str, str] | None:
    """(name, argument) of a text that is a command, else None."""
    found = _SHAPE.fullmatch(text.strip())
    return (found[1].lower(), (found[2] or "").strip()) if found else None


def make_menu(commands: Sequence[SlashCommand]) -> list[MenuEntry]:
    """The menu that platforms show to everybody."""
    return [
        MenuEntry(name=command.name, description=command.summary)
        for command in commands
        if not command.owner_only
    ]
