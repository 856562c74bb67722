"""Queries over outgoing webhooks: where the events of a person go."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection

EventKind = Literal["turn.started", "turn.ended", "memory.changed", "question.asked"]
"""The kinds of events that happen to a person."""
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
State = Literal["active", "paused", "dead"]
"""`dead` is a webhook whose receiver accepted nothing for long, or is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWebhook:
    """A webhook to add. `place` is the place in the stream of events behind which it begins."""

    person_id: PersonId
    name: str
    url: str
    kinds: Sequence[EventKind]
    secret: str = field(repr=False)
    place: str
    key: str | None = None
    """The request that adds it, so that a repeat adds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(NewWebhook):
    """A webhook of one person. Times are milliseconds UTC.

    Nothing is sent before `due_at`; `failures` counts the failed attempts in a row.
    """

    id: int
    state: State
    reason: str
    failures: int
    due_at: int
    created_at: int


_COLUMNS = (
    "id, person_id, name, url, kinds, secret, state, reason, place, failures, due_at, key,"
    " created_at"
)


def insert(connection: Connection, added: NewWebhook, *, now: int) -> Webhook:
    """Add a webhook, which is active."""
    row = connection.execute(
        "INSERT INTO webhooks (person_id, name, url, kinds, secret, place, key, state,"
        " created_at) VALUES (:person_id, :name, :url, :kinds, :secret, :place, :key, 'active',"
        " :now)"
        f" RETURNING {_COLUMNS}",
        {
            "person_id": added.person_id,
            "name": added.name,
            "url": added.url,
            "kinds": json.dumps(list(added.kinds)),
            "secret": added.secret,
            "place": added.place,
            "key": added.key,
            "now": now,
        },
    ).fetchone()
    return _webhook(row)


def list_of(connection: Connection, *, person_id: PersonId) -> list[Webhook]:
    """List a person's webhooks, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    ).fetchall()
    return [_webhook(row) for row in rows]


def find(connection: Connection, *, person_id: PersonId, webhook_id: int) -> Webhook | None:
    """Return a webhook of a person."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id AND person_id = :person_id",
        {"id": webhook_id, "person_id": person_id},
    ).fetchone()
    return _webhook(row) if row else None


def list_active(connection: Connection) -> list[Webhook]:
    """List everyone's active webhooks, for what sends."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks INDEXED BY webhooks_active WHERE state = 'active'"
        " ORDER BY id"
    ).fetchall()
    return [_webhook(row) for row in rows]


def find_by_key(connection: Connection, *, person_id: PersonId, key: str) -> Webhook | None:
    """Return the webhook that a request of a person has added."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE key = :key AND person_id = :person_id",
        {"key": key, "person_id": person_id},
    ).fetchone()
    return _webhook(row) if row else None


def move_place(connection: Connection, *, webhook: Webhook, place: str) -> bool:
    """Note that all events up to a place are stored; False if the webhook is not there any more,
    is of another person by now, or was moved since it was read.
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


def set_state(connection: Connection, *, webhook: Webhook, state: State, reason: str = "") -> None:
    """Pause, resume or end a webhook; a resumed one begins without failures."""
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
    """Note how many attempts failed in a row, and when the next one may be made."""
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


def delete(connection: Connection, *, webhook: Webhook) -> None:
    """Delete a webhook with its deliveries."""
    connection.execute(
        "DELETE FROM webhooks WHERE id = :id AND person_id = :person_id",
        {"id": webhook.id, "person_id": webhook.person_id},
    )


def move(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move a person's webhooks to the person they were merged into."""
    connection.execute(
        "UPDATE webhooks SET person_id = :kept WHERE person_id = :absorbed",
        {"kept": kept, "absorbed": absorbed},
    )


def _webhook(row: tuple[object, ...]) -> Webhook:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    values["kinds"] = tuple(json.loads(str(values["kinds"])))
    return Webhook(**values)  # type: ignore[arg-type]
