"""Queries over the queue of changes for external memories, and over the data to send."""

from dataclasses import dataclass
from typing import Literal

from agent_core.ids import PersonId, SessionId, TurnId
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection

SyncKind = Literal["turn", "memory", "erase"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncItem:
    """A change to send. Its key is `turn:N`, `person:N`, or `session:N:K` for the K-th erasure.

    `payload` is JSON: it maps the hash of each entry that the provider has to the provider's id. It
    contains no text.
    """

    id: int
    person_id: PersonId
    kind: SyncKind
    key: str
    payload: str
    attempts: int
    """The number of attempts; after the first one, the provider may already have the change."""
    due_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The numbers of queued and abandoned changes of one provider."""

    provider: str
    queued: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedTurn:
    """A turn to send: the owner of its conversation, and its session."""

    owner_id: PersonId
    session_id: SessionId


_LEAST_PARKED = 3_600_000
"""Milliseconds for which a refused change is set aside, at least."""
_OWED = "id, person_id, kind, key, payload, attempts, due_at"


def enqueue(
    connection: Connection,
    *,
    provider: str,
    kind: SyncKind,
    key: str,
    person_id: PersonId,
    now: int,
) -> None:
    """Queue a change, unless it was queued before."""
    connection.execute(
        "INSERT INTO external_sync (provider, person_id, kind, key, payload, state, due_at,"
        " created_at)"
        " VALUES (:provider, :person_id, :kind, :key, '{}', 'owed', :now, :now)"
        " ON CONFLICT (provider, kind, key) DO NOTHING",
        {
            "provider": provider,
            "person_id": person_id,
            "kind": kind,
            "key": key,
            "now": now,
        },
    )


def enqueue_memory(connection: Connection, *, provider: str, person_id: PersonId, now: int) -> None:
    """Queue the state of a person's memory, again or for the first time."""
    connection.execute(
        "INSERT INTO external_sync (provider, person_id, kind, key, payload, state, due_at,"
        " created_at)"
        " VALUES (:provider, :person_id, 'memory', :key, '{}', 'owed', :now, :now)"
        " ON CONFLICT (provider, kind, key) DO UPDATE SET state = 'owed', due_at = :now,"
        " attempts = 0, reason = ''",
        {
            "provider": provider,
            "person_id": person_id,
            "key": f"person:{person_id}",
            "now": now,
        },
    )


def ensure_memory(connection: Connection, *, provider: str, person_id: PersonId, now: int) -> None:
    """Queue the state of a person's memory before anything else about them.

    A repeated call changes nothing.
    """
    enqueue(
        connection,
        provider=provider,
        kind="memory",
        key=f"person:{person_id}",
        person_id=person_id,
        now=now,
    )


def list_queued(connection: Connection, *, provider: str, limit: int) -> list[SyncItem]:
    """List the queued changes, oldest first."""
    rows = connection.execute(
        f"SELECT {_OWED} FROM external_sync WHERE provider = :provider AND state = 'owed'"
        " ORDER BY id LIMIT :limit",
        {"provider": provider, "limit": limit},
    )
    return read_all(SyncItem, rows)


def begin(connection: Connection, *, item_id: int) -> bool:
    """Record that an attempt starts; False if the change is no longer queued."""
    row = connection.execute(
        "UPDATE external_sync SET attempts = attempts + 1 WHERE id = :item_id AND state = 'owed'"
        " RETURNING id",
        {"item_id": item_id},
    ).fetchone()
    return row is not None


def drop(connection: Connection, *, item_id: int) -> bool:
    """Delete a sent change; False if it was already deleted."""
    row = connection.execute(
        "DELETE FROM external_sync WHERE id = :item_id RETURNING id", {"item_id": item_id}
    ).fetchone()
    return row is not None


def finish(connection: Connection, *, item_id: int, payload: str) -> None:
    """Mark a change as sent; `payload` is what the provider has now."""
    connection.execute(
        "UPDATE external_sync SET state = 'done', payload = :payload, reason = '' WHERE id ="
        " :item_id",
        {"item_id": item_id, "payload": payload},
    )


def postpone(connection: Connection, *, item_id: int, due_at: int, reason: str) -> None:
    """Keep a failed change queued until `due_at`."""
    connection.execute(
        "UPDATE external_sync SET due_at = :due_at, reason = :reason WHERE id = :item_id",
        {"item_id": item_id, "due_at": due_at, "reason": reason},
    )


def park(connection: Connection, *, item_id: int, reason: str, now: int) -> None:
    """Set aside a change that the provider refuses, so that it does not delay others.

    It is retried after an hour. If it has been queued for longer than that, it waits as long again.
    """
    connection.execute(
        "UPDATE external_sync SET state = 'dead', reason = :reason, due_at = CASE"
        " WHEN :now - created_at > :least THEN 2 * :now - created_at ELSE :now + :least END"
        " WHERE id = :item_id",
        {"item_id": item_id, "reason": reason, "now": now, "least": _LEAST_PARKED},
    )


def revive(connection: Connection, *, provider: str, now: int) -> int:
    """Queue the changes again that were set aside for long enough; return their number."""
    cursor = connection.execute(
        "UPDATE external_sync SET state = 'owed' WHERE provider = :provider AND state = 'dead'"
        " AND due_at <= :now",
        {"provider": provider, "now": now},
    )
    return cursor.rowcount


def find_oldest_at(connection: Connection, *, provider: str) -> int | None:
    """Return the time of the oldest queued change; None if none is queued.

    For the state of a memory, it is the time of its last change or, after a failed attempt, of the
    next attempt.
    """
    row = connection.execute(
        "SELECT MIN(CASE WHEN kind = 'memory' THEN due_at ELSE created_at END) FROM external_sync"
        " WHERE provider = :provider AND state = 'owed'",
        {"provider": provider},
    ).fetchone()
    return None if row[0] is None else int(row[0])


def count_all(connection: Connection) -> list[Backlog]:
    """Count the changes of every provider that ever received anything; for owners."""
    rows = connection.execute(
        "SELECT provider, SUM(state = 'owed') AS queued, SUM(state = 'dead') AS dead"
        " FROM external_sync GROUP BY provider"
    )
    return read_all(Backlog, rows)


def count_dropped(connection: Connection, *, provider: str, session_id: SessionId) -> int:
    """Count the erasures of a session, sent or queued; each gives the session another pseudonym."""
    row = connection.execute(
        "SELECT COUNT(*) FROM external_sync WHERE provider = :provider AND kind = 'erase'"
        " AND key >= :first AND key < :last",
        {
            "provider": provider,
            "first": f"session:{session_id}:",
            "last": f"session:{session_id};",
        },
    ).fetchone()
    return int(row[0])


def enqueue_drop(connection: Connection, *, session_id: SessionId, now: int) -> None:
    """Queue the erasure of a redacted session in every provider that received anything."""
    owner = connection.execute(
        "SELECT conversations.person_id FROM sessions JOIN conversations"
        " ON conversations.id = sessions.conversation_id WHERE sessions.id = :session_id",
        {"session_id": session_id},
    ).fetchone()
    for provider in _list_providers(connection):
        dropped = count_dropped(connection, provider=provider, session_id=session_id)
        enqueue(
            connection,
            provider=provider,
            kind="erase",
            key=f"session:{session_id}:{dropped}",
            person_id=PersonId(owner[0]),
            now=now,
        )


def find_newest_change(connection: Connection) -> int:
    """Return the id of the newest row of the ledger; 0 before the first."""
    row = connection.execute("SELECT MAX(id) FROM ledger").fetchone()
    return row[0] or 0


def list_changed(connection: Connection, *, after: int, upto: int) -> list[PersonId]:
    """List the people whose memory changed in a range of ledger rows."""
    rows = connection.execute(
        "SELECT DISTINCT ledger.person_id FROM ledger JOIN people ON people.id = ledger.person_id"
        " WHERE ledger.id > :after AND ledger.id <= :upto AND ledger.target IN ('memory', 'user')"
        " AND people.kind = 'human'",
        {"after": after, "upto": upto},
    ).fetchall()
    return [PersonId(row[0]) for row in rows]


def find_turn(connection: Connection, *, turn_id: TurnId) -> SyncedTurn | None:
    """Return a turn, if it still exists."""
    found = connection.execute(
        "SELECT conversations.person_id AS owner_id, turns.session_id FROM turns"
        " JOIN conversations ON conversations.id = turns.conversation_id"
        " WHERE turns.id = :turn_id",
        {"turn_id": turn_id},
    )
    return read_one(SyncedTurn, found)


def list_said(connection: Connection, *, turn_id: TurnId) -> list[tuple[int, str, str, int]]:
    """List (id, role, text, time) of the messages of a turn, oldest first.

    Redacted messages are left out. So are answers that may repeat words of others, because the
    provider would later return these words as its own.
    """
    return connection.execute(
        "SELECT messages.id, role, text, created_at FROM messages"
        " JOIN turns ON turns.id = messages.turn_id WHERE turn_id = :turn_id"
        " AND (role = 'user' OR (role = 'assistant' AND turns.is_untrusted = 0))"
        " AND text <> '' AND forgotten_at IS NULL ORDER BY messages.id",
        {"turn_id": turn_id},
    ).fetchall()


def _list_providers(connection: Connection) -> list[str]:
    return [
        row[0]
        for row in connection.execute("SELECT DISTINCT provider FROM external_sync").fetchall()
    ]
