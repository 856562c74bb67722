"""Queries over files: the bytes of what came in and of what a turn gives out, by their hash."""

import hashlib
from dataclasses import dataclass

from agent_core.ids import CallId, TurnId
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file. `key` is the SHA-256 of its bytes, in hexadecimal."""

    key: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFile:
    """A file that a turn gives out with its answer, under a name without a path."""

    key: str
    name: str
    call_id: CallId


def keep(connection: Connection, *, data: bytes, media_type: str, now: int) -> str:
    """Keep the bytes of a file and give their key; the same bytes are kept once.

    What comes again is as good as new: nothing may sweep it away as old, or as forgotten.
    """
    key = hashlib.sha256(data).hexdigest()
    connection.execute(
        "INSERT INTO files (key, media_type, data, created_at)"
        " VALUES (:key, :media_type, :data, :now) ON CONFLICT (key) DO UPDATE SET"
        " created_at = excluded.created_at,"
        " data = CASE WHEN length(files.data) = 0 THEN excluded.data ELSE files.data END",
        {"key": key, "media_type": media_type, "data": data, "now": now},
    )
    return key


def find(connection: Connection, *, key: str) -> StoredFile | None:
    """The file of a key; None if there is none, or its bytes are not what was kept."""
    row = connection.execute(
        "SELECT media_type, data FROM files WHERE key = :key", {"key": key}
    ).fetchone()
    if row is None or hashlib.sha256(row[1]).hexdigest() != key:
        return None
    return StoredFile(key=key, media_type=row[0], data=row[1])


def exists(connection: Connection, *, key: str) -> bool:
    """True for a file whose bytes are still kept; whether they are whole is not looked at."""
    row = connection.execute(
        "SELECT 1 FROM files WHERE key = :key AND length(data) > 0", {"key": key}
    ).fetchone()
    return row is not None


def give(
    connection: Connection, *, turn_id: TurnId, call_id: CallId, key: str, name: str, now: int
) -> None:
    """Let a turn's answer carry a file; the same call made again changes nothing."""
    connection.execute(
        "INSERT INTO turn_files (turn_id, call_id, file_key, name, created_at)"
        " VALUES (:turn_id, :call_id, :key, :name, :now) ON CONFLICT (turn_id, call_id) DO NOTHING",
        {"turn_id": turn_id, "call_id": call_id, "key": key, "name": name, "now": now},
    )


def list_of_turn(connection: Connection, *, turn_id: TurnId) -> list[TurnFile]:
    """What a turn gives out, in the order in which it was made."""
    rows = connection.execute(
        "SELECT file_key, name, call_id FROM turn_files WHERE turn_id = :turn_id ORDER BY id",
        {"turn_id": turn_id},
    ).fetchall()
    return [TurnFile(key=key, name=name, call_id=CallId(call)) for key, name, call in rows]
