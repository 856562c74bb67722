"""The data that a person can read over the API: only their own."""

import hashlib
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from agent_core.ids import JobId, PersonId, TurnId
from agent_core.state.conversations import messages, turns, usage
from agent_core.state.conversations.turns import Turn
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.memory import ledger
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api import resource_models as models
from gateway.interfaces.api.clients import ERRORS, FindClient
from gateway.interfaces.api.errors import ApiError
from gateway.turns import Client

_LARGEST = 2**62
_DAY = 86_400_000
_MOST = 100
_MISSING = "There is nothing with this id."
Limit = Annotated[int, Query(ge=1, le=_MOST)]
Id = Annotated[int, Path(ge=1, le=_LARGEST)]


def make_resources(gateway: Gateway, find_client: FindClient) -> APIRouter:
    """Make the routes below `/api/`."""
    reader = _Reader(gateway)
    router = APIRouter(prefix="/api", responses=ERRORS)
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.get("/me", summary="Show your person", response_model=models.PersonModel)
    async def show_me(request: Request, client: Asker) -> Response:
        return _answer(request, await reader.read_person(client.person_id))

    @router.get("/turns", summary="List your turns", response_model=models.TurnPage)
    async def list_turns(
        request: Request,
        client: Asker,
        limit: Limit = 20,
        before: Annotated[int, Query(ge=1, le=_LARGEST)] = _LARGEST,
    ) -> Response:
        return _answer(request, await reader.list_turns(client.person_id, before, limit))

    @router.get("/turns/{turn}", summary="Show a turn", response_model=models.TurnDetail)
    async def show_turn(request: Request, turn: Id, client: Asker) -> Response:
        return _answer(request, await reader.read_turn(client.person_id, TurnId(turn)))

    @router.get("/memory", summary="Show your memory", response_model=models.MemoryModel)
    async def show_memory(request: Request, client: Asker) -> Response:
        return _answer(request, await reader.read_memory(client.person_id))

    @router.get("/memory/ledger", summary="List changes", response_model=models.LedgerModel)
    async def list_changes(request: Request, client: Asker, limit: Limit = 20) -> Response:
        return _answer(request, await reader.list_changes(client.person_id, limit))

    @router.get("/jobs", summary="List your jobs", response_model=models.JobList)
    async def list_jobs(request: Request, client: Asker) -> Response:
        return _answer(request, await reader.list_jobs(client.person_id))

    @router.get("/jobs/{job}/runs", summary="List runs", response_model=models.RunList)
    async def list_runs(request: Request, job: Id, client: Asker, limit: Limit = 20) -> Response:
        return _answer(request, await reader.list_runs(client.person_id, JobId(job), limit))

    @router.get("/usage", summary="Show your usage", response_model=models.UsageModel)
    async def show_usage(
        request: Request, client: Asker, days: Annotated[int, Query(ge=1, le=366)] = 30
    ) -> Response:
        return _answer(request, await reader.read_usage(client.person_id, days))

    return router


class _Reader:
    """Reads for one person at a time. Each method raises `StoreError`, and `ApiError` for 404."""

    def __init__(self, gateway: Gateway) -> None:
        self._database = gateway.database
        self._memory = gateway.memory.store
        self._now = gateway.now

    async def read_person(self, person_id: PersonId) -> BaseModel:
        def work(connection: Connection) -> BaseModel:
            person = _find(connection, person_id)
            accounts = people.list_accounts(connection, person_id=person_id)
            return models.PersonModel(
                **_pick(person, "name", "role", "time_zone", "language"),
                accounts=[
                    models.AccountModel(**_pick(one, "platform", "display_name"))
                    for one in accounts
                ],
            )

        return await self._database.read(work)

    async def list_turns(self, person_id: PersonId, before: int, limit: int) -> BaseModel:
        found = await self._database.read(
            lambda c: turns.list_of_person(c, person_id=person_id, before=before, limit=limit)
        )
        return models.TurnPage(
            turns=[models.TurnModel(**_outline(turn)) for turn in found],
            next=found[-1].id if len(found) == limit else None,
        )

    async def read_turn(self, person_id: PersonId, turn_id: TurnId) -> BaseModel:
        def work(connection: Connection) -> BaseModel:
            turn = turns.find_of_person(connection, turn_id=turn_id, person_id=person_id)
            if turn is None:
                raise ApiError(HTTPStatus.NOT_FOUND, _MISSING, code="not_found")
            total = usage.total_of_turn(connection, turn_id=turn_id)
            steps = turns.list_steps(connection, turn_id=turn_id)
            return models.TurnDetail(
                **_outline(turn),
                request=messages.request_of_turn(connection, turn_id=turn_id, person_id=person_id),
                answer=messages.answer_of_turn(connection, turn_id=turn_id, person_id=person_id),
                steps=[
                    models.StepModel(tool=one.name, **_pick(one, "outcome", "is_error"))
                    for one in steps
                ],
                **_pick(total, "calls", "input_tokens", "output_tokens", "micro_dollars"),
            )

        return await self._database.read(work)

    async def read_memory(self, person_id: PersonId) -> BaseModel:
        person = await self._database.read(lambda c: _find(c, person_id))
        own = await self._memory.snapshot(person.id, person.slug, self._now())
        return models.MemoryModel(user=list(own.user), memory=list(own.memory))

    async def list_changes(self, person_id: PersonId, limit: int) -> BaseModel:
        found = await self._database.read(
            lambda c: ledger.list_recent_of(c, person_id=person_id, limit=limit)
        )
        return models.LedgerModel(
            changes=[
                models.ChangeModel(
                    **_pick(one, "id", "target"),
                    **_pick(one.change, "operation", "before", "after"),
                    actor=one.origin.shown_actor,
                    evidence=one.origin.evidence,
                    at=one.origin.now,
                )
                for one in found
            ]
        )

    async def list_jobs(self, person_id: PersonId) -> BaseModel:
        found = await self._database.read(lambda c: jobs.list_of_person(c, person_id=person_id))
        return models.JobList(
            jobs=[
                models.JobModel(
                    **_pick(job, "id", "kind", "title", "timing", "zone", "state"),
                    next_at=job.next_slot[1] if job.next_slot else None,
                )
                for job in found
            ]
        )

    async def list_runs(self, person_id: PersonId, job_id: JobId, limit: int) -> BaseModel:
        def work(connection: Connection) -> BaseModel:
            mine = jobs.list_of_person(connection, person_id=person_id)
            if job_id not in {job.id for job in mine}:
                raise ApiError(HTTPStatus.NOT_FOUND, _MISSING, code="not_found")
            found = job_runs.list_of_job(connection, job_id=job_id, limit=limit)
            names = ("id", "slot", "state", "reason", "due_at", "started_at", "ended_at")
            return models.RunList(runs=[models.RunModel(**_pick(run, *names)) for run in found])

        return await self._database.read(work)

    async def read_usage(self, person_id: PersonId, days: int) -> BaseModel:
        since = self._now() - days * _DAY
        found = await self._database.read(
            lambda c: usage.list_lines(c, person_id=person_id, since=since)
        )
        names = ("purpose", "model", "calls", "input_tokens", "output_tokens")
        return models.UsageModel(
            since=since,
            lines=[
                models.UsageLineModel(**_pick(one, *names), micro_dollars=one.charged.micro_dollars)
                for one in found
            ],
        )


def _find(connection: Connection, person_id: PersonId) -> Person:
    person = people.find(connection, person_id=person_id)
    if person is None:  # erased since the token was checked
        raise ApiError(HTTPStatus.NOT_FOUND, _MISSING, code="not_found")
    return person


def _outline(turn: Turn) -> dict[str, Any]:
    return _pick(turn, "id", "platform", "state", "reason", "started_at", "ended_at")


def _pick(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _answer(request: Request, found: BaseModel) -> Response:
    """Answer with an ETag, or with 304 if the client has this content already."""
    body = found.model_dump_json().encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    given = request.headers.get("if-none-match", "").split(",")
    known = [one.strip().removeprefix("W/") for one in given]
    if tag in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    return Response(body, media_type="application/json", headers={"ETag": tag})
