"""The person of a token with their usage, and for an owner the list of people."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.clients import FindClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import find_person, pick, reply
from gateway.turns import Client

_DAY = 86_400_000
_ONLY_OWNER = "Only an owner of this Talaria can see this."


def add_people(router: APIRouter, gateway: Gateway, find_client: FindClient) -> None:
    """Add the routes of people and of usage."""
    database = gateway.database
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.get("/me", summary="Show your person", response_model=models.PersonModel)
    async def show_me(request: Request, client: Asker) -> Response:
        found = await database.read(lambda c: _describe(c, find_person(c, client.person_id)))
        return reply(request, found)

    @router.get("/people", summary="List all people (owners)", response_model=models.PersonList)
    async def list_people(request: Request, client: Asker) -> Response:
        def work(connection: Connection) -> models.PersonList:
            if not find_person(connection, client.person_id).is_owner:
                raise ApiError(HTTPStatus.FORBIDDEN, _ONLY_OWNER, code="owner_only")
            return models.PersonList(
                people=[_describe(connection, one) for one in people.list_all(connection)]
            )

        return reply(request, await database.read(work))

    @router.get("/usage", summary="Show your usage", response_model=models.UsageModel)
    async def show_usage(
        request: Request, client: Asker, days: Annotated[int, Query(ge=1, le=366)] = 30
    ) -> Response:
        # Whole days, so that the same usage has the same tag for a day.
        since = (gateway.now() // _DAY - days + 1) * _DAY
        found = await database.read(
            lambda c: usage.list_lines(c, person_id=client.person_id, since=since)
        )
        names = ("purpose", "model", "calls", "input_tokens", "output_tokens")
        lines = [
            models.UsageLineModel(**pick(one, *names), micro_dollars=one.charged.micro_dollars)
            for one in found
        ]
        return reply(request, models.UsageModel(since=since, lines=lines))


def _describe(connection: Connection, person: Person) -> models.PersonModel:
    accounts = people.list_accounts(connection, person_id=person.id)
    return models.PersonModel(
        **pick(person, "slug", "name", "role", "time_zone", "language"),
        accounts=[models.AccountModel(**pick(one, "platform", "display_name")) for one in accounts],
    )
