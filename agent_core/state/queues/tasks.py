"""Queries over queued background work."""

import json
from dataclasses import dataclass

from agent_core.ids import PersonId, TaskId
from agent_core.state.engine.connection import read_one
from agent_core.state.engine.database import Connection

_IS_OPEN = "state IN ('owed', 'running')"
"""The condition of a partial index; SQLite uses the index only if a query repeats it verbatim."""

_IN_QUEUE = "(kind IN (SELECT value FROM json_each(:kinds))) = :is_listed"
"""Selects the tasks of a `Queue`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The tasks that one runner processes: those of the listed kinds, or all others.

    Slow kinds have their own runner, so that no other task waits for them.
    """

    kinds: tuple[str, ...]
    is_listed: bool = True

    @property
    def values(self) -> dict[str, object]:
        """The parameters that every query over a queue needs."""
        return {"kinds": json.dumps(self.kinds), "is_listed": self.is_listed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Queued work. `payload` is JSON text; its format depends on the kind."""

    id: TaskId
    kind: str
    person_id: PersonId
    payload: str
    attempts: int


def enqueue(
    connection: Connection,
    *,
    kind: str,
    key: str,
    person_id: PersonId,
    payload: str,
    now: int,
) -> None:
    """Queue work, unless its kind and key were queued before."""
    connection.execute(
        "INSERT INTO tasks (kind, key, person_id, payload, state, due_at, created_at)"
        " VALUES (:kind, :key, :person_id, :payload, 'owed', :now, :now)"
        " ON CONFLICT (kind, key) DO NOTHING",
        {"kind": kind, "key": key, "person_id": person_id, "payload": payload, "now": now},
    )


def reopen(connection: Connection, *, queue: Queue) -> None:
    """Queue work again that an earlier process started but did not finish."""
    connection.execute(
        f"UPDATE tasks SET state = 'owed' WHERE {_IS_OPEN} AND state = 'running' AND {_IN_QUEUE}",
        queue.values,
    )


def take_due(connection: Connection, *, queue: Queue, now: int) -> Task | None:
    """Take the work that has been due longest."""
    found = connection.execute(
        "UPDATE tasks SET state = 'running', attempts = attempts + 1 WHERE id = ("
        f" SELECT id FROM tasks WHERE {_IS_OPEN} AND state = 'owed' AND due_at <= :now"
        f" AND {_IN_QUEUE} ORDER BY due_at, id LIMIT 1)"
        " RETURNING id, kind, person_id, payload, attempts",
        {"now": now, **queue.values},
    )
    return read_one(Task, found)


def has_due(connection: Connection, *, queue: Queue, now: int) -> bool:
    """Return whether work is due."""
    row = connection.execute(
        f"SELECT 1 FROM tasks WHERE {_IS_OPEN} AND state = 'owed' AND due_at <= :now"
        f" AND {_IN_QUEUE} LIMIT 1",
        {"now": now, **queue.values},
    ).fetchone()
    return row is not None


def has_running(connection: Connection, *, queue: Queue, person_id: PersonId) -> bool:
    """Return whether work for a person is under way."""
    row = connection.execute(
        f"SELECT 1 FROM tasks WHERE {_IS_OPEN} AND state = 'running' AND {_IN_QUEUE}"
        " AND person_id = :person_id LIMIT 1",
        {"person_id": person_id, **queue.values},
    ).fetchone()
    return row is not None


def find_earliest_due(connection: Connection) -> int | None:
    """Return when the oldest work that has not begun was due, in milliseconds UTC."""
    query = f"SELECT MIN(due_at) FROM tasks WHERE {_IS_OPEN} AND state = 'owed'"
    row = connection.execute(query).fetchone()
    return row[0] if row else None


def save(connection: Connection, *, task_id: TaskId, payload: str) -> None:
    """Replace the payload of work with its progress so far."""
    connection.execute(
        "UPDATE tasks SET payload = :payload WHERE id = :id", {"payload": payload, "id": task_id}
    )


def finish(connection: Connection, *, task_id: TaskId) -> None:
    """Mark work as done."""
    connection.execute("UPDATE tasks SET state = 'done' WHERE id = :id", {"id": task_id})


def postpone(connection: Connection, *, task_id: TaskId, due_at: int, reason: str) -> None:
    """Queue failed work again for a later time."""
    connection.execute(
        "UPDATE tasks SET state = 'owed', due_at = :due_at, reason = :reason WHERE id = :id",
        {"id": task_id, "due_at": due_at, "reason": reason},
    )


def defer(connection: Connection, *, task_id: TaskId, due_at: int) -> None:
    """Queue work again that could not begin; this does not count as an attempt."""
    connection.execute(
        "UPDATE tasks SET state = 'owed', due_at = :due_at, attempts = attempts - 1 WHERE id = :id",
        {"id": task_id, "due_at": due_at},
    )


def abandon(connection: Connection, *, task_id: TaskId, reason: str) -> None:
    """Mark work as failed for good."""
    connection.execute(
        "UPDATE tasks SET state = 'dead', reason = :reason WHERE id = :id",
        {"id": task_id, "reason": reason},
    )


def list_finished(
    connection: Connection, *, kind: str, person_id: PersonId, limit: int
) -> list[tuple[TaskId, str]]:
    """List the payloads of a person's finished work of a kind, newest first.

    The keys of that kind begin with the person's id.
    """
    rows = connection.execute(
        "SELECT id, payload FROM tasks WHERE kind = :kind AND key > :first AND key < :last"
        " AND person_id = :person_id AND state = 'done' ORDER BY key DESC LIMIT :limit",
        {
            "kind": kind,
            "first": f"{person_id}:",
            "last": f"{person_id};",
            "person_id": person_id,
            "limit": limit,
        },
    ).fetchall()
    return [(TaskId(row[0]), row[1]) for row in rows]
