"""Changes to the jobs of a person: create, edit, run, pause, resume and delete."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from agent_core.ids import JobId
from gateway.app.lifecycle import Gateway
from gateway.interfaces.api.clients import Manager
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.changes import Key, hash_key, open_own, perform
from gateway.interfaces.api.resources.jobs import find_job, show_detail
from gateway.interfaces.api.resources.replies import Id, find_person
from gateway.operations import jobs as operations
from gateway.turns.client_calls import Client

_LONGEST = 20_000
_USED = "This Idempotency-Key belongs to another job."
_Text = Annotated[str, Field(min_length=1, max_length=_LONGEST)]
_Short = Annotated[str, Field(min_length=1, max_length=200)]
_Verb = Literal["run", "pause", "resume", "restore", "undo"]


_ACTS = {
    "run": operations.run_now,
    "pause": operations.pause,
    "resume": operations.resume,
    "restore": operations.restore,
    "undo": operations.undo,
}


class JobChange(BaseModel):
    """A change to a job. Give at most one of `cron`, `every_minutes` and `at`."""

    model_config = ConfigDict(extra="forbid")

    text: _Text | None = None
    title: _Short | None = None
    cron: _Short | None = None
    every_minutes: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    at: _Short | None = None
    zone: _Short | None = None
    late: Literal["catch_up", "skip", "all"] | None = None
    urgent: bool | None = None


class NewJob(JobChange):
    """A new job: a prompt for the assistant, or a message as it is."""

    kind: Literal["prompt", "message"]
    text: _Text


def add_job_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that change jobs."""
    database = gateway.database

    async def read(client: Client, number: int) -> models.JobDetail:
        return await database.read(lambda c: show_detail(find_job(c, number, client.person_id)))

    @router.post("/jobs", summary="Create a job", status_code=201)
    async def create(asked: NewJob, client: Manager, key: Key = "") -> models.JobDetail:
        person = await database.read(find_person, client.person_id)
        wish = asked.model_dump(exclude_none=True) | {
            "person": person.slug,
            "key": hash_key(client, key),
        }
        made = await perform(operations.add(open_own(gateway), wish))
        stored = await database.read(find_job, made["id"], client.person_id)
        if (stored.kind, stored.body) != (asked.kind, asked.text.strip()):
            raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, _USED, code="idempotency_key_reused")
        return show_detail(stored)

    @router.patch("/jobs/{job}", summary="Change a job")
    async def change(job: Id, asked: JobChange, client: Manager) -> models.JobDetail:
        found = await database.read(find_job, job, client.person_id)
        wish = asked.model_dump(exclude_none=True) | {"id": found.id}
        if asked.text is not None:
            wish["kind"] = found.kind
        await perform(operations.change(open_own(gateway), wish))
        return await read(client, job)

    @router.post(
        "/jobs/{job}/{verb}", summary="Run, pause, resume or restore a job, or undo its last change"
    )
    async def act(job: Id, verb: _Verb, client: Manager, key: Key = "") -> models.JobDetail:
        await database.read(find_job, job, client.person_id)
        await perform(_ACTS[verb](open_own(gateway), {"id": job, "key": hash_key(client, key)}))
        return await read(client, job)

    @router.delete("/jobs/{job}", summary="Delete a job", status_code=204)
    async def delete(job: Id, client: Manager) -> None:
        await database.read(find_job, job, client.person_id)
        await perform(operations.drop(open_own(gateway), {"id": JobId(job)}))
