"""Operations on outgoing webhooks: add, list, test, change and remove them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from agent_core.localization import Text
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.deeds import NewDeed
from agent_core.state.people.people import Person
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import Delivery
from agent_core.state.webhooks.webhooks import EVENT_KINDS, NewWebhook, Webhook, WebhookEventKind
from gateway.errors import Declined, Mistaken
from gateway.operations.contract import (
    Operation,
    OperationContext,
    check_limit,
    find_person,
    note_deed,
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
    WebhookOrder,
    WebhookVerb,
)
from gateway.operations.wire import typed
from gateway.outbound.event_feed import find_now
from gateway.outbound.webhooks.events import make_test
from gateway.outbound.webhooks.rules import WebhookRules
from gateway.outbound.webhooks.signatures import make_secret
from gateway.texts import webhooks as texts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
_NEWEST = 2**62
_VERBS: Mapping[str, WebhookVerb] = {verb: verb for verb in get_args(WebhookVerb)}
_UNDO: Mapping[WebhookVerb, WebhookVerb] = {
    "pause": "resume",
    "resume": "pause",
    "remove": "restore",
}
"""The verb that takes a verb back; a change is taken back by the former values."""
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
        _check_count(connection, context.webhooks, person)
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
        added = webhooks.insert(connection, new, now=now)
        _note(connection, context, _describe_deed(added, "remove", "restore", texts.DONE["add"]))
        return added

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
            raise Declined(texts.NOT_ACTIVE(name=webhook.name))
        webhooks.note_result(connection, webhook=webhook, failures=webhook.failures, due_at=0)
        return deliveries.insert(connection, make_test(webhook, key, now), webhook=webhook, now=now)

    made = await context.database.write("webhooks.test", work)
    context.wake_webhooks()
    return SentTest(delivery=_describe_delivery(made) if made else None)


async def pause(context: OperationContext, asked: PickWebhook) -> ChangedWebhook:
    """Pause a webhook: its events wait. Raises `Declined`."""
    return await _act(context, asked, WebhookOrder(verb="pause", number=asked.number))


async def resume(context: OperationContext, asked: ResumeWebhook) -> ChangedWebhook:
    """Resume a webhook: send the waiting events or, with `skip`, drop them. Raises `Declined`."""
    order = WebhookOrder(verb="resume", number=asked.number, skip=asked.skip)
    return await _act(context, asked, order)


async def change(context: OperationContext, asked: ChangeWebhook) -> ChangedWebhook:
    """Change the name, the address or the events of a webhook. Raises `Declined` and `Mistaken`."""
    if asked.name is not None:
        _check_name(asked.name)
    if asked.url is not None:
        context.webhooks.check(asked.url.strip())
    values = {"name": asked.name, "url": (asked.url or "").strip(), "kinds": asked.kinds}
    given = {name: value for name, value in values.items() if value}
    return await _act(
        context, asked, WebhookOrder(verb="change", number=asked.number, values=given)
    )


async def rotate(context: OperationContext, asked: PickWebhook) -> RotatedWebhook:
    """Give a webhook a new secret, which only this answer contains. Raises `Declined`.

    Until `old_until`, the old secret signs each request, too.
    """
    secret, old_until = make_secret(), context.now() + OLD_LASTS

    def work(connection: Connection) -> Webhook:
        person, webhook = _find(connection, asked)
        webhooks.replace_secret(connection, webhook=webhook, secret=secret, old_until=old_until)
        _record(connection, context, person, "webhook.rotate", webhook.name)
        _note(connection, context, NewDeed(did=texts.NEW_SECRET(name=webhook.name)))
        return webhook

    changed = await context.database.write("webhooks.rotate", work)
    return RotatedWebhook(number=changed.id, name=changed.name, secret=secret, old_until=old_until)


async def remove(context: OperationContext, asked: PickWebhook) -> ChangedWebhook:
    """Remove a webhook and drop its waiting events; `restore` undoes it. Raises `Declined`."""
    return await _act(context, asked, WebhookOrder(verb="remove", number=asked.number))


async def restore(context: OperationContext, asked: PickWebhook) -> ChangedWebhook:
    """Restore a removed webhook; it gets events from now on. Raises `Declined`."""
    return await _act(context, asked, WebhookOrder(verb="restore", number=asked.number))


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
            raise Declined(texts.NO_DELIVERY(number=wanted))
        deliveries.renew(connection, delivery_id=found.id, now=now)
        if webhook.state == "active":
            webhooks.note_result(connection, webhook=webhook, failures=webhook.failures, due_at=0)
        return found

    found = await context.database.write("webhooks.redeliver", work)
    context.wake_webhooks()
    return SentAgain(delivery=found.id)


async def _act(
    context: OperationContext, asked: PickWebhook, order: WebhookOrder
) -> ChangedWebhook:
    """Change a webhook in a transaction that also records the actor, and the deed for `/undo`."""

    def work(connection: Connection) -> Webhook:
        person = _find_holder(connection, asked, order)
        webhook, deed = act(connection, person, order, context.webhooks, context.now())
        _record(connection, context, person, f"webhook.{order.verb}", webhook.name)
        if deed:
            _note(connection, context, deed)
        return webhook

    changed = await context.database.write(f"webhooks.{order.verb}", work)
    context.wake_webhooks()
    return ChangedWebhook(number=changed.id, name=changed.name)


def act(
    connection: Connection, person: Person, order: WebhookOrder, rules: WebhookRules, now: int
) -> tuple[Webhook, NewDeed | None]:
    """Do something to a webhook of a person in the caller's transaction.

    Returns the webhook as it was, and what was done; None if that changed nothing. Raises
    `Declined`.
    """
    if order.verb == "restore":
        removed = webhooks.list_removed(connection, person_id=person.id)
        webhook = next((one for one in removed if one.id == order.number), None)
        if webhook is None:
            raise Declined(texts.NOT_REMOVED(number=order.number))
        _check_count(connection, rules, person)
        place = find_now(connection, person_id=person.id).write()
        webhooks.restore(connection, webhook=webhook, place=place)
        return webhook, _describe_deed(webhook, "remove", "restore", texts.DONE["restore"])
    webhook = webhooks.find(connection, person_id=person.id, webhook_id=order.number)
    if webhook is None:
        raise Declined(texts.UNKNOWN(number=order.number))
    undo = _UNDO.get(order.verb, "change")
    match order.verb:
        case "pause":
            if webhook.state != "active":
                raise Declined(texts.ALREADY[webhook.state](name=webhook.name))
            webhooks.set_state(connection, webhook=webhook, state="paused")
        case "resume":
            _resume(connection, webhook, now, skip=order.skip)
        case "remove":
            deliveries.drop_waiting(connection, webhook=webhook)
            webhooks.remove(connection, webhook=webhook, now=now)
        case "change":
            return webhook, _change(connection, webhook, order.values)
    return webhook, _describe_deed(webhook, undo, order.verb, texts.DONE[order.verb])


def read_order(words: str) -> WebhookOrder:
    """Read what a deed says to do to a webhook, such as `pause 3`, or `change 3` with values."""
    verb, number, *values = words.split(" ", 2)
    given = json.loads(values[0]) if values else {}
    return WebhookOrder(verb=_VERBS[verb], number=int(number), values=given)


def _resume(connection: Connection, webhook: Webhook, now: int, *, skip: bool) -> None:
    if webhook.state == "active":
        raise Declined(texts.ALREADY["active"](name=webhook.name))
    webhooks.set_state(connection, webhook=webhook, state="active")
    if skip:
        place = find_now(connection, person_id=webhook.person_id).write()
        webhooks.move_place(connection, webhook=webhook, place=place)
        deliveries.drop_waiting(connection, webhook=webhook)
    else:
        deliveries.renew_waiting(connection, webhook=webhook, now=now)


def _change(connection: Connection, webhook: Webhook, values: Mapping[str, Any]) -> NewDeed | None:
    """Set values of a webhook; None if all are so already."""
    before = {"name": webhook.name, "url": webhook.url, "kinds": list(webhook.kinds)}
    after = {**before, **values}
    after["kinds"] = _read_kinds(after["kinds"])
    webhooks.change(
        connection, webhook=webhook, name=after["name"], url=after["url"], kinds=after["kinds"]
    )
    if after == before:
        return None
    undo, redo = (
        f"webhooks change {webhook.id} {json.dumps(one, ensure_ascii=False)}"
        for one in (before, after)
    )
    return NewDeed(undo=undo, redo=redo, did=texts.DONE["change"](name=webhook.name))


def _describe_deed(webhook: Webhook, undo: WebhookVerb, redo: WebhookVerb, did: Text) -> NewDeed:
    return NewDeed(
        undo=f"webhooks {undo} {webhook.id}",
        redo=f"webhooks {redo} {webhook.id}",
        did=did(name=webhook.name),
    )


def _note(connection: Connection, context: OperationContext, deed: NewDeed) -> None:
    note_deed(context, connection, undo=deed.undo, redo=deed.redo, did=deed.did)


def _find_holder(connection: Connection, asked: PickWebhook, order: WebhookOrder) -> Person:
    """Return the person who has the webhook, removed or not. Raises `Declined`."""
    is_restored = order.verb == "restore"
    listed = webhooks.list_removed if is_restored else webhooks.list_of
    known = _list_people(connection, asked.person)
    for person in known:
        if any(one.id == order.number for one in listed(connection, person_id=person.id)):
            return person
    if len(known) == 1:
        return known[0]
    raise Declined((texts.NOT_REMOVED if is_restored else texts.UNKNOWN)(number=order.number))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Mistaken(texts.WRONG_NAME())


def _check_count(connection: Connection, rules: WebhookRules, person: Person) -> None:
    most = rules.per_person
    if len(webhooks.list_of(connection, person_id=person.id)) >= most:
        raise Declined(texts.TOO_MANY(n=most))


def _find(connection: Connection, asked: PickWebhook) -> tuple[Person, Webhook]:
    """Find a webhook by its number, and by its `person` if one is given. Raises `Declined`."""
    for person in _list_people(connection, asked.person):
        found = webhooks.find(connection, person_id=person.id, webhook_id=asked.number)
        if found:
            return person, found
    raise Declined(texts.UNKNOWN(number=asked.number))


def _list_people(connection: Connection, slug: str | None) -> list[Person]:
    return [find_person(connection, slug)] if slug else people.list_all(connection)


def _read_kinds(wanted: Sequence[str]) -> list[WebhookEventKind]:
    """Return the kinds of events that a request wants; no kinds means all. Raises `Mistaken`."""
    for one in wanted:
        if one not in EVENT_KINDS:
            raise Mistaken(texts.NO_EVENTS(name=one, names=", ".join(EVENT_KINDS)))
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
