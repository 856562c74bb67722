"""Queries over owners and their recent chats."""

from agent_core.chats import Chat
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person

_NEWEST = 50_000
"""The newest rows of the outbox that are searched; reading them takes some milliseconds."""


def list_all(connection: Connection) -> list[Person]:
    """List the owners, oldest first."""
    return [person for person in people.list_all(connection) if person.is_owner]


def list_chats(connection: Connection, *, person_id: PersonId, limit: int) -> list[Chat]:
    """List the chats of a person's turns, newest first, with repetitions."""
    rows = connection.execute(
        "SELECT platform, chat FROM turns WHERE person_id = :person_id ORDER BY id DESC"
        " LIMIT :limit",
        {"person_id": person_id, "limit": limit},
    ).fetchall()
    return [Chat(platform=row[0], address=row[1]) for row in rows]


def list_answered_chats(connection: Connection, *, person_id: PersonId, limit: int) -> list[Chat]:
    """List the chats of messages to a person, newest first, with repetitions.

    Only platforms count on which the person still has an account. No index serves this query, so it
    reads only the newest rows.
    """
    rows = connection.execute(
        "SELECT platform, chat FROM outbox WHERE person_id = :person_id AND state = 'sent'"
        " AND id > (SELECT COALESCE(MAX(id), 0) FROM outbox) - :newest AND platform IN"
        " (SELECT platform FROM accounts WHERE accounts.person_id = :person_id)"
        " ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit, "newest": _NEWEST},
    ).fetchall()
    return [Chat(platform=row[0], address=row[1]) for row in rows]


def find_approver(connection: Connection, *, turn_id: TurnId, call_id: CallId) -> Person | None:
    """Return the person who answered the question of a tool call."""
    row = connection.execute(
        "SELECT answered_by FROM questions WHERE turn_id = :turn_id AND call_id = :call_id"
        " AND answered_by IS NOT NULL",
        {"turn_id": turn_id, "call_id": call_id},
    ).fetchone()
    return people.find(connection, person_id=PersonId(row[0])) if row else None
