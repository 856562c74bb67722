"""Queries over messages that could not be delivered and were set aside; kept for `/retry`."""

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.queues.outbox import ROW, OutboxRow, read_row


def revive_dead(
    connection: Connection, *, person_id: PersonId, platform: str, chat: str
) -> list[OutboxRow]:
    """Owe again what was set aside for this person in this chat; what is owed now, in order."""
    rows = connection.execute(
        "UPDATE outbox SET state = 'owed', attempts = 0, message_id = NULL, shown = NULL"
        " WHERE person_id = :person_id AND platform = :platform AND chat = :chat"
        f" AND state = 'dead' RETURNING {ROW}",
        {"person_id": person_id, "platform": platform, "chat": chat},
    ).fetchall()
    return sorted((read_row(row) for row in rows), key=lambda row: row.id)


def has_dead(connection: Connection, *, person_id: PersonId, platform: str, chat: str) -> bool:
    """True if something was set aside for this person in this chat."""
    found = connection.execute(
        "SELECT 1 FROM outbox WHERE person_id = :person_id AND platform = :platform"
        " AND chat = :chat AND state = 'dead' LIMIT 1",
        {"person_id": person_id, "platform": platform, "chat": chat},
    )
    return found.fetchone() is not None


def count_dead_of(connection: Connection, *, person_id: PersonId) -> int:
    """How many messages to this person were set aside."""
    query = "SELECT COUNT(*) FROM outbox WHERE person_id = :person_id AND state = 'dead'"
    return int(connection.execute(query, {"person_id": person_id}).fetchone()[0])


def list_dead(connection: Connection, *, limit: int) -> list[OutboxRow]:
    """What was set aside, newest first; for the owner's command line only."""
    rows = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE state = 'dead' ORDER BY id DESC LIMIT :limit",
        {"limit": limit},
    ).fetchall()
    return [read_row(row) for row in rows]
