"""Queries over memory owners: people, rooms, the team and named blocks."""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import PersonKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOwner:
    """A memory owner.

    `slug` is as in `people`. `folder` is the name of the owner's folder within the folder of its
    kind.
    """

    person_id: PersonId
    slug: str
    folder: str
    kind: PersonKind


_OWNER = "SELECT id, slug, kind FROM people WHERE joined_to IS NULL"


def list_all(connection: Connection, *, after: PersonId, limit: int) -> list[StoredOwner]:
    """List the owners with ids above `after`, oldest first, without merged people."""
    rows = connection.execute(
        f"{_OWNER} AND id > :after ORDER BY id LIMIT :limit", {"after": after, "limit": limit}
    ).fetchall()
    return [_owner(row) for row in rows]


def find(connection: Connection, *, person_id: PersonId) -> StoredOwner | None:
    """Return an owner by id, unless they are merged into another."""
    row = connection.execute(f"{_OWNER} AND id = :person_id", {"person_id": person_id}).fetchone()
    return _owner(row) if row else None


def find_by_slug(connection: Connection, *, slug: str) -> StoredOwner | None:
    """Return an owner by slug, unless they are merged into another."""
    row = connection.execute(f"{_OWNER} AND slug = :slug", {"slug": slug}).fetchone()
    return _owner(row) if row else None


def _owner(row: tuple[int, str, PersonKind]) -> StoredOwner:
    kind = row[2]
    folder = row[1] if kind == "human" else row[1].removeprefix(f"{kind}-")
    return StoredOwner(person_id=PersonId(row[0]), slug=row[1], folder=folder, kind=kind)
