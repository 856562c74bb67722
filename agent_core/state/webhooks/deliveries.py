"""Queries over deliveries: the events on their way to a webhook, and their results."""

from dataclasses import dataclass
from typing import Literal

from agent_core.state.engine.connection import list_fields, read_all, read_one
from agent_core.state.engine.database import Connection
from agent_core.state.webhooks.webhooks import Webhook

DeliveryState = Literal["waiting", "sent", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    """An event for a webhook: its body, and the id that every attempt repeats."""

    event_id: str
    kind: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(NewDelivery):
    """An event on its way. Times are milliseconds UTC; `status` is the last HTTP status."""

    id: int
    state: DeliveryState
    attempts: int
    due_at: int
    status: int | None
    reason: str
    created_at: int
    ended_at: int | None


_COLUMNS = (
    "event_id, kind, payload, id, state, attempts, due_at, status, reason, created_at, ended_at"
)


def insert(
    connection: Connection, delivery: NewDelivery, *, webhook: Webhook, now: int
) -> Delivery | None:
    """Store an event for a webhook; None if it is already stored."""
    found = connection.execute(
        "INSERT INTO webhook_deliveries (webhook_id, event_id, kind, payload, state, due_at,"
        " created_at) VALUES (:webhook_id, :event_id, :kind, :payload, 'waiting', :now, :now)"
        f" ON CONFLICT (webhook_id, event_id) DO NOTHING RETURNING {_COLUMNS}",
        {**list_fields(delivery), "webhook_id": webhook.id, "now": now},
    )
    return read_one(Delivery, found)


def find_due(connection: Connection, *, webhook: Webhook, now: int) -> Delivery | None:
    """Return the delivery that has been due for the longest time."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM webhook_deliveries WHERE webhook_id = :webhook_id"
        " AND state = 'waiting' AND due_at <= :now ORDER BY due_at, id LIMIT 1",
        {"webhook_id": webhook.id, "now": now},
    )
    return read_one(Delivery, found)


def count_waiting(connection: Connection, *, webhook: Webhook) -> int:
    """Count the deliveries that are not sent yet."""
    row = connection.execute(
        "SELECT COUNT(*) FROM webhook_deliveries WHERE webhook_id = :webhook_id"
        " AND state = 'waiting'",
        {"webhook_id": webhook.id},
    ).fetchone()
    return int(row[0])


def find(connection: Connection, *, webhook: Webhook, delivery_id: int) -> Delivery | None:
    """Return a delivery of a webhook."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM webhook_deliveries WHERE id = :id AND webhook_id = :webhook_id",
        {"id": delivery_id, "webhook_id": webhook.id},
    )
    return read_one(Delivery, found)


def list_of(connection: Connection, *, webhook: Webhook, before: int, limit: int) -> list[Delivery]:
    """List the deliveries of a webhook with ids below `before`, newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM webhook_deliveries INDEXED BY webhook_deliveries_by_webhook"
        " WHERE webhook_id = :webhook_id AND id < :before ORDER BY id DESC LIMIT :limit",
        {"webhook_id": webhook.id, "before": before, "limit": limit},
    )
    return read_all(Delivery, rows)


def mark_sent(connection: Connection, *, delivery_id: int, status: int, now: int) -> None:
    """Record that the receiver accepted a delivery."""
    connection.execute(
        "UPDATE webhook_deliveries SET state = 'sent', attempts = attempts + 1, status = :status,"
        " reason = '', ended_at = :now WHERE id = :id",
        {"id": delivery_id, "status": status, "now": now},
    )


def mark_failed(
    connection: Connection, *, delivery_id: int, status: int | None, reason: str, due_at: int
) -> None:
    """Record a failed attempt, and when the next attempt is due."""
    connection.execute(
        "UPDATE webhook_deliveries SET attempts = attempts + 1, status = :status,"
        " reason = :reason, due_at = :due_at WHERE id = :id",
        {"id": delivery_id, "status": status, "reason": reason, "due_at": due_at},
    )


def give_up(connection: Connection, *, delivery_id: int, now: int) -> None:
    """Record that no further attempt of a delivery is made, unless a person asks for it."""
    connection.execute(
        "UPDATE webhook_deliveries SET state = 'failed', ended_at = :now WHERE id = :id",
        {"id": delivery_id, "now": now},
    )


def renew(connection: Connection, *, delivery_id: int, now: int) -> None:
    """Make a delivery due again, with the same id and as many attempts as a new one."""
    connection.execute(
        "UPDATE webhook_deliveries SET state = 'waiting', attempts = 0, due_at = :now,"
        " ended_at = NULL WHERE id = :id",
        {"id": delivery_id, "now": now},
    )


def renew_waiting(connection: Connection, *, webhook: Webhook, now: int) -> None:
    """Make all waiting deliveries due now, with as many attempts as new ones."""
    connection.execute(
        "UPDATE webhook_deliveries SET attempts = 0, due_at = :now"
        " WHERE webhook_id = :webhook_id AND state = 'waiting'",
        {"webhook_id": webhook.id, "now": now},
    )


def drop_waiting(connection: Connection, *, webhook: Webhook) -> int:
    """Delete the deliveries that are not sent yet; return their number."""
    cursor = connection.execute(
        "DELETE FROM webhook_deliveries WHERE webhook_id = :webhook_id AND state = 'waiting'",
        {"webhook_id": webhook.id},
    )
    return cursor.rowcount
