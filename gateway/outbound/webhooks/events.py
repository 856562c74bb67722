"""Events for webhooks: read from the feed, and stored together with the new position in it."""

import hashlib
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import NewDelivery
from agent_core.state.webhooks.webhooks import Webhook
from gateway.outbound.event_feed import Event, EventFeed, find_now, read_cursor

_MOST_WAITING = 1000
"""Deliveries of a webhook that wait; further events stay in their tables until there are fewer."""
_MOST_UNWANTED = 500
"""Unwanted events after which the position of a webhook is stored, even without a wanted one."""
_TEST = "webhook.test"
_ID_LENGTH = 32


@dataclass(slots=True, kw_only=True, eq=False)
class _Follower:
    """The feed of a webhook, read from its stored position on."""

    person_id: PersonId
    place: str
    feed: EventFeed
    unwanted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    """New events for a webhook, and the position after them."""

    webhook: Webhook
    events: Sequence[Event]
    place: str


@dataclass(slots=True)
class EventGatherer:
    """Stores the events of everyone's active webhooks as deliveries, each exactly once."""

    database: Database
    is_admitted: Callable[[Connection, PersonId], bool]
    """Returns whether a person may talk to the assistant; nothing is stored for others."""
    now: Callable[[], int]
    _followers: dict[int, _Follower] = field(default_factory=dict, init=False)

    async def gather(self) -> tuple[bool, list[Webhook]]:
        """Return whether there are active webhooks, and those with deliveries that are due.

        Raises `StoreError`; the next call then starts from what is stored.
        """
        try:
            active, news, due = await self.database.read(self._look)
            if news:
                await self.database.write("webhooks.gather", self._store, news)
        except BaseException:
            self._followers.clear()
            raise
        fresh = {one.webhook.id: one.webhook for one in news}
        return active, [*fresh.values(), *(one for one in due if one.id not in fresh)]

    def _look(self, connection: Connection) -> tuple[bool, list[_News], list[Webhook]]:
        now, active = self.now(), webhooks.list_active(connection)
        self._followers = {one.id: self._followers.get(one.id) or _follow(one) for one in active}
        news, due = [], []
        for webhook in active:
            found = self._read(connection, webhook)
            if found:
                news.append(found)
            if webhook.due_at <= now and deliveries.find_due(connection, webhook=webhook, now=now):
                due.append(webhook)
        return bool(active), news, due

    def _read(self, connection: Connection, webhook: Webhook) -> _News | None:
        """Read what is new for a webhook; None if there is nothing to store."""
        follower = self._followers[webhook.id]
        if (follower.person_id, follower.place) != (webhook.person_id, webhook.place):
            follower = self._followers[webhook.id] = _follow(webhook)
        if deliveries.count_waiting(connection, webhook=webhook) >= _MOST_WAITING:
            return None
        events = follower.feed.read(connection)
        wanted = [one for one in events if one.kind in webhook.kinds]
        follower.unwanted += len(events) - len(wanted)
        if not wanted and follower.unwanted < _MOST_UNWANTED:
            return None
        if not self.is_admitted(connection, webhook.person_id):
            del self._followers[webhook.id]
            return None
        assert follower.feed.cursor  # noqa: S101 - it has been read
        return _News(webhook=webhook, events=wanted, place=follower.feed.cursor.write())

    def _store(self, connection: Connection, news: Sequence[_News]) -> None:
        for one in news:
            if _store(connection, one, self.now()):
                follower = self._followers[one.webhook.id]
                follower.place, follower.unwanted = one.place, 0
            else:
                del self._followers[one.webhook.id]


def store_news(connection: Connection, person_id: PersonId, now: int) -> None:
    """Store what is new for the webhooks of a person who is merged, in the caller's transaction."""
    for webhook in webhooks.list_of(connection, person_id=person_id):
        feed = _follow(webhook).feed
        wanted = [one for one in feed.read(connection) if one.kind in webhook.kinds]
        _store(connection, _News(webhook=webhook, events=wanted, place=webhook.place), now)


def restart(connection: Connection, person_id: PersonId) -> None:
    """Restart the webhooks of a merged person from now, for the events of both former people."""
    place = find_now(connection, person_id=person_id).write()
    for webhook in webhooks.list_of(connection, person_id=person_id):
        webhooks.move_place(connection, webhook=webhook, place=place)


def make_test(webhook: Webhook, key: str | None, now: int) -> NewDelivery:
    """Make a test event without data about the person. The same `key` gives the same event id."""
    name = key or secrets.token_hex(_ID_LENGTH // 2)
    return NewDelivery(
        event_id=_name(webhook, f"{_TEST}/{name}"),
        kind=_TEST,
        payload=_write(_TEST, now, {"webhook": webhook.name}),
    )


def _follow(webhook: Webhook) -> _Follower:
    feed = EventFeed(webhook.person_id, read_cursor(webhook.place))
    return _Follower(person_id=webhook.person_id, place=webhook.place, feed=feed)


def _store(connection: Connection, news: _News, now: int) -> bool:
    """Store events and the place; False if the webhook has changed since it was read."""
    if not webhooks.move_place(connection, webhook=news.webhook, place=news.place):
        return False
    for event in news.events:
        new = NewDelivery(
            # In a restored database, a new turn may get an old number: the time tells them apart.
            event_id=_name(news.webhook, f"{event.kind}/{event.number}/{event.at}"),
            kind=event.kind,
            payload=_write(event.kind, event.at, event.fields),
        )
        deliveries.insert(connection, new, webhook=news.webhook, now=now)
    return True


def _name(webhook: Webhook, event: str) -> str:
    """Return the id of an event, which is the same however often it is found."""
    whole = f"{webhook.id}/{webhook.created_at}/{event}"
    return f"msg_{hashlib.sha256(whole.encode()).hexdigest()[:_ID_LENGTH]}"


def _write(kind: str, at: int, fields: dict[str, object]) -> str:
    moment = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    told = {"type": kind, "timestamp": moment.replace("+00:00", "Z"), "data": fields}
    return json.dumps(told, separators=(",", ":"))
