"""Queries over what jobs have seen of their feeds and folders."""

from collections.abc import Mapping

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection

_READ = ""
"""The key that says that the source was read once."""


def load(connection: Connection, *, job_id: JobId) -> dict[str, str] | None:
    """Return what a job has seen, by key; None if it has not read its source yet."""
    rows = connection.execute(
        "SELECT key, value FROM job_marks WHERE job_id = :job_id", {"job_id": job_id}
    ).fetchall()
    found = {str(key): str(value) for key, value in rows}
    return found if found.pop(_READ, None) is not None else None


def clear(connection: Connection, *, job_id: JobId) -> None:
    """Forget what a job has seen: its next look at its source is the first."""
    connection.execute("DELETE FROM job_marks WHERE job_id = :job_id", {"job_id": job_id})


def store(connection: Connection, *, job_id: JobId, marks: Mapping[str, str]) -> None:
    """Replace what a job has seen."""
    clear(connection, job_id=job_id)
    connection.executemany(
        "INSERT INTO job_marks (job_id, key, value) VALUES (:job_id, :key, :value)",
        [{"job_id": job_id, "key": key, "value": value} for key, value in marks.items()]
        + [{"job_id": job_id, "key": _READ, "value": ""}],
    )
