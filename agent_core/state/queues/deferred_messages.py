"""Queries over messages that are held back until their person may be disturbed again."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId, RunId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.engine.recovery import checksum


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDeferredMessage:
    """A message to be message: whose, for where, and from when on it may go, in milliseconds."""

    person_id: PersonId
    platform: str
    chat: str
    title: str
    body: str
    release_at: int
    run_id: RunId | None = None
    turn_id: TurnId | None = None
    file: tuple[str, str] | None = None
    """The key of a stored file, and the name it is given; the body is empty then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredMessage(NewDeferredMessage):
    """A message that is message. One that is not whole was damaged on disk, and has no words.

    Its place is "" if that was damaged.
    """

    id: int
    is_whole: bool = True


_COLUMNS = (
    "id, person_id, platform, chat, title, body, release_at, run_id, turn_id, file_key, file_name,"
    " checksum"
)


def defer(connection: Connection, message: NewDeferredMessage, *, now: int) -> None:
    """Hold a message."""
    key, name = message.file or (None, None)
    connection.execute(
        "INSERT INTO deferred_messages (person_id, run_id, turn_id, platform, chat, title, body,"
        " file_key,"
        " file_name, release_at, created_at, checksum) VALUES (:person_id, :run_id, :turn_id,"
        " :platform, :chat, :title, :body, :file_key, :file_name, :release_at, :now, :checksum)",
        {
            "person_id": message.person_id,
            "run_id": message.run_id,
            "turn_id": message.turn_id,
            "platform": message.platform,
            "chat": message.chat,
            "title": message.title,
            "body": message.body,
            "file_key": key,
            "file_name": name,
            "release_at": message.release_at,
            "now": now,
            "checksum": checksum(message.title, message.body),
        },
    )


def list_due(connection: Connection, *, now: int, limit: int) -> list[DeferredMessage]:
    """What may go by now of the people whose turn it is, in the order of its time.

    Those are who the first `limit` messages are for: of each of them all that may go is given.
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
    """What is held for a person, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM deferred_messages WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    ).fetchall()
    return [_read_row(row) for row in rows]


def find_next_at(connection: Connection) -> int | None:
    """When the next of it may go; None if nothing is message."""
    row = connection.execute(
        "SELECT release_at FROM deferred_messages ORDER BY release_at LIMIT 1"
    ).fetchone()
    return row[0] if row and isinstance(row[0], int) else None  # damaged ones come last


def release_sooner(connection: Connection, *, person_id: PersonId, at: int) -> None:
    """A person's quiet time ends earlier than it was thought to."""
    connection.execute(
        "UPDATE deferred_messages SET release_at = :at WHERE person_id = :person_id AND"
        " release_at > :at",
        {"at": at, "person_id": person_id},
    )


def expedite(connection: Connection, *, after: int, at: int) -> None:
    """What is held until later than `after` is held until `at`."""
    connection.execute(
        "UPDATE deferred_messages SET release_at = :at WHERE release_at > :after",
        {"after": after, "at": at},
    )


def postpone(connection: Connection, *, ids: Sequence[int], at: int) -> None:
    """These are held until a later moment."""
    connection.executemany(
        "UPDATE deferred_messages SET release_at = :at WHERE id = :id",
        [{"id": one, "at": at} for one in ids],
    )


def redirect(connection: Connection, *, deferred_id: int, place: tuple[str, str]) -> None:
    """It goes to another place, (platform, chat), once it may."""
    connection.execute(
        "UPDATE deferred_messages SET platform = :platform, chat = :chat WHERE id = :deferred_id",
        {"platform": place[0], "chat": place[1], "deferred_id": deferred_id},
    )


def drop(connection: Connection, *, ids: Sequence[int]) -> None:
    """It is held no more."""
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
    if not (isinstance(fields["platform"], str) and isinstance(fields["chat"], str)):
        fields |= {"platform": "", "chat": ""}
    file = None if key is None else (key, name)
    return DeferredMessage(**fields, file=file, is_whole=is_whole)  # type: ignore[arg-type]
