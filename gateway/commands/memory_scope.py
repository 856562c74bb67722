"""The memory that a command works on: a person's own, or a room's when used in a room."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import InboxId, PersonId, TurnId
from agent_core.memory.explanations import ExplanationReader
from agent_core.memory.numbering import ChangeIndex, load_change_index
from agent_core.memory.store import MemoryStore
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.memory.memory_owners import StoredOwner
from agent_core.state.people import people
from agent_core.state.people.people import Person, PersonKind
from agent_core.state.queues import inbox
from gateway.commands.registry import Call, Reply
from gateway.operations.memory import edit_entry
from gateway.operations.memory_types import EditMemory
from gateway.people.admission import API_PLATFORM, LOCAL_PLATFORM
from gateway.texts.memory import MemoryViewer
from gateway.texts.rooms import UNREADABLE

_log = logging.getLogger(__name__)

PERSON = "person:"
"""Prefix of the ledger's actor if a person changes a memory that is not their own."""
_TURN = "turn:"
_INBOX = "inbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScope:
    """The owner of a memory; `slug` names their folder."""

    person_id: PersonId
    slug: str
    kind: PersonKind
    reader: ExplanationReader
    """The messages that may be shown in the chat of the command."""

    @property
    def is_room(self) -> bool:
        """True if the memory belongs to everyone in a room."""
        return self.kind == "room"


def refuse_unreadable(error: OSError) -> Reply:
    """Answer a command that can't read or write a memory; only the log has the reason."""
    _log.warning("a memory can't be read or written: %s", error)
    return Reply(text=UNREADABLE())


def scope_of(call: Call) -> MemoryScope:
    """Return the scope of a call. In a room it is the room's, whoever asks."""
    room = call.room
    if room is None:
        return own_scope(call.person)
    return MemoryScope(
        person_id=room.person_id,
        slug=room.slug,
        kind="room",
        reader=ExplanationReader(person_id=room.person_id, audience=room.audience),
    )


def own_scope(person: Person) -> MemoryScope:
    """Return the scope of a person's own memory."""
    return MemoryScope(
        person_id=person.id,
        slug=person.slug,
        kind="human",
        reader=ExplanationReader(person_id=person.id),
    )


def origin_of(call: Call, scope: MemoryScope) -> Origin:
    """Return the ledger's origin of a change by command."""
    actor = f"{PERSON}{call.person.id}" if scope.is_room else "person"
    return Origin(actor=actor, now=call.now, evidence=call.message.text, call_key=call.call_key)


def find_origin_platform(connection: Connection, origin: Origin) -> str:
    """Return the platform on which a person made a change; "" for one that nobody made in a chat.

    Only forms of the console page leave no call's key.
    """
    kind, _, number = ledger.name_whole_call(origin.call_key or "").partition(":")
    if kind == _INBOX:
        return inbox.find_platform(connection, inbox_id=InboxId(int(number))) or ""
    if kind == API_PLATFORM:
        return API_PLATFORM
    is_form = origin.call_key is None
    kind, _, number = origin.actor.partition(":")
    if f"{kind}:" == _TURN:
        turn = turns.find(connection, turn_id=TurnId(int(number)))
        return turn.place.chat.platform if turn else ""
    return LOCAL_PLATFORM if kind == "person" and is_form else ""


def is_maker(connection: Connection, call: Call, row: LedgerEntry) -> bool:
    """Return whether the caller made a change of a room's memory, by a turn or a command."""
    actor = row.origin.actor
    if actor.startswith(_TURN):
        turn = turns.find(connection, turn_id=TurnId(int(actor.removeprefix(_TURN))))
        return turn is not None and turn.person_id == call.person.id
    return actor == f"{PERSON}{call.person.id}"


class MemoryAccess:
    """The reads that every command about memory shares. All of them raise `StoreError`."""

    def __init__(self, database: Database, memory: MemoryStore) -> None:
        self.database = database
        self.memory = memory

    async def open(self, call: Call, scope: MemoryScope) -> ChangeIndex:
        """Return all changes of a memory, after taking in changes made by hand."""
        await self.memory.snapshot(scope.person_id, scope.slug, call.now, kind=scope.kind)
        return await self.database.read(load_change_index, person_id=scope.person_id)

    async def edit(self, call: Call, scope: MemoryScope, asked: EditMemory) -> LedgerEntry:
        """Edit a memory, once for this call. Raises `Mistaken` with a sentence, and `OSError`."""
        owner = StoredOwner(
            person_id=scope.person_id, slug=scope.slug, folder=scope.slug, kind=scope.kind
        )
        origin = origin_of(call, scope)
        return await edit_entry(self.database, self.memory, owner, asked, origin)

    async def may_change(self, call: Call, row: LedgerEntry | None) -> bool:
        """Return whether the caller may change a room's entry: as its author, or as an owner.

        Only an owner may change an entry of which nobody knows who made it: None.
        """
        if call.person.is_owner:
            return True
        return row is not None and await self.database.read(is_maker, call, row)

    async def make_viewer(
        self, call: Call, scope: MemoryScope, rows: Sequence[LedgerEntry]
    ) -> MemoryViewer:
        """Return the reader of the answer, with the names of the people who made the changes."""
        actors = (row.origin.actor for row in rows)
        ids = {actor.removeprefix(PERSON) for actor in actors if actor.startswith(PERSON)}

        def find_names(connection: Connection) -> dict[str, str]:
            found = {one: people.find(connection, person_id=PersonId(int(one))) for one in ids}
            return {one: person.name for one, person in found.items() if person}

        names = await self.database.read(find_names) if ids else {}
        return MemoryViewer(clock=call.clock, is_direct=not scope.is_room, names=names)
