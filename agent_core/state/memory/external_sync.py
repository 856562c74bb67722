"""Queries over what an outside memory is to be told, and over what it is told from."""

from dataclasses import dataclass
from typing import Literal

from agent_core.ids import PersonId, SessionId, TurnId
from agent_core.state.engine.database import Connection

Kind = Literal["turn", "memory", "erase"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncItem:
    """One thing to be told, by its key: `turn:N`, `person:N`, or `session:N:K` (the K-th time).

    `payload` is JSON: which entries of a memory the provider has; it never holds words.
    """

    id: int
    person_id: PersonId
    kind: Kind
    key: str
    payload: str
    attempts: int
    """How often it was begun; after the first time it may have been told."""
    due_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How much one provider is owed, and how much was given up."""

    provider: str
    owed: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedTurn:
    """A turn as it is told: whose talk it was, in which session, by whom it was asked for."""

    asker_id: PersonId
    owner_id: PersonId
    session_id: SessionId


_LEAST_PARKED = 3_600_000
"""Milliseconds."""
_OWED = "id, person_id, kind, key, payload, attempts, due_at"


def enqueue(
    connection: Connection,
    *,
    provider: str,
    kind: Kind,
    key: str,
    person_id: PersonId,
    now: int,
) -> None:
    """Owe something, unless the same was owed before."""
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
    """How a person's memory stands is to be told, again or for the first time."""
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
    """The first that is told of a person is how their memory stands; later that changes nothing."""
    enqueue(
        connection,
        provider=provider,
        kind="memory",
        key=f"person:{person_id}",
        person_id=person_id,
        now=now,
    )


def list_queued(connection: Connection, *, provider: str, limit: int) -> list[SyncItem]:
    """What is owed longest, in the order in which it is to be told."""
    rows = connection.execute(
        f"SELECT {_OWED} FROM external_sync WHERE provider = :provider AND state = 'owed'"
        " ORDER BY id LIMIT :limit",
        {"provider": provider, "limit": limit},
    ).fetchall()
    return [
        SyncItem(
            id=row[0],
            person_id=PersonId(row[1]),
            kind=row[2],
            key=row[3],
            payload=row[4],
            attempts=row[5],
            due_at=row[6],
        )
        for row in rows
    ]


def begin(connection: Connection, *, item_id: int) -> bool:
    """Note that something is being told from now on; False if it is not owed any more."""
    row = connection.execute(
        "UPDATE external_sync SET attempts = attempts + 1 WHERE id = :item_id AND state = 'owed'"
        " RETURNING id",
        {"item_id": item_id},
    ).fetchone()
    return row is not None


def drop(connection: Connection, *, item_id: int) -> bool:
    """Something was told and need not be known any more; False if it was gone already."""
    row = connection.execute(
        "DELETE FROM external_sync WHERE id = :item_id RETURNING id", {"item_id": item_id}
    ).fetchone()
    return row is not None


def finish(connection: Connection, *, item_id: int, payload: str) -> None:
    """Something was told; `payload` is what has to be known of it."""
    connection.execute(
        "UPDATE external_sync SET state = 'done', payload = :payload, reason = '' WHERE id ="
        " :item_id",
        {"item_id": item_id, "payload": payload},
    )


def postpone(connection: Connection, *, item_id: int, due_at: int, reason: str) -> None:
    """Something could not be told; it is tried again."""
    connection.execute(
        "UPDATE external_sync SET due_at = :due_at, reason = :reason WHERE id = :item_id",
        {"item_id": item_id, "due_at": due_at, "reason": reason},
    )


def park(connection: Connection, *, item_id: int, reason: str, now: int) -> None:
    """Something can't be told; it holds up nothing any more.

    It may be taken up again after an hour, or as long as it is owed already, if that is longer:
    what never works is tried less and less often.
    """
    connection.execute(
        "UPDATE external_sync SET state = 'dead', reason = :reason, due_at = CASE"
        " WHEN :now - created_at > :least THEN 2 * :now - created_at ELSE :now + :least END"
        " WHERE id = :item_id",
        {"item_id": item_id, "reason": reason, "now": now, "least": _LEAST_PARKED},
    )


def revive(connection: Connection, *, provider: str, now: int) -> int:
    """What was parked long enough is owed again; how much that is."""
    cursor = connection.execute(
        "UPDATE external_sync SET state = 'owed' WHERE provider = :provider AND state = 'dead'"
        " AND due_at <= :now",
        {"provider": provider, "now": now},
    )
    return cursor.rowcount


def find_oldest_at(connection: Connection, *, provider: str) -> int | None:
    """Since when something is owed to a provider; None if nothing is.

    How somebody's memory stands is owed since it last changed.
    """
    row = connection.execute(
        "SELECT MIN(CASE WHEN kind = 'memory' THEN due_at ELSE created_at END) FROM external_sync"
        " WHERE provider = :provider AND state = 'owed'",
        {"provider": provider},
    ).fetchone()
    return None if row[0] is None else int(row[0])


def count_all(connection: Connection) -> list[Backlog]:
    """What each provider that was ever told anything is still owed; for the owner's eyes."""
    rows = connection.execute(
        "SELECT provider, SUM(state = 'owed'), SUM(state = 'dead') FROM external_sync GROUP BY"
        " provider"
    ).fetchall()
    return [Backlog(provider=row[0], owed=row[1], dead=row[2]) for row in rows]


def count_dropped(connection: Connection, *, provider: str, session_id: SessionId) -> int:
    """How often a session was, or is to be, forgotten outside; it goes on under another name."""
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
    """Whoever was told anything is to forget a session, of which words were taken out."""
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
    """The number of the last row of the ledger; 0 before the first."""
    row = connection.execute("SELECT MAX(id) FROM ledger").fetchone()
    return row[0] or 0


def list_changed(connection: Connection, *, after: int, upto: int) -> list[PersonId]:
    """The people whose memory was changed by these rows of the ledger."""
    rows = connection.execute(
        "SELECT DISTINCT ledger.person_id FROM ledger JOIN people ON people.id = ledger.person_id"
        " WHERE ledger.id > :after AND ledger.id <= :upto AND ledger.target IN ('memory', 'user')"
        " AND people.kind = 'human'",
        {"after": after, "upto": upto},
    ).fetchall()
    return [PersonId(row[0]) for row in rows]


def find_turn(connection: Connection, *, turn_id: TurnId) -> SyncedTurn | None:
    """A turn that is still there."""
    row = connection.execute(
        "SELECT turns.person_id, conversations.person_id, turns.session_id FROM turns"
        " JOIN conversations ON conversations.id = turns.conversation_id"
        " WHERE turns.id = :turn_id",
        {"turn_id": turn_id},
    ).fetchone()
    if row is None:
        return None
    return SyncedTurn(
        asker_id=PersonId(row[0]), owner_id=PersonId(row[1]), session_id=SessionId(row[2])
    )


def list_said(connection: Connection, *, turn_id: TurnId) -> list[tuple[int, str, str, int]]:
    """(number, role, text, time) of what people and the assistant said in a turn, oldest first.

    What was forgotten since is not among it.
    """
    return connection.execute(
        "SELECT id, role, text, created_at FROM messages WHERE turn_id = :turn_id"
        " AND role IN ('user', 'assistant') AND text <> '' AND forgotten_at IS NULL ORDER BY id",
        {"turn_id": turn_id},
    ).fetchall()


def _list_providers(connection: Connection) -> list[str]:
    return [
        row[0]
        for row in connection.execute("SELECT DISTINCT provider FROM external_sync").fetchall()
    ]
