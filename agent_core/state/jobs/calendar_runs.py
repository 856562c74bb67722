"""Queries over the runs of a person's jobs on given days."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import JobId, PersonId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.job_runs import RUN_STATES, RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRun:
    """A run of a job: its slot in milliseconds UTC, its state, and its newest turn.

    `held_until` is when its message comes that waits for quiet hours to end; None without one.
    """

    job_id: JobId
    slot_at: int
    state: RunState
    turn_id: TurnId | None
    held_until: int | None


def list_of_days(
    connection: Connection,
    *,
    person_id: PersonId,
    spans: Sequence[tuple[int, int]],
    most: int,
) -> list[DayRun]:
    """List the first `most` runs of each job of a person on each day, including deleted jobs.

    A span holds the start of a day and that of the next day. Runs are sorted oldest first; damaged
    rows are left out.
    """
    rows = connection.execute(
        "SELECT job_id, slot_at, state,"
        " (SELECT MAX(turns.id) FROM turns WHERE turns.run_id = job_runs.id),"
        " (SELECT MIN(release_at) FROM deferred_messages"
        " WHERE deferred_messages.person_id = :person_id AND run_id = job_runs.id) FROM job_runs"
        " WHERE id IN (SELECT run.id FROM json_each(:spans) AS day CROSS JOIN jobs"
        " CROSS JOIN job_runs AS run WHERE jobs.person_id = :person_id AND run.id IN"
        " (SELECT few.id FROM job_runs AS few WHERE few.job_id = jobs.id"
        " AND few.slot_at >= json_extract(day.value, '$[0]')"
        " AND few.slot_at < json_extract(day.value, '$[1]')"
        " ORDER BY few.slot_at, few.id LIMIT :most)) ORDER BY slot_at, id",
        {"person_id": person_id, "spans": json.dumps(spans), "most": most},
    ).fetchall()
    return [
        DayRun(
            job_id=JobId(job_id),
            slot_at=slot_at,
            state=state,
            turn_id=turn_id,
            held_until=held_until,
        )
        for job_id, slot_at, state, turn_id, held_until in rows
        if state in RUN_STATES
    ]


def count_of_jobs(
    connection: Connection, *, job_spans: Sequence[tuple[JobId, int, int]]
) -> list[tuple[int, int]]:
    """Count the runs of jobs in a time span for each: all runs, and the failed ones."""
    rows = connection.execute(
        "SELECT"
        " (SELECT COUNT(*) FROM job_runs WHERE job_id = json_extract(span.value, '$[0]')"
        " AND slot_at >= json_extract(span.value, '$[1]')"
        " AND slot_at < json_extract(span.value, '$[2]')),"
        " (SELECT COUNT(*) FROM job_runs WHERE job_id = json_extract(span.value, '$[0]')"
        " AND slot_at >= json_extract(span.value, '$[1]')"
        " AND slot_at < json_extract(span.value, '$[2]') AND state = 'failed')"
        " FROM json_each(:job_spans) AS span ORDER BY span.key",
        {"job_spans": json.dumps(job_spans)},
    ).fetchall()
    return [(int(every), int(failed)) for every, failed in rows]
