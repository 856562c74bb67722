"""What may be seen of memories in a talk, and whether a frozen prompt still keeps to that."""

import hashlib
import json
from dataclasses import dataclass

from agent_core.memory.store import MemoryStore, Snapshot
from agent_core.prompt.scene import Scene
from agent_core.state import shares
from agent_core.state.database import Database
from agent_core.state.people import Person
from agent_core.state.rooms import Room
from agent_core.state.shares import EVERYONE

Marks = frozenset[tuple[str, str]]
"""What a prompt shows of others' or for others: (`room` or `lent`, hash of the entry)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """All of memory that enters the prompt of one talk.

    `own` is everything of the person, where nobody else reads along or they trust who does;
    `room` is the room's own memory; `lent` are the entries of the person that everyone in the
    room may see.
    """

    own: Snapshot | None = None
    room: Snapshot | None = None
    lent: tuple[str, ...] = ()

    @property
    def marks(self) -> Marks:
        """What a prompt shows that is made of this."""
        notes = self.room.memory if self.room else ()
        return frozenset(
            [("room", _digest(entry)) for entry in notes]
            + [("lent", _digest(entry)) for entry in self.lent]
        )


class Eyes:
    """Looks up what may be seen."""

    def __init__(self, database: Database, memory: MemoryStore) -> None:
        self._database = database
        self._memory = memory

    async def look(self, scene: Scene, now: int) -> Sight:
        """What may be seen in a talk when its asker asks.

        Nothing personal is so much as read for the talk that a room shares. Raises
        `StoreError`.
        """
        person, room = scene.person, scene.room
        is_private = scene.conversation.is_private
        notes = None
        if room:
            notes = await self._memory.snapshot(room.person_id, room.slug, now, kind="room")
        if scene.is_shared or (room is None and not is_private):
            return Sight(room=notes)
        own = await self._memory.snapshot(person.id, person.slug, now)
        if is_private:
            return Sight(own=own, room=notes)
        lent = await self._find_lent(person, room, own) if room else ()
        return Sight(room=notes, lent=lent)

    async def _find_lent(self, person: Person, room: Room, own: Snapshot) -> tuple[str, ...]:
        """The person's entries that everyone in a room may see, in the order of their lists."""
        lent = await self._database.read(
            lambda connection: shares.list_of(connection, person_id=person.id)
        )
        seen = {
            (share.target, share.entry)
            for share in lent
            if share.audience in (EVERYONE, room.audience)
        }
        return tuple(
            dict.fromkeys(
                [entry for entry in own.user if ("user", entry) in seen]
                + [entry for entry in own.memory if ("memory", entry) in seen]
            )
        )


def keeps_to(shown: Marks, allowed: Marks) -> bool:
    """True if a prompt may go on being used.

    What was lent must be just what is lent now: a person who shares or takes back something
    sees it at their next message. Of the room's memory nothing may be shown that is not in it
    (any more); what is new in it can wait for the next fresh prompt.
    """
    lent = {mark for mark in allowed if mark[0] == "lent"}
    return {mark for mark in shown if mark[0] == "lent"} == lent and shown <= allowed


def dump_marks(marks: Marks) -> str:
    """Marks as JSON text; the same marks, the same bytes."""
    return json.dumps(sorted(marks), separators=(",", ":"))


def load_marks(text: str) -> Marks:
    """The reverse of `dump_marks`."""
    return frozenset((mark[0], mark[1]) for mark in json.loads(text))


def _digest(entry: str) -> str:
    return hashlib.sha256(entry.encode()).hexdigest()[:16]
