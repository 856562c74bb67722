"""The jobs of a person, and their runs."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from agent_core.ids import JobId, PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.clients import FindClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import Id, Limit, make_missing, pick, reply
from gateway.turns import Client


def add_jobs(router: APIRouter, gateway: Gateway, find_client: FindClient) -> None:
    """Add the routes of jobs."""
    database = gateway.database
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.get("/jobs", summary="List your jobs", response_model=models.JobList)
    async def list_jobs(request: Request, client: Asker) -> Response:
        found = await database.read(lambda c: jobs.list_of_person(c, person_id=client.person_id))
        return reply(request, models.JobList(jobs=[_describe(job) for job in found]))

    @router.get("/jobs/{job}", summary="Show a job", response_model=models.JobDetail)
    async def show_job(request: Request, job: Id, client: Asker) -> Response:
        found = await database.read(lambda c: find_job(c, job, client.person_id))
        return reply(request, show_detail(found))

    @router.get("/jobs/{job}/runs", summary="List runs", response_model=models.RunList)
    async def list_runs(request: Request, job: Id, client: Asker, limit: Limit = 20) -> Response:
        def work(connection: Connection) -> models.RunList:
            own = find_job(connection, job, client.person_id)
            found = job_runs.list_of_job(connection, job_id=own.id, limit=limit)
            names = ("id", "slot", "state", "reason", "due_at", "started_at", "ended_at")
            return models.RunList(runs=[models.RunModel(**pick(run, *names)) for run in found])

        return reply(request, await database.read(work))


def find_job(connection: Connection, job: int, person_id: PersonId) -> Job:
    """Return a job of a person, also one that is over. Raises `ApiError`."""
    found = jobs.find(connection, job_id=JobId(job))
    if found is None or found.person_id != person_id:
        raise make_missing()
    return found


def show_detail(job: Job) -> models.JobDetail:
    """Show a job with its words or its command."""
    return models.JobDetail(**_describe(job).model_dump(), **pick(job, "body", "reason"))


def _describe(job: Job) -> models.JobModel:
    return models.JobModel(
        **pick(job, "id", "kind", "title", "timing", "zone", "state"),
        next_at=job.next_slot[1] if job.next_slot else None,
    )
