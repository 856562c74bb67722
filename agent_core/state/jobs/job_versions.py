"""Queries over former versions of jobs: one is stored before each change."""

from dataclasses import dataclass

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Job, read_row

_MOST = 20
"""The most versions that are kept of a job."""
_ROW = (
    "jobs.id, jobs.person_id, jobs.room_id, jobs.kind, former.title, former.body, former.timing,"
    " former.zone, former.late, former.options, former.targets, former.is_urgent, jobs.state,"
    " jobs.reason, jobs.failures, jobs.next_slot, jobs.next_at, jobs.actor, jobs.call_key,"
    " jobs.created_at, former.checksum"
)
"""The columns of a job as it was; columns that a change replaced come from the version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVersion:
    """A job as it was until `replaced_at`, in milliseconds UTC."""

    id: int
    job: Job
    replaced_at: int


def record(connection: Connection, *, job_id: JobId, now: int) -> None:
    """Store the present version of a job, and delete the oldest one beyond the limit.

    Call this in the transaction that changes the job.
    """
    values = {"job_id": job_id, "now": now, "most": _MOST}
    connection.execute(
        "INSERT INTO job_versions (job_id, title, body, timing, zone, late, options, targets,"
        " is_urgent, replaced_at, checksum) SELECT id, title, body, timing, zone, late, options,"
        " targets, is_urgent, :now, checksum FROM jobs WHERE id = :job_id",
        values,
    )
    connection.execute(
        "DELETE FROM job_versions WHERE job_id = :job_id AND id <= (SELECT id FROM job_versions"
        " WHERE job_id = :job_id ORDER BY id DESC LIMIT 1 OFFSET :most)",
        values,
    )


def list_of(connection: Connection, *, job_id: JobId) -> list[JobVersion]:
    """List the former versions of a job, newest first, without damaged ones."""
    rows = connection.execute(
        f"SELECT former.id, former.replaced_at, {_ROW} FROM job_versions AS former"
        " JOIN jobs ON jobs.id = former.job_id WHERE former.job_id = :job_id"
        " ORDER BY former.id DESC",
        {"job_id": job_id},
    ).fetchall()
    found = [JobVersion(id=row[0], job=read_row(row[2:]), replaced_at=row[1]) for row in rows]
    return [one for one in found if one.job.is_whole]


def find_newest(connection: Connection, *, job_id: JobId) -> int | None:
    """Return the number of the newest former version of a job."""
    row = connection.execute(
        "SELECT MAX(id) FROM job_versions WHERE job_id = :job_id", {"job_id": job_id}
    ).fetchone()
    found: int | None = row[0]
    return found


def drop_addresses(connection: Connection, *, job_id: JobId) -> None:
    """Delete the versions with a web address: restoring one would reopen a replaced address."""
    connection.execute(
        "DELETE FROM job_versions WHERE job_id = :job_id AND timing GLOB 'on webhook*'",
        {"job_id": job_id},
    )
