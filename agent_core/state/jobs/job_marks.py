"""Queries over the items that jobs have seen in their feeds and folders."""

from collections.abc import Mapping

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection

_READ = ""
"""The key that marks that the source was read at least once."""


def load(connection: Connection, *, job_id: JobId) -> dict[str, str] | None:
    """Return the items that a job has seen, by key; None if it has not read its source yet."""
    rows = connection.execute(
        "SELECT key, value FROM job_marks WHERE job_id = :job_id", {"job_id": job_id}
    ).fetchall()
    found = {str(key): str(value) for key, value in rows}
    return found if found.pop(_READ, None) is not None else None


def clear(connection: Connection, *, job_id: JobId) -> None:
    """Forget what a job has seen, so that its next read of the source counts as the first."""
    connection.execute("DELETE FROM job_marks WHERE job_id = :job_id", {"job_id": job_id})


def store(connection: Connection, *, job_id: JobId, marks: Mapping[str, str]) -> None:
    """Replace the items that a job has seen."""
    clear(connection, job_id=job_id)
    connection.executemany(
        "INSERT INTO job_marks (job_id, key, value) VALUES (:job_id, :key, :value)",
        [{"job_id": job_id, "key": key, "value": value} for key, value in marks.items()]
        + [{"job_id": job_id, "key": _READ, "value": ""}],
    )
