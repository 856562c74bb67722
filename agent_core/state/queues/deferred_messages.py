"""Queries over unsolicited messages that wait for the end of their person's quiet hours."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.chats import Chat
from agent_core.ids import JobId, PersonId, RunId, TurnId
from agent_core.state.engine.connection import checksum, list_fields
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDeferredMessage:
    """A message to defer, with its person, its chat, and its release time in milliseconds."""

    person_id: PersonId
    chat: Chat
    title: str
    body: str
    release_at: int
    run_id: RunId | None = None
    turn_id: TurnId | None = None
    file: tuple[str, str] | None = None
    """The key of a stored file, and the file's name in the chat; the body is then empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredMessage(NewDeferredMessage):
    """A stored deferred message. Of a damaged one, the text is missing; a damaged chat is empty."""

    id: int
    is_whole: bool = True


_COLUMNS = (
    "id, person_id, platform, chat, title, body, release_at, run_id, turn_id, file_key, file_name,"
    " checksum"
)


def list_reminders(connection: Connection, *, person_id: PersonId) -> list[tuple[int, str, JobId]]:
    """List a person's results of jobs that wait, as (release time in milliseconds, title, job)."""
    rows = connection.execute(
        "SELECT MIN(release_at), jobs.title, jobs.id FROM deferred_messages"
        " JOIN job_runs ON job_runs.id = run_id JOIN jobs ON jobs.id = job_runs.job_id"
        " WHERE deferred_messages.person_id = :person_id GROUP BY jobs.id ORDER BY 1",
        {"person_id": person_id},
    )
    return [(row[0], row[1], JobId(row[2])) for row in rows]


def defer(connection: Connection, message: NewDeferredMessage, *, now: int) -> None:
    """Defer a message."""
    key, name = message.file or (None, None)
    connection.execute(
        "INSERT INTO deferred_messages (person_id, run_id, turn_id, platform, chat, title, body,"
        " file_key,"
        " file_name, release_at, created_at, checksum) VALUES (:person_id, :run_id, :turn_id,"
        " :platform, :chat, :title, :body, :file_key, :file_name, :release_at, :now, :checksum)",
        {
            **list_fields(message),
            "platform": message.chat.platform,
            "chat": message.chat.address,
            "file_key": key,
            "file_name": name,
            "now": now,
            "checksum": checksum(message.title, message.body),
        },
    )


def list_due(connection: Connection, *, now: int, limit: int) -> list[DeferredMessage]:
    """List the messages that are due, in the order of their release.

    Of each person among the first `limit` messages, all due messages are listed.
    """
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM deferred_messages WHERE person_id IN (SELECT person_id FROM"
        " deferred_messages"
        " WHERE release_at <= :now ORDER BY release_at, id LIMIT :limit)"
        " AND release_at <= :now ORDER BY release_at, id",
        {"now": now, "limit": limit},
    ).fetchall()
    return [_read_row(row) for row in rows]


def list_of_person(connection: Connection, *, person_id: PersonId) -> list[DeferredMessage]:
    """List the deferred messages of a person, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM deferred_messages WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    ).fetchall()
    return [_read_row(row) for row in rows]


def find_next_at(connection: Connection) -> int | None:
    """Return the release time of the next message; None if none is deferred."""
    row = connection.execute(
        "SELECT release_at FROM deferred_messages ORDER BY release_at LIMIT 1"
    ).fetchone()
    return row[0] if row and isinstance(row[0], int) else None  # damaged rows come last


def release_sooner(connection: Connection, *, person_id: PersonId, at: int) -> None:
    """Release a person's messages no later than `at`, because their quiet hours end earlier."""
    connection.execute(
        "UPDATE deferred_messages SET release_at = :at WHERE person_id = :person_id AND"
        " release_at > :at",
        {"at": at, "person_id": person_id},
    )


def expedite(connection: Connection, *, after: int, at: int) -> None:
    """Move release times later than `after` to `at`."""
    connection.execute(
        "UPDATE deferred_messages SET release_at = :at WHERE release_at > :after",
        {"after": after, "at": at},
    )


def postpone(connection: Connection, *, ids: Sequence[int], at: int) -> None:
    """Move the release of messages to `at`."""
    connection.executemany(
        "UPDATE deferred_messages SET release_at = :at WHERE id = :id",
        [{"id": one, "at": at} for one in ids],
    )


def redirect(connection: Connection, *, deferred_id: int, chat: Chat) -> None:
    """Move a message to another chat."""
    connection.execute(
        "UPDATE deferred_messages SET platform = :platform, chat = :chat WHERE id = :deferred_id",
        {"platform": chat.platform, "chat": chat.address, "deferred_id": deferred_id},
    )


def drop(connection: Connection, *, ids: Sequence[int]) -> None:
    """Delete messages, in the transaction that enqueues or discards them."""
    connection.executemany(
        "DELETE FROM deferred_messages WHERE id = :id", [{"id": one} for one in ids]
    )


def _read_row(row: tuple[object, ...]) -> DeferredMessage:
    fields = dict(zip((name.strip() for name in _COLUMNS.split(",")), row, strict=True))
    expected = fields.pop("checksum")
    key, name = fields.pop("file_key"), fields.pop("file_name")
    title, body = fields["title"], fields["body"]
    is_text = isinstance(title, str) and isinstance(body, str)
    is_whole = is_text and checksum(title, body) == expected  # type: ignore[arg-type]
    if not is_whole:
        fields |= {"title": "", "body": ""}
        key = None
    platform, address = fields.pop("platform"), fields.pop("chat")
    if not (isinstance(platform, str) and isinstance(address, str)):
        platform = address = ""
    chat = Chat(platform=platform, address=address)
    file = None if key is None else (key, name)
    return DeferredMessage(**fields, chat=chat, file=file, is_whole=is_whole)  # type: ignore[arg-type]
