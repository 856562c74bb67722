"""Queries over the tools that a person has switched off, or that are off in a room."""

from collections.abc import Iterable

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection


def set_off(connection: Connection, *, person_id: PersonId, names: Iterable[str]) -> None:
    """Store the tools that are off for a person, or in a room."""
    connection.execute(
        "UPDATE people SET tools_off = :names WHERE id = :person_id",
        {"names": " ".join(sorted(set(names))), "person_id": person_id},
    )
