"""Queries over curations: tasks in which the curator examines skills or a memory.

The key of such a task names the person and the subject. The payload holds the proposals of a model
and the decisions of the person.
"""

from typing import Literal

from agent_core.ids import PersonId, TaskId
from agent_core.state.engine.database import Connection
from agent_core.state.queues import tasks

KIND = "curation"
"""The kind of the tasks."""
_DIGITS = 19
"""Digits of a time in a key, so that keys sort like times."""


def enqueue(
    connection: Connection,
    *,
    person_id: PersonId,
    subject: Literal["skills", "memory"],
    payload: str,
    now: int,
) -> None:
    """Queue a curation that a person pays for: of their memory, or of the skills of the home."""
    tasks.enqueue(
        connection,
        kind=KIND,
        key=f"{person_id}:{now:0{_DIGITS}}:{subject}",
        person_id=person_id,
        payload=payload,
        now=now,
    )


def find(connection: Connection, *, person_id: PersonId, task_id: TaskId) -> str | None:
    """Return the payload of a person's finished curation."""
    row = connection.execute(
        "SELECT payload FROM tasks WHERE id = :id AND kind = 'curation'"
        " AND person_id = :person_id AND state = 'done'",
        {"id": task_id, "person_id": person_id},
    ).fetchone()
    return row[0] if row else None
