"""Queries over memory entries that are visible to others than their person."""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.connection import list_fields, read_all
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import MemoryTarget

EVERYONE = "everyone"
"""The audience of everyone, in any room. The audience of one room is `Room.audience`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """An entry of a person's list, by its text, and its audience."""

    target: MemoryTarget
    entry: str
    audience: str


def insert(
    connection: Connection, share: Share, *, person_id: PersonId, actor: str, now: int
) -> None:
    """Share an entry with an audience; repeating it changes nothing.

    `actor` is `turn:N`, `account:platform:user`, or `person:N` on the page.
    """
    connection.execute(
        "INSERT INTO shares (person_id, target, entry, audience, actor, created_at)"
        " VALUES (:person_id, :target, :entry, :audience, :actor, :now)"
        " ON CONFLICT (person_id, target, entry, audience) DO NOTHING",
        {**list_fields(share), "person_id": person_id, "actor": actor, "now": now},
    )


def delete(
    connection: Connection, *, person_id: PersonId, target: MemoryTarget, entry: str
) -> None:
    """Make an entry private again."""
    connection.execute(
        "DELETE FROM shares WHERE person_id = :person_id AND target = :target AND entry = :entry",
        {"person_id": person_id, "target": target, "entry": entry},
    )


def list_of(connection: Connection, *, person_id: PersonId) -> list[Share]:
    """List everything that a person shares, oldest first."""
    rows = connection.execute(
        "SELECT target, entry, audience FROM shares WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    )
    return read_all(Share, rows)
