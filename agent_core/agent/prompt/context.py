"""What may be seen of memories in a talk, and whether a frozen prompt still keeps to that."""

import hashlib
import json
from dataclasses import dataclass

from agent_core.memory.shared import SharedList, SharedMemory
from agent_core.memory.store import Snapshot
from agent_core.state.conversations.messages import PRIVATE
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Database
from agent_core.state.memory import shares
from agent_core.state.memory.shares import EVERYONE
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.contract import MemoryOwner


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """One turn's surroundings. `person` is who asks, and pays; `room` is None in a direct talk.

    A conversation that is private and yet in a room is a person's whole talk, going on there.
    """

    conversation: Conversation
    person: Person
    room: Room | None
    platform: str

    @property
    def is_shared(self) -> bool:
        """True if the talk is that of everyone in the room."""
        return self.conversation.person_id != self.person.id

    @property
    def audience(self) -> str:
        """Who may see what is said: a talk that goes on in a room stays its person's own."""
        if self.conversation.is_private or self.room is None:
            return PRIVATE
        return self.room.audience

    @property
    def memory_owner(self) -> MemoryOwner | None:
        """Whose memory may be changed: in a room the room's, else the person's."""
        if self.conversation.is_private and not self.is_shared:
            return MemoryOwner(person_id=self.person.id, slug=self.person.slug)
        if self.room is None:
            return None
        return MemoryOwner(person_id=self.room.person_id, slug=self.room.slug, kind="room")


ShownEntries = frozenset[tuple[str, str]]
"""What a prompt shows of others' or for others: (whose, hash of the entry or heading)."""

_EXACT = ("lent", "block")
"""Of these a prompt must show just what may be seen now; of all else, nothing but that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleMemory:
    """All of memory that enters the prompt of one talk.

    `own` is everything of the person, where nobody else reads along or they trust who does;
    `room` is the room's own memory; `lent` are the entries of the person that everyone in the
    room may see; `shared` is the memory of the team and the blocks that are seen here.
    """

    own: Snapshot | None = None
    room: Snapshot | None = None
    lent: tuple[str, ...] = ()
    shared: tuple[SharedList, ...] = ()

    @property
    def marks(self) -> ShownEntries:
        """What a prompt shows that is made of this."""
        notes = self.room.memory if self.room else ()
        return frozenset(
            [("room", _digest(entry)) for entry in notes]
            + [("lent", _digest(entry)) for entry in self.lent]
            + [hash_entry(one, entry) for one in self.shared for entry in one.entries]
            + [_mark_heading(one) for one in self.shared if one.block]
        )


class Visibility:
    """Looks up what may be seen."""

    def __init__(self, database: Database, memory: SharedMemory) -> None:
        self._database = database
        self._memory = memory

    async def look(self, context: PromptContext, now: int) -> VisibleMemory:
        """What may be seen in a talk when its asker asks.

        Nothing personal is so much as read for the talk that a room shares. Raises
        `StoreError`.
        """
        person, room = context.person, context.room
        is_private = context.conversation.is_private
        store = self._memory.store
        shared = await self.look_at_shared(context, now)
        notes = None
        if room:
            notes = await store.snapshot(room.person_id, room.slug, now, kind="room")
        if context.is_shared or (room is None and not is_private):
            return VisibleMemory(room=notes, shared=shared)
        own = await store.snapshot(person.id, person.slug, now)
        if is_private:
            return VisibleMemory(own=own, room=notes, shared=shared)
        lent = await self._find_lent(person, room, own) if room else ()
        return VisibleMemory(room=notes, lent=lent, shared=shared)

    async def look_at_shared(self, context: PromptContext, now: int) -> tuple[SharedList, ...]:
        """What of shared memory is seen in a talk: by whoever its memory belongs to.

        In a room that is the room, whoever asks. Raises `StoreError`.
        """
        memory_owner = context.memory_owner
        return await self._memory.look(memory_owner.person_id if memory_owner else None, now)

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


def is_still_allowed(shown: ShownEntries, allowed: ShownEntries) -> bool:
    """True if a prompt may go on being used.

    What was lent must be just what is lent now: a person who shares or takes back something
    sees it at their next message. So must the blocks that are seen, with their descriptions and
    limits. Of the entries of a room, a block or the team nothing may be shown that does not
    stand there (any more); what is new in a room's can wait for the next fresh prompt, and what
    is new in the others is told in the facts.
    """
    exact = frozenset(hash_entry for hash_entry in allowed if hash_entry[0] in _EXACT)
    return (
        frozenset(hash_entry for hash_entry in shown if hash_entry[0] in _EXACT) == exact
        and shown <= allowed
    )


def select_shared(marks: ShownEntries) -> ShownEntries:
    """Of marks, those of shared memory."""
    return frozenset(hash_entry for hash_entry in marks if hash_entry[0] not in ("lent", "room"))


def hash_entry(shared: SharedList, entry: str) -> tuple[str, str]:
    """The mark of an entry of a shared list."""
    return f"{shared.kind}:{shared.person_id}", _digest(entry)


def dump_shown(marks: ShownEntries) -> str:
    """Marks as JSON text; the same marks, the same bytes."""
    return json.dumps(sorted(marks), separators=(",", ":"))


def load_shown(text: str) -> ShownEntries:
    """The reverse of `dump_shown`."""
    return frozenset((hash_entry[0], hash_entry[1]) for hash_entry in json.loads(text))


def _mark_heading(shared: SharedList) -> tuple[str, str]:
    """The mark of a block's name and what stands below it."""
    block = shared.block
    assert block is not None  # noqa: S101 - the team has no heading of its own
    fields = (block.id, block.label, block.description, block.limit, block.is_read_only)
    return "block", _digest(json.dumps(fields))


def _digest(entry: str) -> str:
    return hashlib.sha256(entry.encode()).hexdigest()[:16]
