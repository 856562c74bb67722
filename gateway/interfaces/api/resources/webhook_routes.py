"""The outgoing webhooks of a person, and their deliveries."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from agent_core.state.engine.database import Connection, Database
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import Delivery
from agent_core.state.webhooks.webhooks import EVENT_KINDS, Webhook
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources.changes import ChangeKey, hash_key, open_own, perform
from gateway.interfaces.api.resources.replies import (
    LARGEST,
    Before,
    Id,
    Limit,
    find_next,
    find_person,
    make_missing,
    show,
)
from gateway.operations import webhooks as operations
from gateway.operations.contract import OperationContext
from gateway.operations.webhook_types import (
    AddWebhook,
    ChangedWebhook,
    ChangeWebhook,
    PickWebhook,
    ResumeWebhook,
    SendAgain,
    SendTest,
)
from gateway.turns.client_calls import Client

_Kind = Annotated[str, Field(max_length=100)]
_KINDS = f"Some of {', '.join(EVENT_KINDS)}; none for all."

_USED = "This Idempotency-Key belongs to another webhook."
_ACTS: Mapping[str, tuple[Callable[[OperationContext, Any], Awaitable[ChangedWebhook]], Any]] = {
    "pause": (operations.pause, PickWebhook),
    "resume": (operations.resume, ResumeWebhook),
    "restore": (operations.restore, PickWebhook),
}
"""The operation and its request, by verb."""


class NewWebhook(BaseModel):
    """A webhook to add. Without `kinds`, it gets every kind of event."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=32)]
    url: Annotated[str, Field(min_length=1, max_length=2000)]
    kinds: Annotated[list[_Kind], Field(max_length=10, description=_KINDS)] = []


class WebhookChange(BaseModel):
    """A change to a webhook; omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=32)] | None = None
    url: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    kinds: Annotated[list[_Kind], Field(min_length=1, max_length=10, description=_KINDS)] | None = (
        None
    )


class WebhookModel(BaseModel):
    """A webhook; `reason` says why it is paused or dead. `failures` counts failures in a row."""

    id: int
    name: str
    url: str
    kinds: list[str]
    state: str
    reason: str
    failures: int
    created_at: int


class WebhookList(BaseModel):
    """The webhooks of the person."""

    webhooks: list[WebhookModel]


class AddedWebhook(WebhookModel):
    """A new webhook with its secret, which only this answer contains."""

    secret: str


class RotatedWebhook(AddedWebhook):
    """A webhook with its new secret. Until `old_until`, the old secret signs, too."""

    old_until: int


class DeliveryModel(BaseModel):
    """An event for a webhook; `event_id` is the `webhook-id` of each attempt."""

    id: int
    event_id: str
    kind: str
    payload: str
    state: str
    attempts: int
    due_at: int
    status: int | None
    reason: str
    created_at: int
    ended_at: int | None


class DeliveryList(BaseModel):
    """The newest deliveries of a webhook. `next` is the `before` of the next page."""

    deliveries: list[DeliveryModel]
    next: int | None


def add_webhooks(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that read webhooks."""
    database = gateway.database

    @router.get("/webhooks", summary="List your webhooks")
    async def list_webhooks(client: ReaderClient) -> WebhookList:
        found = await database.read(webhooks.list_of, person_id=client.person_id)
        return WebhookList(webhooks=[show(WebhookModel, one) for one in found])

    @router.get("/webhooks/{webhook}", summary="Show a webhook")
    async def show_webhook(webhook: Id, client: ReaderClient) -> WebhookModel:
        return await _show(database, webhook, client)

    @router.get("/webhooks/{webhook}/deliveries", summary="List deliveries")
    async def list_deliveries(
        webhook: Id, client: ReaderClient, limit: Limit = 20, before: Before = LARGEST
    ) -> DeliveryList:
        def work(connection: Connection) -> list[Delivery]:
            own = _find(connection, webhook, client)
            return deliveries.list_of(connection, webhook=own, before=before, limit=limit)

        found = await database.read(work)
        return DeliveryList(
            deliveries=[show(DeliveryModel, one) for one in found],
            next=find_next([one.id for one in found], limit),
        )


def add_webhook_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that change webhooks."""
    database = gateway.database

    name = partial(_name, database)

    @router.post("/webhooks", summary="Add a webhook", status_code=201)
    async def add(asked: NewWebhook, client: Manager, key: ChangeKey = "") -> AddedWebhook:
        slug = (await name(client))["person"]
        wish = AddWebhook(
            person=slug,
            name=asked.name,
            url=asked.url,
            kinds=tuple(asked.kinds or ()),
            key=hash_key(client, key),
        )
        made = await perform(operations.add(open_own(gateway, client), wish))
        stored = await database.read(_find, made.number, client)
        wanted = set(asked.kinds or webhooks.EVENT_KINDS)
        if (stored.name, stored.url, {*stored.kinds}) != (asked.name, asked.url.strip(), wanted):
            raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, _USED, code="idempotency_key_reused")
        return show(AddedWebhook, stored, secret=made.secret)

    @router.post("/webhooks/{webhook}/test", summary="Send a test event", status_code=202)
    async def test(webhook: Id, client: Manager, key: ChangeKey = "") -> WebhookModel:
        wish = SendTest(**await name(client, webhook), key=hash_key(client, key))
        await perform(operations.test(open_own(gateway, client), wish))
        return await _show(database, webhook, client)

    _add_edits(router, gateway)

    @router.post("/webhooks/{webhook}/{verb}", summary="Pause, resume or restore a webhook")
    async def act(
        webhook: Id, verb: Literal["pause", "resume", "restore"], client: Manager
    ) -> WebhookModel:
        if verb == "restore":
            wish = await name(client) | {"number": webhook}
            await database.read(_find_removed, webhook, client)
        else:
            wish = await name(client, webhook)
        operation, kind = _ACTS[verb]
        await perform(operation(open_own(gateway, client), kind(**wish)))
        return await _show(database, webhook, client)

    @router.post(
        "/webhooks/{webhook}/deliveries/{delivery}/redeliver",
        summary="Send an event again",
        status_code=202,
    )
    async def redeliver(webhook: Id, delivery: Id, client: Manager) -> DeliveryModel:
        wish = SendAgain(**await name(client, webhook), delivery=delivery)
        await database.read(_find_delivery, webhook, delivery, client)
        await perform(operations.redeliver(open_own(gateway, client), wish))
        return await database.read(_find_delivery, webhook, delivery, client)

    @router.delete("/webhooks/{webhook}", summary="Remove a webhook", status_code=204)
    async def remove(webhook: Id, client: Manager) -> None:
        wish = PickWebhook(**await name(client, webhook))
        await perform(operations.remove(open_own(gateway, client), wish))


def _add_edits(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that change a webhook, and replace its secret."""
    database = gateway.database
    name = partial(_name, database)

    @router.patch("/webhooks/{webhook}", summary="Change a webhook")
    async def change(webhook: Id, asked: WebhookChange, client: Manager) -> WebhookModel:
        wish = ChangeWebhook(
            **await name(client, webhook),
            name=asked.name,
            url=asked.url,
            kinds=tuple(asked.kinds or ()),
        )
        await perform(operations.change(open_own(gateway, client), wish))
        return await _show(database, webhook, client)

    @router.post("/webhooks/{webhook}/rotate", summary="Replace the secret of a webhook")
    async def rotate(webhook: Id, client: Manager) -> RotatedWebhook:
        wish = PickWebhook(**await name(client, webhook))
        made = await perform(operations.rotate(open_own(gateway, client), wish))
        stored = await database.read(_find, webhook, client)
        return show(RotatedWebhook, stored, secret=made.secret, old_until=made.old_until)


async def _name(database: Database, client: Client, webhook: int | None = None) -> dict[str, Any]:
    """Return a webhook of the person as operations name it. Raises `ApiError`."""

    def work(connection: Connection) -> dict[str, Any]:
        if webhook is not None:
            _find(connection, webhook, client)
        return {"person": find_person(connection, client.person_id).slug, "number": webhook}

    return await database.read(work)


def _find(connection: Connection, webhook: int, client: Client) -> Webhook:
    """Return a webhook of the person. Raises `ApiError`."""
    found = webhooks.find(connection, person_id=client.person_id, webhook_id=webhook)
    if found is None:
        raise make_missing()
    return found


def _find_removed(connection: Connection, webhook: int, client: Client) -> None:
    """Return a removed webhook of the person. Raises `ApiError`."""
    found = webhooks.list_removed(connection, person_id=client.person_id)
    if webhook not in [one.id for one in found]:
        raise make_missing()


def _find_delivery(
    connection: Connection, webhook: int, delivery: int, client: Client
) -> DeliveryModel:
    """Return a delivery of a person's webhook. Raises `ApiError`."""
    own = _find(connection, webhook, client)
    found = deliveries.find(connection, webhook=own, delivery_id=delivery)
    if found is None:
        raise make_missing()
    return show(DeliveryModel, found)


async def _show(database: Database, webhook: int, client: Client) -> WebhookModel:
    return show(WebhookModel, await database.read(_find, webhook, client))
