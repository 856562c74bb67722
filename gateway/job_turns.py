"""Finds the permissions and the budget of the turn of a job's run."""

from agent_core.agent.quotas.balance import day_of
from agent_core.ids import TurnId
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job


def find_left(connection: Connection, job: Job, now: int) -> int | None:
    """Return the micro-dollars that a job may still spend today; None without a limit."""
    limit = job.options.day_micro_dollars
    if not limit or job.person_id is None:
        return None
    day = day_of(now, job.zone)
    return limit - usage.sum_of_job(
        connection, job_id=job.id, person_id=job.person_id, since=day.start, until=day.end
    )


def make_job_turn(job: Job, run: Run, left: int | None) -> JobTurn:
    """Return the permissions of a run's turn; `left` are the micro-dollars that it may cost."""
    options = job.options
    return JobTurn(
        run_id=run.id,
        title=job.title,
        model=options.model,
        tools=options.tools,
        skills=options.skills,
        micro_dollars=left,
        agent=options.agent,
    )


def find_job_turn(connection: Connection, turn_id: TurnId, now: int) -> JobTurn | None:
    """Return the job turn of a turn that is resumed; None if no job started it.

    A turn at its limit is allowed to end with a summary.
    """
    run_id = job_runs.find_of_turn(connection, turn_id=turn_id)
    run = job_runs.find(connection, run_id=run_id) if run_id else None
    job = jobs.find(connection, job_id=run.job_id) if run else None
    if run is None or job is None:
        return None
    left = find_left(connection, job, now)
    return make_job_turn(job, run, None if left is None else max(left, 1))
