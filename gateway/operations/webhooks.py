"""Operations on outgoing webhooks: add, list, test, change and remove them."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Person
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import Delivery
from agent_core.state.webhooks.webhooks import EVENT_KINDS, NewWebhook, Webhook, WebhookEventKind
from gateway.errors import Declined, Mistaken, suggest
from gateway.operations.contract import (
    Answer,
    Operation,
    OperationContext,
    find_person,
    read_limit,
    read_text,
)
from gateway.outbound.event_feed import find_now
from gateway.outbound.webhooks.events import make_test
from gateway.outbound.webhooks.signatures import make_secret

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
_NEWEST = 2**62
OLD_LASTS = 24 * 3_600_000
"""Milliseconds for which the old secret also signs, until the receiver has the new one."""


async def add(context: OperationContext, asked: Answer) -> Answer:
    """Add a webhook of a person; only this answer contains its secret.

    A repeat with the same `key` adds nothing. Raises `Declined` and `Mistaken`.
    """
    name, url, now = read_text(asked, "name"), read_text(asked, "url").strip(), context.now()
    kinds, key = _read_kinds(asked), asked.get("key")
    _check_name(name)
    context.webhooks.check(url)

    def work(connection: Connection) -> Webhook:
        person = find_person(connection, read_text(asked, "person"))
        if key and (repeated := webhooks.find_by_key(connection, person_id=person.id, key=key)):
            return repeated
        _check_count(connection, context, person)
        new = NewWebhook(
            person_id=person.id,
            name=name,
            url=url,
            kinds=kinds,
            secret=make_secret(),
            place=find_now(connection, person_id=person.id).write(),
            key=key,
        )
        _record(connection, context, person, "webhook.add", name)
        return webhooks.insert(connection, new, now=now)

    made = await context.database.write("webhooks.add", work)
    context.wake_webhooks()
    return {**_describe(made), "secret": made.secret}


async def list_webhooks(context: OperationContext, asked: Answer) -> Answer:
    """List webhooks of everybody, or of one `person`, without secrets. Raises `Declined`."""

    def look(connection: Connection) -> list[dict[str, Any]]:
        return [
            {
                **_describe(one),
                "folder": person.slug,
                "waiting": deliveries.count_waiting(connection, webhook=one),
            }
            for person in _list_people(connection, asked)
            for one in webhooks.list_of(connection, person_id=person.id)
        ]

    return {"webhooks": await context.database.read(look)}


async def test(context: OperationContext, asked: Answer) -> Answer:
    """Send a test event, even if the receiver has failed before. Raises `Declined`."""
    now, key = context.now(), asked.get("key")

    def work(connection: Connection) -> Delivery | None:
        _, webhook = _find(connection, asked)
        if webhook.state != "active":
            raise Declined(
                f"The webhook {webhook.name} is {webhook.state}; resume it, then test it."
            )
        webhooks.note_result(connection, webhook=webhook, failures=webhook.failures, due_at=0)
        return deliveries.insert(connection, make_test(webhook, key, now), webhook=webhook, now=now)

    made = await context.database.write("webhooks.test", work)
    context.wake_webhooks()
    return {"delivery": asdict(made) if made else None}


async def pause(context: OperationContext, asked: Answer) -> Answer:
    """Pause a webhook: its events wait. Raises `Declined`."""
    return await _change(context, asked, "webhook.pause", _pause)


async def resume(context: OperationContext, asked: Answer) -> Answer:
    """Resume a webhook: send the waiting events or, with `skip`, drop them. Raises `Declined`."""
    now, skip = context.now(), bool(asked.get("skip"))

    def work(connection: Connection, webhook: Webhook) -> None:
        if webhook.state == "active":
            raise Declined(f"The webhook {webhook.name} is active already.")
        webhooks.set_state(connection, webhook=webhook, state="active")
        if skip:
            place = find_now(connection, person_id=webhook.person_id).write()
            webhooks.move_place(connection, webhook=webhook, place=place)
            deliveries.drop_waiting(connection, webhook=webhook)
        else:
            deliveries.renew_waiting(connection, webhook=webhook, now=now)

    changed = await _change(context, asked, "webhook.resume", work)
    context.wake_webhooks()
    return changed


async def change(context: OperationContext, asked: Answer) -> Answer:
    """Change the name, the address or the events of a webhook. Raises `Declined` and `Mistaken`."""
    if asked.get("name") is not None:
        _check_name(read_text(asked, "name"))
    if asked.get("url") is not None:
        context.webhooks.check(read_text(asked, "url").strip())
    kinds = _read_kinds(asked) if asked.get("kinds") else None

    def work(connection: Connection, webhook: Webhook) -> None:
        webhooks.change(
            connection,
            webhook=webhook,
            name=asked.get("name") or webhook.name,
            url=(asked.get("url") or webhook.url).strip(),
            kinds=kinds or webhook.kinds,
        )

    return await _change(context, asked, "webhook.change", work)


async def rotate(context: OperationContext, asked: Answer) -> Answer:
    """Give a webhook a new secret, which only this answer contains. Raises `Declined`.

    Until `old_until`, the old secret signs each request, too.
    """
    secret, old_until = make_secret(), context.now() + OLD_LASTS

    def work(connection: Connection, webhook: Webhook) -> None:
        webhooks.replace_secret(connection, webhook=webhook, secret=secret, old_until=old_until)

    changed = await _change(context, asked, "webhook.rotate", work)
    return {**changed, "secret": secret, "old_until": old_until}


async def remove(context: OperationContext, asked: Answer) -> Answer:
    """Remove a webhook and drop its waiting events; `restore` undoes it. Raises `Declined`."""
    now = context.now()

    def work(connection: Connection, webhook: Webhook) -> None:
        deliveries.drop_waiting(connection, webhook=webhook)
        webhooks.remove(connection, webhook=webhook, now=now)

    return await _change(context, asked, "webhook.remove", work)


async def restore(context: OperationContext, asked: Answer) -> Answer:
    """Restore a removed webhook; it gets events from now on. Raises `Declined`."""
    number = asked.get("number")

    def work(connection: Connection) -> Webhook:
        for person in _list_people(connection, asked):
            for webhook in webhooks.list_removed(connection, person_id=person.id):
                if webhook.id == number:
                    _check_count(connection, context, person)
                    place = find_now(connection, person_id=person.id).write()
                    webhooks.restore(connection, webhook=webhook, place=place)
                    _record(connection, context, person, "webhook.restore", webhook.name)
                    return webhook
        raise Declined(f"There is no removed webhook {number}; the last five can come back.")

    restored = await context.database.write("webhooks.restore", work)
    context.wake_webhooks()
    return {"number": restored.id, "name": restored.name}


async def list_deliveries(context: OperationContext, asked: Answer) -> Answer:
    """List the newest deliveries of a webhook with ids below `before`. Raises `Declined`."""
    limit, before = read_limit(asked), asked.get("before") or _NEWEST

    def look(connection: Connection) -> list[Delivery]:
        _, webhook = _find(connection, asked)
        return deliveries.list_of(connection, webhook=webhook, before=before, limit=limit)

    return {"deliveries": [asdict(one) for one in await context.database.read(look)]}


async def redeliver(context: OperationContext, asked: Answer) -> Answer:
    """Send a delivery again, with the same event id. Raises `Declined`."""
    now, wanted = context.now(), asked.get("delivery")

    def work(connection: Connection) -> Delivery:
        _, webhook = _find(connection, asked)
        found = None
        if isinstance(wanted, int):
            found = deliveries.find(connection, webhook=webhook, delivery_id=wanted)
        if found is None:
            raise Declined(
                f"There is no delivery {wanted} of this webhook; `talaria webhooks deliveries"
                f" {webhook.id}` lists them."
            )
        deliveries.renew(connection, delivery_id=found.id, now=now)
        if webhook.state == "active":
            webhooks.note_result(connection, webhook=webhook, failures=webhook.failures, due_at=0)
        return found

    found = await context.database.write("webhooks.redeliver", work)
    context.wake_webhooks()
    return {"delivery": found.id}


async def _change(
    context: OperationContext, asked: Answer, action: str, change: Any
) -> Mapping[str, Any]:
    """Change a webhook in a transaction that also records the actor."""

    def work(connection: Connection) -> Webhook:
        person, webhook = _find(connection, asked)
        change(connection, webhook)
        _record(connection, context, person, action, webhook.name)
        return webhook

    changed = await context.database.write(action.replace("webhook", "webhooks", 1), work)
    return {"number": changed.id, "name": changed.name}


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Mistaken(
            "The name of a webhook has at most 32 letters, digits, spaces, dots, dashes and"
            " underscores, and begins with a letter or digit."
        )


def _check_count(connection: Connection, context: OperationContext, person: Person) -> None:
    most = context.webhooks.per_person
    if len(webhooks.list_of(connection, person_id=person.id)) >= most:
        raise Declined(f"{person.slug} has {most} webhooks, and no more are allowed.")


def _pause(connection: Connection, webhook: Webhook) -> None:
    if webhook.state != "active":
        raise Declined(f"The webhook {webhook.name} is {webhook.state} already.")
    webhooks.set_state(connection, webhook=webhook, state="paused")


def _find(connection: Connection, asked: Answer) -> tuple[Person, Webhook]:
    """Find a webhook by its number, and by its `person` if one is given. Raises `Declined`."""
    number = asked.get("number")
    if not isinstance(number, int):
        raise Declined("Give the number of a webhook.")
    for person in _list_people(connection, asked):
        found = webhooks.find(connection, person_id=person.id, webhook_id=number)
        if found:
            return person, found
    raise Declined(f"There is no webhook {number}; `talaria webhooks` lists them.")


def _list_people(connection: Connection, asked: Answer) -> list[Person]:
    if asked.get("person"):
        return [find_person(connection, read_text(asked, "person"))]
    return people.list_all(connection)


def _read_kinds(asked: Answer) -> list[WebhookEventKind]:
    """Return the kinds of events that the request wants; no kinds means all. Raises `Mistaken`."""
    wanted = asked.get("kinds") or EVENT_KINDS
    for one in wanted:
        if one not in EVENT_KINDS:
            raise Mistaken(f"There are no events {one}; {suggest(str(one), EVENT_KINDS)}")
    return [one for one in EVENT_KINDS if one in wanted]


def _describe(webhook: Webhook) -> dict[str, Any]:
    return {
        "number": webhook.id,
        "name": webhook.name,
        "url": webhook.url,
        "kinds": list(webhook.kinds),
        "state": webhook.state,
        "reason": webhook.reason,
        "failures": webhook.failures,
        "created_at": webhook.created_at,
    }


def _record(
    connection: Connection, context: OperationContext, person: Person, action: str, name: str
) -> None:
    actor = context.actor if context.actor == "house" else f"person:{person.id}"
    deed = AuditEntry(
        person_id=person.id, actor=actor, action=action, detail=name, created_at=context.now()
    )
    audit.record(connection, deed)


OPERATIONS: Mapping[str, Operation] = {
    "webhooks.add": add,
    "webhooks.list": list_webhooks,
    "webhooks.test": test,
    "webhooks.pause": pause,
    "webhooks.resume": resume,
    "webhooks.change": change,
    "webhooks.rotate": rotate,
    "webhooks.remove": remove,
    "webhooks.restore": restore,
    "webhooks.deliveries": list_deliveries,
    "webhooks.redeliver": redeliver,
}
"""The operations, by their names on the control socket."""
