"""The person of a token with their usage, and for an owner the list of people."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from agent_core.ids import PersonId
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.changes import open_own, perform
from gateway.interfaces.api.resources.replies import (
    LARGEST,
    Before,
    Limit,
    find_next,
    find_person,
    show,
)
from gateway.operations import settings
from gateway.operations.settings_types import SetSettings, Setting, ShowSettings

_DAY = 86_400_000
_ONLY_OWNER = "Only an owner of this Talaria can see this."


def add_people(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of people and of usage."""
    database = gateway.database

    @router.get("/me", summary="Show your person")
    async def show_me(client: ReaderClient) -> models.PersonModel:
        return await database.read(lambda c: _describe(c, find_person(c, client.person_id)))

    @router.get("/settings", summary="Show your settings")
    async def show_settings(client: ReaderClient) -> dict[str, str]:
        person = await database.read(find_person, client.person_id)
        shown = await settings.show(open_own(gateway, client), ShowSettings(person=person.slug))
        return {one.name: one.value for one in shown.settings}

    @router.get("/people", summary="List all people (owners)")
    async def list_people(
        client: ReaderClient, limit: Limit = 20, before: Before = LARGEST
    ) -> models.PersonList:
        def work(connection: Connection) -> models.PersonList:
            if not find_person(connection, client.person_id).is_owner:
                raise ApiError(HTTPStatus.FORBIDDEN, _ONLY_OWNER, code="owner_only")
            found = people.list_page(connection, before=PersonId(before), limit=limit)
            return models.PersonList(
                people=[_describe(connection, one) for one in found],
                next=find_next([one.id for one in found], limit),
            )

        return await database.read(work)

    @router.get("/usage", summary="Show your usage")
    async def show_usage(
        client: ReaderClient, days: Annotated[int, Query(ge=1, le=366)] = 30
    ) -> models.UsageModel:
        # Whole days, so that the ETag stays the same for a day while the usage does.
        since = (gateway.now() // _DAY - days + 1) * _DAY
        found = await database.read(usage.list_lines, person_id=client.person_id, since=since)
        lines = [
            show(models.UsageLineModel, one, micro_dollars=one.charged.known_micro_dollars)
            for one in found
        ]
        return models.UsageModel(since=since, lines=lines)


def add_setting_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the route that changes settings."""

    @router.patch("/settings", summary="Change your settings")
    async def change_settings(asked: dict[str, str], client: Manager) -> dict[str, str]:
        person = await gateway.database.read(find_person, client.person_id)
        wanted = tuple(Setting(name=name, value=value) for name, value in asked.items())
        change = SetSettings(person=person.slug, settings=wanted)
        done = await perform(settings.change(open_own(gateway, client), change))
        return {one.name: one.value for one in done.settings}


def _describe(connection: Connection, person: Person) -> models.PersonModel:
    accounts = people.list_accounts(connection, person_id=person.id)
    return show(models.PersonModel, person, accounts=accounts)
