"""Queries over files: the bytes of attachments and of files that turns make, by their hash."""

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
    """A file that a turn sends with its answer, under a name without a path."""

    key: str
    name: str
    call_id: CallId


def make_key(data: bytes) -> str:
    """Return the key of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def store(connection: Connection, *, data: bytes, media_type: str, now: int) -> str:
    """Store the bytes of a file and return their key; equal bytes are stored once.

    Storing a file again makes it count as new, so that a running retention sweep or redaction does
    not remove it.
    """
    key = make_key(data)
    connection.execute(
        "INSERT INTO files (key, media_type, data, created_at)"
        " VALUES (:key, :media_type, :data, :now) ON CONFLICT (key) DO UPDATE SET"
        " created_at = excluded.created_at,"
        " data = CASE WHEN length(files.data) = 0 THEN excluded.data ELSE files.data END",
        {"key": key, "media_type": media_type, "data": data, "now": now},
    )
    return key


def find(connection: Connection, *, key: str) -> StoredFile | None:
    """Return the file of a key; None if it is missing or its bytes are damaged."""
    row = connection.execute(
        "SELECT media_type, data FROM files WHERE key = :key", {"key": key}
    ).fetchone()
    if row is None or make_key(row[1]) != key:
        return None
    return StoredFile(key=key, media_type=row[0], data=row[1])


def exists(connection: Connection, *, key: str) -> bool:
    """Return whether the bytes of a file are stored, without checking that they are intact."""
    row = connection.execute(
        "SELECT 1 FROM files WHERE key = :key AND length(data) > 0", {"key": key}
    ).fetchone()
    return row is not None


def attach(
    connection: Connection, *, turn_id: TurnId, call_id: CallId, key: str, name: str, now: int
) -> None:
    """Attach a file to a turn's answer; a repeated call changes nothing."""
    connection.execute(
        "INSERT INTO turn_files (turn_id, call_id, file_key, name, created_at)"
        " VALUES (:turn_id, :call_id, :key, :name, :now) ON CONFLICT (turn_id, call_id) DO NOTHING",
        {"turn_id": turn_id, "call_id": call_id, "key": key, "name": name, "now": now},
    )


def list_of_turn(connection: Connection, *, turn_id: TurnId) -> list[TurnFile]:
    """List the files of a turn in the order in which they were made."""
    rows = connection.execute(
        "SELECT file_key, name, call_id FROM turn_files WHERE turn_id = :turn_id ORDER BY id",
        {"turn_id": turn_id},
    ).fetchall()
    return [TurnFile(key=key, name=name, call_id=CallId(call)) for key, name, call in rows]
