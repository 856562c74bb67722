"""Queries over the named agent that a person's direct chats or a room are bound to."""

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection


def bind(connection: Connection, *, person_id: PersonId, agent: str) -> None:
    """Bind a person's direct chats, or a room, to an agent; "" is the assistant itself."""
    connection.execute(
        "UPDATE people SET agent = :agent WHERE id = :person_id",
        {"agent": agent, "person_id": person_id},
    )
