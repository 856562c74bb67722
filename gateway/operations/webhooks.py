"""Operations on outgoing webhooks: add, list, test, change and remove them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Person
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import Delivery
from agent_core.state.webhooks.webhooks import EVENT_KINDS, NewWebhook, Webhook, WebhookEventKind
from gateway.errors import Declined, Mistaken, suggest
from gateway.operations.contract import (
    Operation,
    OperationContext,
    check_limit,
    find_person,
)
from gateway.operations.webhook_types import (
    AddedWebhook,
    AddWebhook,
    ChangedWebhook,
    ChangeWebhook,
    DeliveryLine,
    DeliveryList,
    ListDeliveries,
    ListWebhooks,
    PickWebhook,
    ResumeWebhook,
    RotatedWebhook,
    SendAgain,
    SendTest,
    SentAgain,
    SentTest,
    WebhookLine,
    WebhookList,
)
from gateway.operations.wire import typed
from gateway.outbound.event_feed import find_now
from gateway.outbound.webhooks.events import make_test
from gateway.outbound.webhooks.signatures import make_secret

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
_NEWEST = 2**62
OLD_LASTS = 24 * 3_600_000
"""Milliseconds for which the old secret also signs, until the receiver has the new one."""


async def add(context: OperationContext, asked: AddWebhook) -> AddedWebhook:
    """Add a webhook of a person; only this answer contains its secret.

    A repeat with the same `key` adds nothing. Raises `Declined` and `Mistaken`.
    """
    name, url, now = asked.name, asked.url.strip(), context.now()
    kinds, key = _read_kinds(asked.kinds), asked.key
    _check_name(name)
    context.webhooks.check(url)

    def work(connection: Connection) -> Webhook:
        person = find_person(connection, asked.person)
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
    return AddedWebhook(
        number=made.id, name=made.name, url=made.url, kinds=tuple(made.kinds), secret=made.secret
    )


async def list_webhooks(context: OperationContext, asked: ListWebhooks) -> WebhookList:
    """List webhooks of everybody, or of one `person`, without secrets. Raises `Mistaken`."""

    def look(connection: Connection) -> WebhookList:
        return WebhookList(
            webhooks=tuple(
                _describe(connection, person, one)
                for person in _list_people(connection, asked.person)
                for one in webhooks.list_of(connection, person_id=person.id)
            )
        )

    return await context.database.read(look)


async def test(context: OperationContext, asked: SendTest) -> SentTest:
    """Send a test event, even if the receiver has failed before. Raises `Declined`."""
    now, key = context.now(), asked.key

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
    return SentTest(delivery=_describe_delivery(made) if made else None)


async def pause(context: OperationContext, asked: PickWebhook) -> ChangedWebhook:
    """Pause a webhook: its events wait. Raises `Declined`."""
    return await _change(context, asked, "webhook.pause", _pause)


async def resume(context: OperationContext, asked: ResumeWebhook) -> ChangedWebhook:
    """Resume a webhook: send the waiting events or, with `skip`, drop them. Raises `Declined`."""
    now, skip = context.now(), asked.skip

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


async def change(context: OperationContext, asked: ChangeWebhook) -> ChangedWebhook:
    """Change the name, the address or the events of a webhook. Raises `Declined` and `Mistaken`."""
    if asked.name is not None:
        _check_name(asked.name)
    if asked.url is not None:
        context.webhooks.check(asked.url.strip())
    kinds = _read_kinds(asked.kinds) if asked.kinds else None

    def work(connection: Connection, webhook: Webhook) -> None:
        webhooks.change(
            connection,
            webhook=webhook,
            name=asked.name or webhook.name,
            url=(asked.url or webhook.url).strip(),
            kinds=kinds or webhook.kinds,
        )

    return await _change(context, asked, "webhook.change", work)


async def rotate(context: OperationContext, asked: PickWebhook) -> RotatedWebhook:
    """Give a webhook a new secret, which only this answer contains. Raises `Declined`.

    Until `old_until`, the old secret signs each request, too.
    """
    secret, old_until = make_secret(), context.now() + OLD_LASTS

    def work(connection: Connection, webhook: Webhook) -> None:
        webhooks.replace_secret(connection, webhook=webhook, secret=secret, old_until=old_until)

    changed = await _change(context, asked, "webhook.rotate", work)
    return RotatedWebhook(
        number=changed.number, name=changed.name, secret=secret, old_until=old_until
    )


async def remove(context: OperationContext, asked: PickWebhook) -> ChangedWebhook:
    """Remove a webhook and drop its waiting events; `restore` undoes it. Raises `Declined`."""
    now = context.now()

    def work(connection: Connection, webhook: Webhook) -> None:
        deliveries.drop_waiting(connection, webhook=webhook)
        webhooks.remove(connection, webhook=webhook, now=now)

    return await _change(context, asked, "webhook.remove", work)


async def restore(context: OperationContext, asked: PickWebhook) -> ChangedWebhook:
    """Restore a removed webhook; it gets events from now on. Raises `Declined`."""
    number = asked.number

    def work(connection: Connection) -> Webhook:
        for person in _list_people(connection, asked.person):
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
    return ChangedWebhook(number=restored.id, name=restored.name)


async def list_deliveries(context: OperationContext, asked: ListDeliveries) -> DeliveryList:
    """List the newest deliveries of a webhook with ids below `before`. Raises `Declined`."""
    limit, before = check_limit(asked.limit), asked.before or _NEWEST

    def look(connection: Connection) -> list[Delivery]:
        _, webhook = _find(connection, asked)
        return deliveries.list_of(connection, webhook=webhook, before=before, limit=limit)

    found = await context.database.read(look)
    return DeliveryList(deliveries=tuple(map(_describe_delivery, found)))


async def redeliver(context: OperationContext, asked: SendAgain) -> SentAgain:
    """Send a delivery again, with the same event id. Raises `Declined`."""
    now, wanted = context.now(), asked.delivery

    def work(connection: Connection) -> Delivery:
        _, webhook = _find(connection, asked)
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
    return SentAgain(delivery=found.id)


async def _change(
    context: OperationContext,
    asked: PickWebhook,
    action: str,
    change: Callable[[Connection, Webhook], None],
) -> ChangedWebhook:
    """Change a webhook in a transaction that also records the actor."""

    def work(connection: Connection) -> Webhook:
        person, webhook = _find(connection, asked)
        change(connection, webhook)
        _record(connection, context, person, action, webhook.name)
        return webhook

    changed = await context.database.write(action.replace("webhook", "webhooks", 1), work)
    return ChangedWebhook(number=changed.id, name=changed.name)


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


def _find(connection: Connection, asked: PickWebhook) -> tuple[Person, Webhook]:
    """Find a webhook by its number, and by its `person` if one is given. Raises `Declined`."""
    for person in _list_people(connection, asked.person):
        found = webhooks.find(connection, person_id=person.id, webhook_id=asked.number)
        if found:
            return person, found
    raise Declined(f"There is no webhook {asked.number}; `talaria webhooks` lists them.")


def _list_people(connection: Connection, slug: str | None) -> list[Person]:
    return [find_person(connection, slug)] if slug else people.list_all(connection)


def _read_kinds(wanted: Sequence[str]) -> list[WebhookEventKind]:
    """Return the kinds of events that a request wants; no kinds means all. Raises `Mistaken`."""
    for one in wanted:
        if one not in EVENT_KINDS:
            raise Mistaken(f"There are no events {one}; {suggest(one, EVENT_KINDS)}")
    return [one for one in EVENT_KINDS if one in (wanted or EVENT_KINDS)]


def _describe(connection: Connection, person: Person, webhook: Webhook) -> WebhookLine:
    return WebhookLine(
        number=webhook.id,
        name=webhook.name,
        url=webhook.url,
        kinds=tuple(webhook.kinds),
        state=webhook.state,
        reason=webhook.reason,
        failures=webhook.failures,
        created_at=webhook.created_at,
        folder=person.slug,
        waiting=deliveries.count_waiting(connection, webhook=webhook),
    )


def _describe_delivery(delivery: Delivery) -> DeliveryLine:
    return DeliveryLine(**asdict(delivery))


def _record(
    connection: Connection, context: OperationContext, person: Person, action: str, name: str
) -> None:
    actor = context.actor if context.actor == "house" else f"person:{person.id}"
    deed = AuditEntry(
        person_id=person.id, actor=actor, action=action, detail=name, created_at=context.now()
    )
    audit.record(connection, deed)


OPERATIONS: Mapping[str, Operation] = {
    "webhooks.add": typed(add),
    "webhooks.list": typed(list_webhooks),
    "webhooks.test": typed(test),
    "webhooks.pause": typed(pause),
    "webhooks.resume": typed(resume),
    "webhooks.change": typed(change),
    "webhooks.rotate": typed(rotate),
    "webhooks.remove": typed(remove),
    "webhooks.restore": typed(restore),
    "webhooks.deliveries": typed(list_deliveries),
    "webhooks.redeliver": typed(redeliver),
}
"""The operations, by their names on the control socket."""
