"""Changes to the jobs of a person: create, edit, run, pause, resume and delete."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, create_model

from agent_core.ids import JobId
from agent_core.schedule.job_fields import DECLARATIONS, LONGEST_TEXT
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.changes import ChangeKey, hash_key, open_own, perform
from gateway.interfaces.api.resources.jobs import find_job, show_detail
from gateway.interfaces.api.resources.replies import Id, find_person
from gateway.operations import jobs as operations
from gateway.operations.job_types import ActOnJob, AddJob, ChangeJob
from gateway.turns.client_calls import Client

_USED = "This Idempotency-Key belongs to another job."
_Verb = Literal["run", "pause", "resume", "restore", "undo"]

if TYPE_CHECKING:
    _Fields = BaseModel
else:
    _Fields = create_model(
        "_Fields",
        **{
            one.name: (Annotated[one.type, Field(**one.api)] | None, None)
            for one in DECLARATIONS
            if one.api is not None
        },
    )


class JobChange(_Fields):
    """A change to a job. Give at most one of `cron`, `every_minutes` and `at`."""

    model_config = ConfigDict(extra="forbid")


class NewJob(JobChange):
    """A new job: a prompt for the assistant, or a message as it is.

    `when` is its time in words, such as "every monday at 19:00".
    """

    when: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    kind: Literal["prompt", "message"]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]


def add_job_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that change jobs."""
    database = gateway.database

    async def read(client: Client, number: int) -> models.JobDetail:
        return await database.read(lambda c: show_detail(find_job(c, number, client.person_id)))

    @router.post("/jobs", summary="Create a job", status_code=201)
    async def create(asked: NewJob, client: Manager, key: ChangeKey = "") -> models.JobDetail:
        person = await database.read(find_person, client.person_id)
        given = asked.model_dump()
        wish = AddJob(person=person.slug, key=hash_key(client, key), **given)
        made = await perform(operations.add(open_own(gateway, client), wish))
        stored = await database.read(find_job, made.id, client.person_id)
        if (stored.kind, stored.body) != (asked.kind, asked.text.strip()):
            raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, _USED, code="idempotency_key_reused")
        return show_detail(stored)

    @router.patch("/jobs/{job}", summary="Change a job")
    async def change(job: Id, asked: JobChange, client: Manager) -> models.JobDetail:
        found = await database.read(find_job, job, client.person_id)
        wish = ChangeJob(id=found.id, **asked.model_dump())
        await perform(operations.change(open_own(gateway, client), wish))
        return await read(client, job)

    @router.post(
        "/jobs/{job}/{verb}", summary="Run, pause, resume or restore a job, or undo its last change"
    )
    async def act(job: Id, verb: _Verb, client: Manager, key: ChangeKey = "") -> models.JobDetail:
        await database.read(find_job, job, client.person_id)
        asked = ActOnJob(id=JobId(job), key=hash_key(client, key))
        await perform(operations.do_verb(open_own(gateway, client), asked, verb=verb))
        return await read(client, job)

    @router.delete("/jobs/{job}", summary="Delete a job", status_code=204)
    async def delete(job: Id, client: Manager) -> None:
        await database.read(find_job, job, client.person_id)
        asked = ActOnJob(id=JobId(job))
        await perform(operations.do_verb(open_own(gateway, client), asked, verb="delete"))
