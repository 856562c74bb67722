"""Queries over the owners of jobs: jobs that a person dropped, and merges and splits."""

from collections.abc import Sequence

from agent_core.ids import AccountId, JobId, PersonId
from agent_core.state.engine.database import Connection


def move_home(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move the home chat of `absorbed` to `kept`, unless `kept` has chosen one."""
    connection.execute(
        "UPDATE people SET (home_platform, home_chat) = (SELECT home_platform, home_chat"
        " FROM people WHERE id = :absorbed) WHERE id = :kept AND home_platform IS NULL",
        {"kept": kept, "absorbed": absorbed},
    )


def list_dropped(connection: Connection, *, person_id: PersonId, limit: int) -> list[JobId]:
    """List the jobs that a person has dropped, newest first."""
    rows = connection.execute(
        "SELECT id FROM jobs WHERE person_id = :person_id AND state = 'dropped'"
        " ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit},
    ).fetchall()
    return [JobId(row[0]) for row in rows]


def list_begun(
    connection: Connection, *, person_id: PersonId, account_id: AccountId
) -> list[JobId]:
    """List the jobs of a person that were made in the turns of one account."""
    rows = connection.execute(
        "SELECT jobs.id FROM jobs JOIN turns ON jobs.actor = 'turn:' || turns.id"
        " WHERE jobs.person_id = :person_id AND turns.person_id = :person_id"
        " AND turns.account_id = :account_id",
        {"person_id": person_id, "account_id": account_id},
    ).fetchall()
    return [JobId(row[0]) for row in rows]


def reassign(
    connection: Connection, *, job_ids: Sequence[JobId], out_of: PersonId, into: PersonId
) -> None:
    """Reassign jobs and their deferred messages from one person to another."""
    for job_id in job_ids:
        connection.execute(
            "UPDATE jobs SET person_id = :into WHERE id = :job_id AND person_id = :out_of",
            {"into": into, "out_of": out_of, "job_id": job_id},
        )
        connection.execute(
            "UPDATE deferred_messages SET person_id = :into WHERE person_id = :out_of AND run_id IN"
            " (SELECT id FROM job_runs WHERE job_id = :job_id)",
            {"into": into, "out_of": out_of, "job_id": job_id},
        )
