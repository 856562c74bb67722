"""Queries over the tasks of a batch run, which are rows of `tasks` in the run's own database."""

from dataclasses import dataclass

from agent_core.ids import PersonId, TaskId
from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection

_KIND = "batch"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """A stored task. `state` is `owed`, `done` or `dead`; `payload` is JSON text."""

    id: TaskId
    line: int
    payload: str
    state: str


def insert(connection: Connection, *, row: BatchRow, person_id: PersonId, now: int) -> None:
    """Store a task of a line that has none yet. Its id is given by the database."""
    connection.execute(
        "INSERT INTO tasks (kind, key, person_id, payload, state, due_at, created_at)"
        " VALUES (:kind, :key, :person_id, :payload, :state, :now, :now)",
        {
            "kind": _KIND,
            "key": f"{row.line:012d}",
            "person_id": person_id,
            "payload": row.payload,
            "state": row.state,
            "now": now,
        },
    )


def save(connection: Connection, *, task_id: TaskId, payload: str, state: str) -> None:
    """Replace a task's record and state."""
    connection.execute(
        "UPDATE tasks SET payload = :payload, state = :state WHERE id = :id AND kind = :kind",
        {"payload": payload, "state": state, "id": task_id, "kind": _KIND},
    )


def list_all(connection: Connection) -> list[BatchRow]:
    """List all tasks of the run by line."""
    rows = connection.execute(
        "SELECT id, CAST(key AS INTEGER) AS line, payload, state FROM tasks WHERE kind = :kind"
        " ORDER BY key",
        {"kind": _KIND},
    )
    return read_all(BatchRow, rows)
