"""Queries over messages that wait too long, and over undeliverable ones, for `/retry`."""

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.queues.outbox import IS_OPEN, ROW, OutboxRow, read_row


def list_oldest(connection: Connection) -> dict[str, int]:
    """Return when each platform's oldest undelivered message was enqueued, in milliseconds UTC."""
    query = (
        f"SELECT platform, MIN(created_at) FROM outbox WHERE {IS_OPEN} AND is_live = 0"
        " GROUP BY platform"
    )
    return dict(connection.execute(query).fetchall())


def list_delays(connection: Connection, *, limit: int) -> dict[str, list[int]]:
    """Return the sorted delays of each platform's newest sent messages, in milliseconds."""
    rows = connection.execute(
        "SELECT platform, sent_at - created_at FROM (SELECT platform, created_at, sent_at, state,"
        " kind FROM outbox ORDER BY id DESC LIMIT :limit)"
        " WHERE state = 'sent' AND kind = 'message' AND sent_at IS NOT NULL ORDER BY 2",
        {"limit": limit},
    ).fetchall()
    found: dict[str, list[int]] = {}
    for platform, waited in rows:
        found.setdefault(platform, []).append(max(waited, 0))
    return found


def revive_dead(
    connection: Connection, *, person_id: PersonId, platform: str, chat: str
) -> list[OutboxRow]:
    """Queue this person's undeliverable messages in this chat again; return them in order."""
    rows = connection.execute(
        "UPDATE outbox SET state = 'owed', attempts = 0, message_id = NULL, shown = NULL"
        " WHERE person_id = :person_id AND platform = :platform AND chat = :chat"
        f" AND state = 'dead' RETURNING {ROW}",
        {"person_id": person_id, "platform": platform, "chat": chat},
    ).fetchall()
    return sorted((read_row(row) for row in rows), key=lambda row: row.id)


def revive_waiting(
    connection: Connection, *, platform: str, chat: str, reason: str
) -> list[OutboxRow]:
    """Queue the messages that this chat did not get for this reason again; return them in order."""
    rows = connection.execute(
        "UPDATE outbox SET state = 'owed', attempts = 0, message_id = NULL, shown = NULL"
        " WHERE platform = :platform AND chat = :chat AND state = 'dead' AND reason = :reason"
        f" RETURNING {ROW}",
        {"platform": platform, "chat": chat, "reason": reason},
    ).fetchall()
    return sorted((read_row(row) for row in rows), key=lambda row: row.id)


def has_dead(connection: Connection, *, person_id: PersonId, platform: str, chat: str) -> bool:
    """Return whether this person has undeliverable messages in this chat."""
    found = connection.execute(
        "SELECT 1 FROM outbox WHERE person_id = :person_id AND platform = :platform"
        " AND chat = :chat AND state = 'dead' LIMIT 1",
        {"person_id": person_id, "platform": platform, "chat": chat},
    )
    return found.fetchone() is not None


def count_unasked(
    connection: Connection, *, platform: str, chat: str, reason: str
) -> dict[PersonId, int]:
    """Count the messages that this chat did not get for this reason, and that answered nothing."""
    rows = connection.execute(
        "SELECT person_id, COUNT(*) FROM outbox WHERE platform = :platform AND chat = :chat"
        " AND state = 'dead' AND reason = :reason AND answers IS NULL AND question_id IS NULL"
        " AND part = 0 AND person_id IS NOT NULL GROUP BY person_id",
        {"platform": platform, "chat": chat, "reason": reason},
    ).fetchall()
    return dict(rows)


def count_dead_of(connection: Connection, *, person_id: PersonId) -> int:
    """Count the undeliverable messages of this person."""
    query = "SELECT COUNT(*) FROM outbox WHERE person_id = :person_id AND state = 'dead'"
    return int(connection.execute(query, {"person_id": person_id}).fetchone()[0])


def list_dead(connection: Connection, *, limit: int) -> list[OutboxRow]:
    """List the undeliverable messages of everybody, newest first."""
    rows = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE state = 'dead' ORDER BY id DESC LIMIT :limit",
        {"limit": limit},
    ).fetchall()
    return [read_row(row) for row in rows]
