"""Whose memory a command is about: in a direct talk the person's, in a room the room's."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId, TurnId
from agent_core.memory.explanations import Reader
from agent_core.memory.numbering import Register, open_register
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.people import people
from agent_core.state.people.people import Kind, Person
from gateway.commands.registry import Call, House
from gateway.texts.memory import Viewer

PERSON = "person:"
"""Before the id of who changed by command what is not their own."""
_TURN = "turn:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Somebody who remembers; `slug` names their folder."""

    person_id: PersonId
    slug: str
    kind: Kind
    reader: Reader
    """Which messages may be shown where the command was said."""

    @property
    def is_room(self) -> bool:
        """True where what is remembered is everybody's in a room."""
        return self.kind == "room"


def find_keeper(call: Call) -> Keeper:
    """Nothing of a person is seen in a room, whoever asks for it there."""
    room = call.room
    if room is None:
        return own(call.person)
    return Keeper(
        person_id=room.person_id,
        slug=room.slug,
        kind="room",
        reader=Reader(person_id=room.person_id, audience=room.audience),
    )


def own(person: Person) -> Keeper:
    """A person's own memory."""
    return Keeper(
        person_id=person.id,
        slug=person.slug,
        kind="human",
        reader=Reader(person_id=person.id),
    )


async def look(call: Call, house: House, keeper: Keeper) -> Register:
    """All changes of a memory as it stands, with what was changed by hand."""
    await house.memory.snapshot(keeper.person_id, keeper.slug, call.now, kind=keeper.kind)
    return await house.database.read(lambda c: open_register(c, person_id=keeper.person_id))


def name_actor(call: Call, keeper: Keeper) -> str:
    """The actor of a change by command, as the ledger has it."""
    return f"{PERSON}{call.person.id}" if keeper.is_room else "person"


async def may_change(call: Call, house: House, row: LedgerEntry | None) -> bool:
    """Whether somebody may change what a row has made of a room's memory.

    Owners may, and so may who asked for it; without a row, it is about whatever is newest.
    """
    if call.person.is_owner:
        return True
    if row is None:
        return False
    actor = row.origin.actor
    if actor.startswith(_TURN):
        turn_id = TurnId(int(actor.removeprefix(_TURN)))
        turn = await house.database.read(lambda c: turns.find(c, turn_id=turn_id))
        return turn is not None and turn.person_id == call.person.id
    return actor == f"{PERSON}{call.person.id}"


async def view(call: Call, house: House, keeper: Keeper, rows: Sequence[LedgerEntry]) -> Viewer:
    """Who reads the answer, with the names of those in a room who made changes by command."""
    ids = {
        row.origin.actor.removeprefix(PERSON) for row in rows if row.origin.actor.startswith(PERSON)
    }

    def find_names(connection: Connection) -> dict[str, str]:
        found = {one: people.find(connection, person_id=PersonId(int(one))) for one in ids}
        return {one: person.name for one, person in found.items() if person}

    names = await house.database.read(find_names) if ids else {}
    return Viewer(zone=call.zone, is_direct=not keeper.is_room, names=names)
