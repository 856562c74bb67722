"""Webhooks: where the person's events go, the results of deliveries, and forms for changes."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from starlette.responses import Response

from agent_core.state.engine.database import Connection
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.webhooks import EVENT_KINDS
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import LARGEST, Fields, Look, Missing
from gateway.operations import webhooks as operations
from gateway.operations.contract import OperationContext
from gateway.operations.webhook_types import (
    AddWebhook,
    ChangeWebhook,
    PickWebhook,
    ResumeWebhook,
    SendAgain,
    SendTest,
)
from gateway.texts import webhooks as texts

_DELIVERIES = 5
_MOST_BYTES = 32_000
"""Most bytes of a form: an address of 2,000 characters of up to 12 bytes each, and the rest."""
_ACTS: Mapping[str, tuple[Callable[[OperationContext, Any], Awaitable[object]], Any]] = {
    "test": (operations.test, SendTest),
    "pause": (operations.pause, PickWebhook),
    "resume": (operations.resume, ResumeWebhook),
    "remove": (operations.remove, PickWebhook),
    "restore": (operations.restore, PickWebhook),
}
"""The operation and its request, by verb."""


async def show(look: Look) -> Fields:
    """Read the person's webhooks with their last deliveries, and the webhooks to restore."""
    return await look.gateway.database.read(partial(_describe, look=look, given=look.flash))


async def add(look: Look) -> Response:
    """Add a webhook, and show its secret once. If it is refused, its values stay in the form."""
    form = await read_form(look.request, _MOST_BYTES)
    try:
        made = await operations.add(
            look.context, AddWebhook(person=look.person.slug, **_read_fields(form))
        )
    except (Declined, Mistaken) as error:
        return await _refuse(look, error, {"new": form})
    return look.redirect("/webhooks", secret=made.secret, name=made.name)


async def change(look: Look) -> Response:
    """Change a webhook, and offer to undo the change. Raises `Missing`."""
    form = await read_form(look.request, _MOST_BYTES)
    former = await look.gateway.database.read(partial(_find, look=look))
    try:
        await operations.change(look.context, ChangeWebhook(**_name(look), **_read_fields(form)))
    except (Declined, Mistaken) as error:
        return await _refuse(look, error, {"bad": former.id})
    return look.redirect("/webhooks", former=former)


async def rotate(look: Look) -> Response:
    """Replace the secret of a webhook, and show the new one once. Raises `Missing`."""
    await look.gateway.database.read(partial(_find, look=look))
    made = await operations.rotate(look.context, PickWebhook(**_name(look)))
    return look.redirect("/webhooks", secret=made.secret, name=made.name, old_until=made.old_until)


async def act(look: Look) -> Fields:
    """Test, pause, resume, remove or restore a webhook. Raises `Missing` and `Declined`."""
    verb = look.request.path_params["verb"]
    if verb not in _ACTS:
        raise Missing
    await look.gateway.database.read(partial(_find, look=look, is_removed=verb == "restore"))
    operation, kind = _ACTS[verb]
    await operation(look.context, kind(**_name(look)))
    return {}


async def redeliver(look: Look) -> Fields:
    """Send an event again. Raises `Missing` and `Declined`."""
    await look.gateway.database.read(partial(_find, look=look))
    asked = SendAgain(**_name(look), delivery=look.find_id("delivery"))
    await operations.redeliver(look.context, asked)
    return {}


def _name(look: Look) -> dict[str, Any]:
    """Return the arguments that name the webhook in the address, and its person."""
    return {"person": look.person.slug, "number": look.find_id("webhook")}


def _find(connection: Connection, look: Look, *, is_removed: bool = False) -> webhooks.Webhook:
    """Return the webhook in the address, if it belongs to the person. Raises `Missing`."""
    listed = webhooks.list_removed if is_removed else webhooks.list_of
    number = look.request.path_params["webhook"]
    for one in listed(connection, person_id=look.person.id):
        if one.id == number:
            return one
    raise Missing


def _read_fields(form: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the name, address and events in a form. Raises `Mistaken` without events."""
    fields: dict[str, Any] = {name: form.get(name, [""])[0].strip() for name in ("name", "url")}
    if not form.get("kinds"):
        raise Mistaken(texts.NO_KINDS())
    return fields | {"kinds": tuple(form["kinds"])}


async def _refuse(look: Look, error: Declined | Mistaken, given: Mapping[str, Any]) -> Response:
    given = {**given, "refused": str(error)}
    fields = await look.gateway.database.read(partial(_describe, look=look, given=given))
    return look.reject("webhooks.html", **fields)


def _describe(
    connection: Connection, look: Look, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields of the page; `given` has the values of a form, and their result."""
    person_id = look.person.id
    found = webhooks.list_of(connection, person_id=person_id)
    return {
        "w": texts,
        "webhooks": [
            (
                one,
                deliveries.count_waiting(connection, webhook=one),
                deliveries.list_of(connection, webhook=one, before=LARGEST, limit=_DELIVERIES),
            )
            for one in found
        ],
        "removed": webhooks.list_removed(connection, person_id=person_id),
        "kinds": {kind: texts.KINDS[kind] for kind in EVENT_KINDS},
        "tried": texts.TEST_EVENT,
        "secret": "",
        "name": "",
        "old_until": 0,
        "former": None,
        "refused": "",
        "bad": 0,
        "new": {},
        **(given or {}),
    }
