"""Queries that give jobs to somebody else: when two people turn out to be one, or one two."""

from collections.abc import Sequence

from agent_core.ids import AccountId, JobId, PersonId
from agent_core.state.engine.database import Connection


def move_all(connection: Connection, *, keeper: PersonId, gone: PersonId) -> None:
    """All jobs of `gone` become the keeper's, and what is held for them; a home that only
    `gone` has chosen, too.
    """
    for table in ("jobs", "deferred_messages"):
        connection.execute(
            f"UPDATE {table} SET person_id = :keeper WHERE person_id = :gone",
            {"keeper": keeper, "gone": gone},
        )
    connection.execute(
        "UPDATE people SET (home_platform, home_chat) = (SELECT home_platform, home_chat"
        " FROM people WHERE id = :gone) WHERE id = :keeper AND home_platform IS NULL",
        {"keeper": keeper, "gone": gone},
    )


def list_begun(
    connection: Connection, *, person_id: PersonId, account_id: AccountId
) -> list[JobId]:
    """The jobs of a person that were made in turns which one of their accounts asked for."""
    rows = connection.execute(
        "SELECT jobs.id FROM jobs JOIN turns ON jobs.actor = 'turn:' || turns.id"
        " WHERE jobs.person_id = :person_id AND turns.person_id = :person_id"
        " AND turns.account_id = :account_id",
        {"person_id": person_id, "account_id": account_id},
    ).fetchall()
    return [JobId(row[0]) for row in rows]


def give(
    connection: Connection, *, job_ids: Sequence[JobId], out_of: PersonId, into: PersonId
) -> None:
    """These jobs of a person are somebody else's from now on, and so is what is held of them."""
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
