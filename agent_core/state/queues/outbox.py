"""Queries over outbox messages: each is sent until the platform accepts it."""

import secrets
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.chats import Chat
from agent_core.ids import OutboxId, PersonId, QuestionId, TurnId
from agent_core.state.conversations.questions import Choice, dump_choices, load_choices
from agent_core.state.engine.connection import checksum, list_fields
from agent_core.state.engine.database import Connection

OutboxState = Literal["owed", "sending", "sent", "unsure", "dead"]
OutboxKind = Literal["message", "status"]
"""A message that stays; or one that is deleted: the status line of a running turn, at its end, and
a live message that was withdrawn.
"""

IS_OPEN = "state IN ('owed', 'sending', 'unsure')"
"""The condition of a partial index; SQLite uses the index only if a query repeats it verbatim."""
_CONDITIONS: dict[OutboxState, str] = {
    "owed": f"{IS_OPEN} AND state = 'owed'",
    "sending": f"{IS_OPEN} AND state = 'sending'",
    "unsure": f"{IS_OPEN} AND state = 'unsure'",
    "dead": "state = 'dead'",
    "sent": "state = 'sent'",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOutboxMessage:
    """A message to enqueue, with its chat, person and content."""

    chat: Chat
    body: str
    person_id: PersonId | None = None
    turn_id: TurnId | None = None
    part: int = 0
    answers: str | None = None
    is_silent: bool = False
    kind: OutboxKind = "message"
    buttons: tuple[Choice, ...] = ()
    question_id: QuestionId | None = None
    file: tuple[str, str] | None = None
    """The key of a stored file that the message carries, and its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow(NewOutboxMessage):
    """An outbox message. Order is kept per chat.

    An `is_live` row shows a running turn: its body is not final and is not queued. `message_id` is
    the platform's id, once it is known. `shown` is the body of an attempt with an unknown outcome,
    `anchor` the newest platform id known before that attempt. A `status` row that is no longer live
    waits for its deletion. Platforms recognise a repeat by the `key`, so two databases must not
    make the same key. `created_at` is in milliseconds UTC.
    """

    id: OutboxId
    key: str
    is_live: bool
    state: OutboxState
    message_id: str | None
    shown: str | None
    anchor: str | None
    attempts: int
    reason: str
    created_at: int
    is_whole: bool
    """False if the stored body is damaged; it must not be sent."""


_COLUMNS = (
    *("id", "platform", "chat", "turn_id", "person_id", "part", "body", "answers", "is_silent"),
    *("is_live", "state", "message_id", "shown", "anchor", "attempts", "reason", "kind"),
    *("buttons", "question_id", "file_key", "file_name", "key", "created_at", "checksum"),
)
ROW = ", ".join(_COLUMNS)
_KEY_BYTES = 9
"""Random bytes that make 12 characters. A platform remembers keys for minutes, so that a collision
of 72 random bits is not to be expected.
"""
_GIVEN = tuple(name for name in _COLUMNS if name not in ("id", "checksum", "message_id"))
_INSERT = (  # RETURNING would double the time of this statement
    f"INSERT INTO outbox ({', '.join(_GIVEN)}, checksum)"
    f" VALUES ({', '.join(f':{name}' for name in _GIVEN)}, :checksum)"
)


def readdress(row: OutboxRow, chat: Chat) -> NewOutboxMessage:
    """Make a row's message for another platform and chat, without its buttons and question."""
    return NewOutboxMessage(
        chat=chat,
        body=row.body,
        person_id=row.person_id,
        turn_id=row.turn_id,
        part=row.part,
        is_silent=row.is_silent,
        file=row.file,
    )


def read_row(row: tuple[object, ...]) -> OutboxRow:
    """Build a row from the columns of `ROW`."""
    fields = dict(zip(_COLUMNS, row, strict=True))
    expected = fields.pop("checksum")
    body = fields["body"]
    is_whole = isinstance(body, str) and checksum(body) == expected
    fields["is_silent"] = bool(fields["is_silent"])
    fields["is_live"] = bool(fields["is_live"])
    fields["buttons"] = load_choices(str(fields["buttons"]))
    file_key, file_name = fields.pop("file_key"), fields.pop("file_name")
    fields["file"] = (file_key, file_name or "") if file_key else None
    fields["chat"] = Chat(platform=fields.pop("platform"), address=fields.pop("chat"))  # type: ignore[arg-type]
    return OutboxRow(**fields, is_whole=is_whole)  # type: ignore[arg-type]


def enqueue(connection: Connection, outgoing: NewOutboxMessage, *, now: int) -> OutboxRow:
    """Enqueue a message."""
    return _insert(connection, outgoing, state="owed", is_live=False, now=now)


def enqueue_sending(
    connection: Connection, outgoing: NewOutboxMessage, *, anchor: str | None = None, now: int
) -> OutboxRow:
    """Enqueue a message that is sent at once, so that its state is sending; see `mark_sending`."""
    return _insert(connection, outgoing, state="sending", is_live=False, anchor=anchor, now=now)


def open_live(
    connection: Connection, outgoing: NewOutboxMessage, *, anchor: str | None = None, now: int
) -> OutboxRow:
    """Enqueue the live message of a running turn, just before it is sent for the first time."""
    return _insert(connection, outgoing, state="sending", is_live=True, anchor=anchor, now=now)


def _insert(
    connection: Connection,
    outgoing: NewOutboxMessage,
    *,
    state: OutboxState,
    is_live: bool,
    anchor: str | None = None,
    now: int,
) -> OutboxRow:
    fields = list_fields(outgoing) | {
        "key": secrets.token_urlsafe(_KEY_BYTES),
        "is_live": is_live,
        "state": state,
        "message_id": None,
        "shown": outgoing.body if state == "sending" else None,
        "anchor": anchor,
        "attempts": 0,
        "reason": "",
        "created_at": now,
    }
    file_key, file_name = outgoing.file or (None, None)
    values = {
        "platform": outgoing.chat.platform,
        "chat": outgoing.chat.address,
        "buttons": dump_choices(outgoing.buttons) if outgoing.buttons else "",
        "file_key": file_key,
        "file_name": file_name,
        "checksum": checksum(outgoing.body),
    }
    row_id = OutboxId(connection.execute(_INSERT, fields | values).lastrowid or 0)
    return OutboxRow(id=row_id, is_whole=True, **fields)


def find_live(
    connection: Connection, *, turn_id: TurnId, kind: OutboxKind = "message"
) -> OutboxRow | None:
    """Return the live message of a turn, or its status line, if there is one."""
    row = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE turn_id = :turn_id AND is_live = 1 AND kind = :kind",
        {"turn_id": turn_id, "kind": kind},
    ).fetchone()
    return read_row(row) if row else None


def find_visible(
    connection: Connection, *, turn_id: TurnId
) -> tuple[OutboxRow | None, OutboxRow | None]:
    """Return the live message and the status line of a turn, each if there is one."""
    rows = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE turn_id = :turn_id AND is_live = 1", {"turn_id": turn_id}
    ).fetchall()
    found = {live.kind: live for live in map(read_row, rows)}
    return found.get("message"), found.get("status")


def find_of_question(connection: Connection, *, question_id: QuestionId) -> OutboxRow | None:
    """Return the newest message that asks a question."""
    row = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE question_id = :question_id ORDER BY id DESC LIMIT 1",
        {"question_id": question_id},
    ).fetchone()
    return read_row(row) if row else None


def find_message(
    connection: Connection, *, platform: str, chat: str, message_id: str
) -> OutboxRow | None:
    """Return the row of a message by its id on the platform."""
    row = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE platform = :platform AND chat = :chat"
        " AND message_id = :message_id ORDER BY id DESC LIMIT 1",
        {"platform": platform, "chat": chat, "message_id": message_id},
    ).fetchone()
    return read_row(row) if row else None


def list_buttoned(connection: Connection, *, turn_id: TurnId) -> list[OutboxRow]:
    """List the messages of a turn that have buttons."""
    rows = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE turn_id = :turn_id AND buttons <> '' ORDER BY id",
        {"turn_id": turn_id},
    ).fetchall()
    return [read_row(row) for row in rows]


def list_newest_shown(connection: Connection, *, chat: Chat, limit: int) -> list[OutboxRow]:
    """List the newest messages that a chat shows, newest first."""
    rows = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE platform = :platform AND chat = :chat"
        " AND message_id IS NOT NULL AND kind = 'message' ORDER BY id DESC LIMIT :limit",
        {"platform": chat.platform, "chat": chat.address, "limit": limit},
    ).fetchall()
    return [read_row(row) for row in rows]


def find_shown(connection: Connection, *, chat: Chat, message_id: str | None) -> OutboxRow | None:
    """Return the row of a message by its id on the platform; without an id, of the newest one."""
    if message_id is not None:
        place = {"platform": chat.platform, "chat": chat.address}
        return find_message(connection, **place, message_id=message_id)
    return next(iter(list_newest_shown(connection, chat=chat, limit=1)), None)


def revise(
    connection: Connection,
    *,
    outbox_id: OutboxId,
    body: str,
    buttons: tuple[Choice, ...] = (),
    outcome_at: int | None = None,
) -> OutboxRow:
    """Change the body of a message and queue it again; if it was sent, it will be edited.

    It carries no file any more. A message that is being sent, or unsure, keeps its state and is
    queued afterwards. The returned row has the state unsure: another attempt may be running, so the
    sender must read the row again. `outcome_at` is the place in a question's body from which on its
    person has to learn of it; see `tell_apart`.
    """
    row = connection.execute(
        "UPDATE outbox SET body = :body, checksum = :checksum, buttons = :buttons,"
        " file_key = NULL, file_name = NULL, outcome_at = :outcome_at,"
        " state = CASE WHEN state = 'sent' THEN 'owed' ELSE state END"
        f" WHERE id = :id RETURNING {ROW}",
        {
            "id": outbox_id,
            "body": body,
            "checksum": checksum(body),
            "buttons": dump_choices(buttons) if buttons else "",
            "outcome_at": outcome_at,
        },
    ).fetchone()
    return replace(read_row(row), state="unsure")


def find(connection: Connection, *, outbox_id: OutboxId) -> OutboxRow | None:
    """Return the present row, if it exists."""
    row = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE id = :id", {"id": outbox_id}
    ).fetchone()
    return read_row(row) if row else None


def find_by_key(
    connection: Connection, *, platform: str, key: str, is_open: bool
) -> OutboxRow | None:
    """Return the message with a key, if its row still exists.

    With `is_open`, only one that is queued, being sent or unsure, which an index knows. Without it,
    the whole table is read: few messages fail after they were accepted.
    """
    wanted = f" AND {IS_OPEN}" if is_open else ""
    row = connection.execute(
        f"SELECT {ROW} FROM outbox WHERE key = :key AND platform = :platform{wanted}",
        {"key": key, "platform": platform},
    ).fetchone()
    return read_row(row) if row else None


def finalize_live(
    connection: Connection, *, outbox_id: OutboxId, body: str, buttons: tuple[Choice, ...] = ()
) -> OutboxRow:
    """Set the final body of the live message and queue it.

    If the outcome of its first attempt is unknown, it stays unsure, so that it is reconciled first.
    """
    row = connection.execute(
        "UPDATE outbox SET body = :body, checksum = :checksum, buttons = :buttons, is_live = 0,"
        " state = CASE WHEN state IN ('sending', 'unsure') THEN 'unsure' ELSE 'owed' END"
        f" WHERE id = :id RETURNING {ROW}",
        {
            "id": outbox_id,
            "body": body,
            "checksum": checksum(body),
            "buttons": dump_choices(buttons) if buttons else "",
        },
    ).fetchone()
    return read_row(row)


def bind(connection: Connection, row: OutboxRow, *, question_id: QuestionId) -> OutboxRow:
    """Make a message that of a question, too, and return it."""
    connection.execute(
        "UPDATE outbox SET question_id = :question_id WHERE id = :id",
        {"question_id": question_id, "id": row.id},
    )
    return replace(row, question_id=question_id)


def withdraw_live(connection: Connection, *, outbox_id: OutboxId) -> OutboxRow:
    """Queue a live message, or a status line, for its deletion.

    If the outcome of its first attempt is unknown, it stays unsure, so that it is reconciled first.
    """
    connection.execute("UPDATE outbox SET kind = 'status' WHERE id = :id", {"id": outbox_id})
    return finalize_live(connection, outbox_id=outbox_id, body="")


def start_over(
    connection: Connection, *, outbox_id: OutboxId, leaves: bool, now: int
) -> tuple[OutboxRow, OutboxRow | None]:
    """Queue a message to be sent again, as another one; return it.

    With `leaves`, the platform still has the first one: also return its deletion. The new key keeps
    Discord from taking the second message for a repetition of the first.
    """
    row = connection.execute(f"SELECT {ROW} FROM outbox WHERE id = :id", {"id": outbox_id})
    first = read_row(row.fetchone())
    mark_missing(connection, outbox_id=outbox_id)
    key = secrets.token_urlsafe(_KEY_BYTES)
    connection.execute("UPDATE outbox SET key = :key WHERE id = :id", {"key": key, "id": outbox_id})
    second = replace(first, key=key, state="owed", message_id=None, shown=None)
    if not leaves or first.message_id is None:
        return second, None
    outgoing = NewOutboxMessage(
        chat=first.chat,
        body="",
        person_id=first.person_id,
        turn_id=first.turn_id,
        kind="status",
    )
    left = enqueue(connection, outgoing, now=now)
    mark_found(connection, outbox_id=left.id, message_id=first.message_id)
    return second, replace(left, message_id=first.message_id)


def tell_apart(connection: Connection, *, outbox_id: OutboxId, now: int) -> OutboxRow | None:
    """Queue the outcome of a question as a silent message of its own, and return it.

    Its message can't be edited, and stays as it is. Returns None if nobody has to learn of it.
    """
    found = connection.execute(  # the first message stays on record
        "UPDATE outbox SET versions = versions || ' ' || COALESCE(message_id, '')"
        " WHERE id = :id AND outcome_at IS NOT NULL RETURNING outcome_at",
        {"id": outbox_id},
    ).fetchone()
    if found is None:
        return None
    row, _ = start_over(connection, outbox_id=outbox_id, leaves=False, now=now)
    body = row.body[found[0] :]
    connection.execute(
        "UPDATE outbox SET body = :body, checksum = :checksum, outcome_at = NULL, is_silent = 1,"
        " answers = NULL WHERE id = :id",
        {"id": outbox_id, "body": body, "checksum": checksum(body)},
    )
    return replace(row, body=body, is_silent=True, answers=None)


def withdraw_lone_status(connection: Connection) -> None:
    """Queue the status lines that an earlier process left without a turn for their deletion."""
    rows = connection.execute(
        "SELECT id FROM outbox WHERE is_live = 1 AND kind = 'status' AND turn_id IS NULL"
    ).fetchall()
    for row in rows:
        withdraw_live(connection, outbox_id=OutboxId(row[0]))


def list_open(connection: Connection) -> list[OutboxRow]:
    """List all messages that are queued, being sent or unsure: the unsure first, then by age."""
    query = f"SELECT {ROW} FROM outbox WHERE {IS_OPEN} ORDER BY state <> 'unsure', id"
    rows = connection.execute(query).fetchall()
    return [read_row(row) for row in rows]


def list_under_way(connection: Connection) -> frozenset[OutboxId]:
    """List the messages that an earlier process may have been sending or editing when it ended."""
    live = "is_live = 1"
    known = f"{IS_OPEN} AND (state = 'sending' OR message_id IS NOT NULL)"
    sql = f"SELECT id FROM outbox WHERE {live} UNION SELECT id FROM outbox WHERE {known}"
    return frozenset(OutboxId(row[0]) for row in connection.execute(sql))


def mark_sending(
    connection: Connection, *, outbox_id: OutboxId, anchor: str | None = None
) -> OutboxRow | None:
    """Record that an attempt to send the body starts; the platform's new id will be after `anchor`.

    Returns the row to send, because the body may have changed since it was read. Returns None if
    the message is not queued.
    """
    row = connection.execute(
        "UPDATE outbox SET state = 'sending', shown = body, anchor = COALESCE(:anchor, anchor)"
        f" WHERE id = :id AND state = 'owed' RETURNING {ROW}",
        {"id": outbox_id, "anchor": anchor},
    ).fetchone()
    return read_row(row) if row else None


def mark_sent(
    connection: Connection,
    *,
    outbox_id: OutboxId,
    message_id: str,
    body: str,
    version: str | None = None,
    now: int,
) -> None:
    """Record that the platform has `body` under this id; a newer body stays queued.

    `version` is the id of the edit that showed it, on platforms where an edit has one.
    """
    connection.execute(
        "UPDATE outbox SET state = CASE WHEN body = :body THEN 'sent' ELSE 'owed' END,"
        " message_id = :message_id, versions = versions || :version, shown = NULL, sent_at = :now"
        " WHERE id = :id",
        {
            "id": outbox_id,
            "message_id": message_id,
            "body": body,
            "version": f" {version}" if version else "",
            "now": now,
        },
    )


def mark_found(connection: Connection, *, outbox_id: OutboxId, message_id: str) -> None:
    """Record that an unsure message was found on the platform, and queue its present body."""
    connection.execute(
        "UPDATE outbox SET state = CASE WHEN is_live = 1 THEN 'sent' ELSE 'owed' END,"
        " message_id = :message_id, shown = NULL WHERE id = :id",
        {"id": outbox_id, "message_id": message_id},
    )


def mark_missing(connection: Connection, *, outbox_id: OutboxId) -> None:
    """Record that an unsure message is not on the platform, and queue it again."""
    connection.execute(
        "UPDATE outbox SET state = 'owed', message_id = NULL, shown = NULL WHERE id = :id",
        {"id": outbox_id},
    )


def mark_repeated(connection: Connection, *, outbox_id: OutboxId, body: str) -> None:
    """Queue an unsure message that can't be looked up; its body says that it may be a repeat."""
    connection.execute(
        "UPDATE outbox SET state = 'owed', message_id = NULL, shown = NULL, body = :body,"
        " checksum = :checksum WHERE id = :id",
        {"id": outbox_id, "body": body, "checksum": checksum(body)},
    )


def mark_waiting(connection: Connection, *, outbox_id: OutboxId, reason: str) -> None:
    """Record that an attempt changed nothing on the platform; the message stays queued."""
    connection.execute(
        "UPDATE outbox SET state = 'owed', shown = NULL, reason = :reason,"
        " attempts = attempts + 1 WHERE id = :id",
        {"id": outbox_id, "reason": reason},
    )


def mark_unsure(connection: Connection, *, outbox_id: OutboxId, reason: str) -> None:
    """Record that the outcome of an attempt is unknown, unless a report has told it meanwhile.

    A new doubt counts its looks from here: earlier attempts must not use them up.
    """
    change = (
        "state = 'unsure', reason = :reason,"
        " attempts = CASE WHEN state = 'unsure' THEN attempts + 1 ELSE 1 END"
    )
    connection.execute(
        f"UPDATE outbox SET {change} WHERE id = :id AND state <> 'sent'",
        {"id": outbox_id, "reason": reason},
    )


def mark_interrupted(connection: Connection) -> None:
    """Mark the attempts of an earlier process as unsure, as `mark_unsure` does."""
    connection.execute(
        f"UPDATE outbox SET state = 'unsure', attempts = 1 WHERE {IS_OPEN} AND state = 'sending'"
    )


def mark_dead(connection: Connection, *, outbox_id: OutboxId, reason: str) -> None:
    """Set an undeliverable message aside for `/retry`."""
    change = "state = 'dead', reason = :reason"
    connection.execute(
        f"UPDATE outbox SET {change} WHERE id = :id", {"id": outbox_id, "reason": reason}
    )


def withdraw(connection: Connection, *, outbox_id: OutboxId) -> bool:
    """Delete a message that its platform never got; False if the platform may have it."""
    found = connection.execute(
        "DELETE FROM outbox WHERE id = :id AND state IN ('owed', 'dead') AND message_id IS NULL",
        {"id": outbox_id},
    )
    return found.rowcount > 0


def write_off(connection: Connection, *, outbox_id: OutboxId, reason: str) -> None:
    """Set a message aside permanently: its content is lost, and `/retry` must not find it."""
    change = "state = 'dead', reason = :reason, person_id = NULL"
    connection.execute(
        f"UPDATE outbox SET {change} WHERE id = :id", {"id": outbox_id, "reason": reason}
    )


def drop_live(connection: Connection, *, outbox_id: OutboxId) -> None:
    """Delete a live message that was never shown."""
    connection.execute("DELETE FROM outbox WHERE id = :id AND is_live = 1", {"id": outbox_id})


def drop_status(connection: Connection, *, outbox_id: OutboxId) -> None:
    """Forget a status line or withdrawn message that was deleted, or never shown."""
    connection.execute("DELETE FROM outbox WHERE id = :id AND kind = 'status'", {"id": outbox_id})


def list_newest_ids(connection: Connection, *, platform: str, chats: tuple[str, str]) -> list[str]:
    """Return the ids of the 20 newest messages that certainly reached a range of chats."""
    rows = connection.execute(
        "SELECT message_id FROM outbox WHERE platform = :platform AND chat BETWEEN :first AND :last"
        " AND message_id IS NOT NULL ORDER BY id DESC LIMIT 20",
        {"platform": platform, "first": chats[0], "last": chats[1]},
    ).fetchall()
    return [row[0] for row in rows]


def list_all_newest_ids(connection: Connection, *, platform: str) -> list[str]:
    """Return the ids that a platform has among the 20,000 newest messages to all platforms.

    Those of their versions are included. So many are more than those of a day, and a look-up
    touches nothing that is older.
    """
    rows = connection.execute(
        "SELECT message_id || versions FROM (SELECT platform, message_id, versions FROM outbox"
        " ORDER BY id DESC LIMIT 20000) AS newest"
        " WHERE platform = :platform AND message_id IS NOT NULL",
        {"platform": platform},
    ).fetchall()
    return [one for row in rows for one in row[0].split()]


def count(connection: Connection, *, state: OutboxState) -> int:
    """Count the messages in a state; for `sent`, this takes long in an old database."""
    query = f"SELECT COUNT(*) FROM outbox WHERE {_CONDITIONS[state]} AND is_live = 0"
    return int(connection.execute(query).fetchone()[0])


def has_open(connection: Connection, *, platform: str) -> bool:
    """Return whether a platform has queued or unfinished messages."""
    row = connection.execute(
        f"SELECT 1 FROM outbox WHERE platform = :platform AND {IS_OPEN}"
        " UNION ALL SELECT 1 FROM outbox WHERE platform = :platform AND is_live = 1 LIMIT 1",
        {"platform": platform},
    ).fetchone()
    return row is not None
