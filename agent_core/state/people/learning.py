"""Queries for how the assistant learns from a person's turns."""

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Learning, Summary


def set_learning(connection: Connection, *, person_id: PersonId, learning: Learning) -> None:
    """Store how the assistant learns: never, after a yes, with a silent notice, or with a sound."""
    connection.execute(
        "UPDATE people SET learning = :learning WHERE id = :person_id",
        {"learning": learning, "person_id": person_id},
    )


def set_summary(connection: Connection, *, person_id: PersonId, summary: Summary) -> None:
    """Store how often a summary replaces the messages about what was learned."""
    connection.execute(
        "UPDATE people SET learning_summary = :summary WHERE id = :person_id",
        {"summary": summary, "person_id": person_id},
    )


def keep_stricter(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Give `kept` the mode of `absorbed` if that is stricter.

    `off` is stricter than `ask`, and `ask` is stricter than the other modes.
    """
    connection.execute(
        "UPDATE people SET learning = (SELECT learning FROM people WHERE id = :absorbed)"
        " WHERE id = :kept AND learning <> 'off' AND EXISTS (SELECT 1 FROM people"
        " WHERE id = :absorbed AND learning IN ('off', 'ask'))",
        {"kept": kept, "absorbed": absorbed},
    )
