"""The contract of slash commands: what a handler receives, and what it returns."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from adapters.messages import InboundMessage
from agent_core.chats import Chat
from agent_core.ids import InboxId, PersonId
from agent_core.state.conversations.questions import Choice
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, deeds
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.deeds import Doer, NewDeed
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.clock import ReaderClock
from gateway.chats import make_chat
from gateway.queued_message import QueuedMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A use of a command. `is_repeat` is true when a restart reads the event again."""

    argument: str
    platform: str
    message: InboundMessage
    inbox_id: InboxId
    """The event of the message; below 0 for a button of a page, which is none."""
    person: Person
    conversation: Conversation
    room: Room | None
    """The room of the message; None in a direct conversation."""
    zone: str
    now: int
    is_repeat: bool
    is_press: bool = False
    """True if a button sent the command."""
    noted: list[NewDeed] | None = None
    """Set if `/undo` runs the command, or brings back what it took: gets what the command does."""

    @property
    def is_undo(self) -> bool:
        """True if `/undo` runs the command, or brings back what it took."""
        return self.noted is not None

    @property
    def actor(self) -> str:
        """The caller, as the audit log names them."""
        return f"account:{self.platform}:{self.message.sender.user_id}"

    @property
    def clock(self) -> ReaderClock:
        """The clock of the caller."""
        return ReaderClock(zone=self.zone, now=self.now)

    @property
    def chat(self) -> Chat:
        """The chat of the call."""
        return make_chat(self.platform, self.message.address)

    @property
    def owner_id(self) -> PersonId:
        """The person, or the group or channel, that the tools and the agent of a call belong to."""
        return self.room.person_id if self.room and self.is_of_room else self.person.id

    @property
    def is_of_room(self) -> bool:
        """True in a conversation that a group or channel shares."""
        return self.room is not None and not self.conversation.is_private

    @property
    def may_choose(self) -> bool:
        """True if the caller may choose tools and agent here; in a shared one, only owners may."""
        return self.person.is_owner or not self.is_of_room

    @property
    def call_key(self) -> str:
        """The ledger's key for this call: a change with a known key is not made twice."""
        return f"inbox:{self.inbox_id}"

    @property
    def doer(self) -> Doer:
        """The caller, with the chat in which `/undo` finds their deeds: a group, or the rest."""
        return Doer(
            person_id=self.person.id,
            owner_id=self.room.person_id if self.room else self.person.id,
            platform=self.platform,
        )

    def note_deed(
        self, connection: Connection, command: str, undo: str, did: str, redo: str = ""
    ) -> None:
        """Record what a command did, with the command that takes it back, for `/undo`.

        `did` is a line that names it, and `redo` does it again, by default the command itself. A
        button may itself take the newest deed back, as those below receipts do.
        """
        deed = NewDeed(undo=undo, redo=redo or command, did=did)
        if self.noted is not None:
            self.noted.append(deed)
            return
        pressed = (command, redo) if self.is_press else ()
        deeds.record(connection, self.doer, deed, pressed=pressed, now=self.now)

    def note_fixed(self, connection: Connection, did: str) -> None:
        """Record what no command takes back, so that `/undo` takes back nothing else instead.

        `did` is a line that names it, or what was so already if the command changed nothing.
        """
        if not self.is_undo:
            deeds.record(connection, self.doer, NewDeed(did=did), now=self.now)

    def record(
        self, connection: Connection, action: str, detail: str, person_id: PersonId | None = None
    ) -> None:
        """Record in the audit trail what the caller does, about themselves or another person."""
        entry = AuditEntry(
            person_id=person_id or self.person.id,
            actor=self.actor,
            action=action,
            detail=detail,
            created_at=self.now,
        )
        audit.record(connection, entry)

    def as_message(self, text: str) -> QueuedMessage:
        """Return a text as a message of the caller that waits for the running turn to end.

        If that turn waits for an answer of the caller, it goes on without one.
        """
        return QueuedMessage(
            inbox_ids=(self.inbox_id,),
            platform=self.platform,
            message=replace(self.message, text=text),
            person=self.person,
            conversation=self.conversation,
            room_id=self.room.id if self.room else None,
            starts_own_turn=True,
            ends_question=True,
            is_repeat=self.is_repeat,
        )


Outcome = tuple[str, Sequence[OutboxRow]]
"""The writes of a command: its reply, and further outbox rows."""
Effect = Callable[[Connection], Outcome]
"""The writes of a command, in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The result of a command: `text`, or an `effect` that returns the text.

    The message `pending` enters its lane after the reply is written, and its turn finishes the
    event.
    """

    text: str = ""
    buttons: tuple[Choice, ...] = ()
    """Shown below the text; see `gateway.outbound.command_buttons.stand_for`."""
    draw: Callable[[], tuple[Choice, ...]] | None = None
    """Makes the buttons after the effect, in the language that the effect chose."""
    effect: Effect | None = None
    pending: QueuedMessage | None = None
    is_refusal: bool = False
    """True if the command should have changed something, and changed nothing."""

    def apply(self, connection: Connection) -> tuple[str, Sequence[OutboxRow], tuple[Choice, ...]]:
        """Apply the effect, if there is one; return the text, the outbox rows and the buttons."""
        text, rows = self.effect(connection) if self.effect else (self.text, ())
        return text, rows, self.draw() if self.draw else self.buttons


Handler = Callable[[Call], Awaitable[Reply]]
"""Runs a command. Like an effect, it may raise `Declined`: the sentence is then the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A command's name without the slash, and its line in menus and in `/help`.

    The answer to an `is_private` command never appears where others can read it. An
    `is_direct_only` command is refused there. The answer to an `is_transient` command is only a
    confirmation; see `MenuEntry`.
    """

    name: str
    summary: str
    owner_only: bool = False
    is_private: bool = False
    is_direct_only: bool = False
    is_transient: bool = False
    refuses_rooms: bool = False
    """The command itself says why it does nothing where others can read the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A command with the handler that runs it."""

    spec: CommandSpec
    run: Handler
