"""The jobs of a person, and their runs."""

from dataclasses import asdict

from fastapi import APIRouter

from agent_core.ids import JobId, PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import ReaderClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import Id, Limit, make_missing, show


def add_jobs(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of jobs."""
    database = gateway.database

    @router.get("/jobs", summary="List your jobs")
    async def list_jobs(client: ReaderClient) -> models.JobList:
        found = await database.read(jobs.list_of_person, person_id=client.person_id)
        return models.JobList(
            jobs=[show(models.JobModel, job, next_at=_find_next(job)) for job in found]
        )

    @router.get("/jobs/{job}", summary="Show a job")
    async def show_job(job: Id, client: ReaderClient) -> models.JobDetail:
        return show_detail(await database.read(find_job, job, client.person_id))

    @router.get("/jobs/{job}/runs", summary="List runs")
    async def list_runs(job: Id, client: ReaderClient, limit: Limit = 20) -> models.RunList:
        def work(connection: Connection) -> models.RunList:
            own = find_job(connection, job, client.person_id)
            found = job_runs.list_of_job(connection, job_id=own.id, limit=limit)
            return models.RunList(runs=[show(models.RunModel, run) for run in found])

        return await database.read(work)


def find_job(connection: Connection, job: int, person_id: PersonId) -> Job:
    """Return a job of a person, even if the job is over. Raises `ApiError`."""
    found = jobs.find(connection, job_id=JobId(job))
    if found is None or found.person_id != person_id:
        raise make_missing()
    return found


def show_detail(job: Job) -> models.JobDetail:
    """Describe a job with its text or its command, and the options that the API sets."""
    return show(models.JobDetail, job, next_at=_find_next(job), **asdict(job.options))


def _find_next(job: Job) -> int | None:
    return job.next_slot[1] if job.next_slot else None
