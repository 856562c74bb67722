"""Queries over outgoing webhooks: the addresses that get the events of a person."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from agent_core.ids import PersonId
from agent_core.state.engine.connection import list_fields, read_all, read_one
from agent_core.state.engine.database import Connection

WebhookEventKind = Literal["turn.started", "turn.ended", "memory.changed", "question.asked"]
"""The kinds of events that happen to a person."""
EVENT_KINDS: tuple[WebhookEventKind, ...] = get_args(WebhookEventKind)
WebhookState = Literal["active", "paused", "dead"]
"""The state of a webhook. It is `dead` if its receiver is gone or has long accepted nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWebhook:
    """A webhook to add. It gets the events after `place`, a position in the stream of events."""

    person_id: PersonId
    name: str
    url: str
    kinds: Sequence[WebhookEventKind]
    secret: str = field(repr=False)
    place: str
    key: str | None = None
    """The id of the request that adds it, so that a repeated request adds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(NewWebhook):
    """A webhook of one person. Times are milliseconds UTC.

    Nothing is sent before `due_at`; `failures` counts the failed attempts in a row.
    """

    id: int
    state: WebhookState
    reason: str
    failures: int
    due_at: int
    created_at: int
    old_secret: str = field(repr=False)
    old_until: int

    def list_secrets(self, now: int) -> list[str]:
        """List the secrets that sign: the present one and, until it expires, the replaced one."""
        return [self.secret, *([self.old_secret] if now < self.old_until else [])]


_COLUMNS = (
    "id, person_id, name, url, kinds, secret, state, reason, place, failures, due_at, key,"
    " created_at, old_secret, old_until"
)
_MOST_REMOVED = 5
"""The most removed webhooks of a person that can be restored."""


def insert(connection: Connection, added: NewWebhook, *, now: int) -> Webhook:
    """Add a webhook in the state active."""
    rows = connection.execute(
        "INSERT INTO webhooks (person_id, name, url, kinds, secret, place, key, state,"
        " created_at) VALUES (:person_id, :name, :url, :kinds, :secret, :place, :key, 'active',"
        " :now)"
        f" RETURNING {_COLUMNS}",
        {**list_fields(added), "kinds": json.dumps(list(added.kinds)), "now": now},
    )
    return read_all(Webhook, rows, kinds=_read_kinds)[0]


def list_of(connection: Connection, *, person_id: PersonId) -> list[Webhook]:
    """List a person's webhooks, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE person_id = :person_id AND removed_at IS NULL"
        " ORDER BY id",
        {"person_id": person_id},
    )
    return read_all(Webhook, rows, kinds=_read_kinds)


def list_removed(connection: Connection, *, person_id: PersonId) -> list[Webhook]:
    """List a person's removed webhooks that can be restored, the last removed first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE person_id = :person_id AND removed_at IS NOT NULL"
        " ORDER BY removed_at DESC, id DESC",
        {"person_id": person_id},
    )
    return read_all(Webhook, rows, kinds=_read_kinds)


def find(connection: Connection, *, person_id: PersonId, webhook_id: int) -> Webhook | None:
    """Return a webhook of a person, unless it was removed."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id AND person_id = :person_id"
        " AND removed_at IS NULL",
        {"id": webhook_id, "person_id": person_id},
    )
    return read_one(Webhook, found, kinds=_read_kinds)


def list_active(connection: Connection) -> list[Webhook]:
    """List the active webhooks of everyone, for the sender."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks INDEXED BY webhooks_active WHERE state = 'active'"
        " AND removed_at IS NULL ORDER BY id"
    )
    return read_all(Webhook, rows, kinds=_read_kinds)


def find_by_key(connection: Connection, *, person_id: PersonId, key: str) -> Webhook | None:
    """Return the webhook that a request of a person has added."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE key = :key AND person_id = :person_id",
        {"key": key, "person_id": person_id},
    )
    return read_one(Webhook, found, kinds=_read_kinds)


def move_place(connection: Connection, *, webhook: Webhook, place: str) -> bool:
    """Record that all events up to a place are stored as deliveries.

    Returns False if the webhook is gone, belongs to another person now, or was moved since it was
    read.
    """
    cursor = connection.execute(
        "UPDATE webhooks SET place = :place WHERE id = :id AND person_id = :person_id"
        " AND place = :before",
        {
            "id": webhook.id,
            "person_id": webhook.person_id,
            "place": place,
            "before": webhook.place,
        },
    )
    return cursor.rowcount == 1


def set_state(
    connection: Connection, *, webhook: Webhook, state: WebhookState, reason: str = ""
) -> None:
    """Pause, resume or end a webhook; its count of failures starts again at 0."""
    connection.execute(
        "UPDATE webhooks SET state = :state, reason = :reason, failures = 0, due_at = 0"
        " WHERE id = :id AND person_id = :person_id",
        {
            "id": webhook.id,
            "person_id": webhook.person_id,
            "state": state,
            "reason": reason,
        },
    )


def pause_all(connection: Connection, *, person_id: PersonId, reason: str) -> None:
    """Pause the active webhooks of a person."""
    connection.execute(
        "UPDATE webhooks SET state = 'paused', reason = :reason"
        " WHERE person_id = :person_id AND state = 'active'",
        {"person_id": person_id, "reason": reason},
    )


def note_result(connection: Connection, *, webhook: Webhook, failures: int, due_at: int) -> None:
    """Record how many attempts failed in a row, and when the next one may be made."""
    connection.execute(
        "UPDATE webhooks SET failures = :failures, due_at = :due_at"
        " WHERE id = :id AND person_id = :person_id",
        {
            "id": webhook.id,
            "person_id": webhook.person_id,
            "failures": failures,
            "due_at": due_at,
        },
    )


def change(
    connection: Connection,
    *,
    webhook: Webhook,
    name: str,
    url: str,
    kinds: Sequence[WebhookEventKind],
) -> None:
    """Change the name, the address and the event kinds of a webhook."""
    connection.execute(
        "UPDATE webhooks SET name = :name, url = :url, kinds = :kinds"
        " WHERE id = :id AND person_id = :person_id",
        {
            "id": webhook.id,
            "person_id": webhook.person_id,
            "name": name,
            "url": url,
            "kinds": json.dumps(list(kinds)),
        },
    )


def replace_secret(
    connection: Connection, *, webhook: Webhook, secret: str, old_until: int
) -> None:
    """Give a webhook a new secret; the old one also signs until `old_until`."""
    connection.execute(
        "UPDATE webhooks SET secret = :secret, old_secret = secret, old_until = :old_until"
        " WHERE id = :id AND person_id = :person_id",
        {
            "id": webhook.id,
            "person_id": webhook.person_id,
            "secret": secret,
            "old_until": old_until,
        },
    )


def drop_old_secrets(connection: Connection, *, now: int) -> int:
    """Delete replaced secrets that no longer sign, also of paused and removed webhooks.

    Returns their number.
    """
    cursor = connection.execute(
        "UPDATE webhooks SET old_secret = '', old_until = 0"
        " WHERE old_secret <> '' AND old_until <= :now",
        {"now": now},
    )
    return cursor.rowcount


def remove(connection: Connection, *, webhook: Webhook, now: int) -> None:
    """Remove a webhook; it can be restored. Delete the person's oldest removed webhooks."""
    values = {"id": webhook.id, "person_id": webhook.person_id, "now": now, "most": _MOST_REMOVED}
    connection.execute(
        "UPDATE webhooks SET removed_at = :now, key = NULL"
        " WHERE id = :id AND person_id = :person_id",
        values,
    )
    connection.execute(
        "DELETE FROM webhooks WHERE person_id = :person_id AND id IN (SELECT id FROM webhooks"
        " WHERE person_id = :person_id AND removed_at IS NOT NULL"
        " ORDER BY removed_at DESC, id DESC LIMIT -1 OFFSET :most)",
        values,
    )


def restore(connection: Connection, *, webhook: Webhook, place: str) -> None:
    """Restore a removed webhook; it gets the events after `place`."""
    connection.execute(
        "UPDATE webhooks SET removed_at = NULL, place = :place, failures = 0, due_at = 0"
        " WHERE id = :id AND person_id = :person_id",
        {"id": webhook.id, "person_id": webhook.person_id, "place": place},
    )


def _read_kinds(text: str) -> tuple[WebhookEventKind, ...]:
    return tuple(json.loads(text))
