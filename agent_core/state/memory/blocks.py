"""Queries over shared memory: the team's row, and named memory blocks."""

from dataclasses import dataclass

from agent_core.ids import BlockId, PersonId
from agent_core.state.engine.connection import Decoders, list_fields, read_all, read_one
from agent_core.state.engine.database import Connection
from agent_core.state.people import people

TEAM = "team"
"""The slug of the team's row in `people`, if it is free; its folder has this name."""
PREFIX = "block-"
"""Precedes the slug of a block in `people`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBlock:
    """A block to create. `slug` is a proposal: if it is taken, it gets a number."""

    slug: str
    label: str
    description: str
    limit: int
    made_by: PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(NewBlock):
    """A named memory block. `person_id` is its row in `people`, because it owns memory, too.

    `slug` names its folder under memories/blocks/; the slug in `people` has `block-` before it.
    `limit` is in characters of its file. Owners and `made_by` may share it. If its maker was merged
    into another person, `made_by` is that person.
    """

    id: BlockId
    person_id: PersonId
    is_read_only: bool


_BLOCK = (
    "SELECT blocks.id, blocks.person_id, people.slug, blocks.label, blocks.description,"
    ' blocks.char_limit AS "limit", blocks.is_read_only,'
    " COALESCE(maker.joined_to, maker.id) AS made_by FROM blocks"
    " JOIN people ON people.id = blocks.person_id JOIN people AS maker ON maker.id = blocks.made_by"
)
_DECODE: Decoders = {"slug": lambda slug: slug.removeprefix(PREFIX), "is_read_only": bool}
_SELVES = "SELECT id FROM people WHERE id = :person_id OR joined_to = :person_id"
"""A person and everyone merged into them, whose shares they inherit."""


def find_team(connection: Connection) -> PersonId | None:
    """Return the team's row, if the team has any memory yet."""
    row = connection.execute("SELECT id FROM people WHERE kind = 'team' ORDER BY id").fetchone()
    return PersonId(row[0]) if row else None


def make_team(connection: Connection, *, now: int) -> PersonId:
    """Return the team's row; create it if needed."""
    known = find_team(connection)
    if known is not None:
        return known
    return people.insert(
        connection, slug=TEAM, name="The team", role="member", now=now, kind="team"
    ).id


def insert(connection: Connection, new: NewBlock, *, now: int) -> Block:
    """Create a block with its row in `people`; nobody sees it yet.

    The label must be free: see `find`.
    """
    owner = people.insert(
        connection, slug=PREFIX + new.slug, name=new.label, role="member", now=now, kind="block"
    )
    connection.execute(
        "INSERT INTO blocks (person_id, label, description, char_limit, made_by, created_at)"
        " VALUES (:person_id, :label, :description, :limit, :made_by, :now)",
        {**list_fields(new), "person_id": owner.id, "now": now},
    )
    rows = connection.execute(
        f"{_BLOCK} WHERE blocks.person_id = :person_id", {"person_id": owner.id}
    )
    return read_all(Block, rows, **_DECODE)[0]


def exists(connection: Connection) -> bool:
    """Return whether there is any block."""
    return connection.execute("SELECT 1 FROM blocks LIMIT 1").fetchone() is not None


def find(connection: Connection, *, label: str) -> Block | None:
    """Return the block of this label; labels are unique."""
    found = connection.execute(f"{_BLOCK} WHERE blocks.label = :label", {"label": label})
    return read_one(Block, found, **_DECODE)


def list_visible(connection: Connection, *, person_id: PersonId | None) -> list[Block]:
    """List the blocks that a person or a room sees, by label.

    For None, list the blocks that everyone sees.
    """
    rows = connection.execute(
        f"{_BLOCK} WHERE blocks.id IN (SELECT block_id FROM block_readers WHERE person_id IN"
        f" ({_SELVES} UNION SELECT id FROM people WHERE kind = 'team')) ORDER BY blocks.label",
        {"person_id": person_id},
    )
    return read_all(Block, rows, **_DECODE)


def list_made(connection: Connection, *, person_id: PersonId) -> list[Block]:
    """List the blocks that a person made, by label."""
    rows = connection.execute(
        f"{_BLOCK} WHERE blocks.made_by IN ({_SELVES}) ORDER BY blocks.label",
        {"person_id": person_id},
    )
    return read_all(Block, rows, **_DECODE)


def list_all(connection: Connection) -> list[Block]:
    """List every block, by label; for owners."""
    rows = connection.execute(f"{_BLOCK} ORDER BY blocks.label")
    return read_all(Block, rows, **_DECODE)


def list_readers(connection: Connection, *, block_id: BlockId) -> list[people.Person]:
    """List the readers of a block: people, rooms, and the team for everyone."""
    rows = connection.execute(
        "SELECT DISTINCT COALESCE(people.joined_to, people.id) FROM block_readers JOIN people"
        " ON people.id = block_readers.person_id WHERE block_readers.block_id = :block_id"
        " ORDER BY 1",
        {"block_id": block_id},
    ).fetchall()
    found = (people.find(connection, person_id=PersonId(row[0])) for row in rows)
    return [person for person in found if person]


def share(connection: Connection, *, block_id: BlockId, person_id: PersonId) -> bool:
    """Share a block with a reader; False if the reader sees it already."""
    known = connection.execute(
        f"SELECT 1 FROM block_readers WHERE block_id = :block_id AND person_id IN ({_SELVES})",
        {"block_id": block_id, "person_id": person_id},
    ).fetchone()
    if known:
        return False
    connection.execute(
        "INSERT INTO block_readers (block_id, person_id) VALUES (:block_id, :person_id)",
        {"block_id": block_id, "person_id": person_id},
    )
    return True


def unshare(connection: Connection, *, block_id: BlockId, person_id: PersonId) -> bool:
    """Stop sharing a block with a reader; False if the reader did not see it."""
    removed = connection.execute(
        f"DELETE FROM block_readers WHERE block_id = :block_id AND person_id IN ({_SELVES})",
        {"block_id": block_id, "person_id": person_id},
    )
    return removed.rowcount > 0


def set_read_only(connection: Connection, *, block_id: BlockId, is_read_only: bool) -> None:
    """Set whether the assistant is forbidden to write in a block."""
    connection.execute(
        "UPDATE blocks SET is_read_only = :is_read_only WHERE id = :block_id",
        {"is_read_only": int(is_read_only), "block_id": block_id},
    )


def set_limit(connection: Connection, *, block_id: BlockId, limit: int) -> None:
    """Set the size limit of a block, in characters of its file."""
    connection.execute(
        "UPDATE blocks SET char_limit = :limit WHERE id = :block_id",
        {"limit": limit, "block_id": block_id},
    )


def describe(connection: Connection, *, block_id: BlockId, description: str) -> None:
    """Set the description of a block."""
    connection.execute(
        "UPDATE blocks SET description = :description WHERE id = :block_id",
        {"description": description, "block_id": block_id},
    )


def drop(connection: Connection, *, block_id: BlockId) -> None:
    """Delete a block; its content stays in the ledger, under its row in `people`."""
    connection.execute(
        "DELETE FROM block_readers WHERE block_id = :block_id", {"block_id": block_id}
    )
    connection.execute("DELETE FROM blocks WHERE id = :block_id", {"block_id": block_id})
