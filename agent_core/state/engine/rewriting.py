"""Rewrite the file of a database without what deleted rows left in it, while others go on writing.

SQLite's own `VACUUM` holds up every write, and its last part can't be stopped. So a copy is made
beside the writer, and goes back over the file page by page, in one transaction that is rolled back
as soon as somebody writes.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

_ENDING = ".rewritten"
_PAGES = 64
"""Pages of 4 KB between two looks whether somebody writes; they take some milliseconds."""
_BETWEEN_SYNCS = 16
"""Looks between two flushes of the WAL, so that the commit at the end has little to flush."""

MustStop = Callable[[], bool]
"""Returns True once somebody writes; called on any thread."""


def place_copy(path: Path) -> Path:
    """Return where the copy of a database lies until it goes back."""
    return path.with_name(f"{path.name}{_ENDING}")


def make_copy(connection: sqlite3.Connection, target: Path) -> None:
    """Write a compact copy of the database into an empty file that only its owner can read."""
    drop_copy(target)
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection.execute("VACUUM INTO :target", {"target": str(target)})


def drop_copy(target: Path) -> None:
    """Delete a copy; a crash may have left it. Raises `OSError`."""
    for path in (target, target.with_name(f"{target.name}-journal")):
        path.unlink(missing_ok=True)


def count_changes(connection: sqlite3.Connection) -> int:
    """Count the rows that the writer's connection has ever changed, to see whether any follow."""
    return connection.total_changes


def take_back(
    connection: sqlite3.Connection, *, path: Path, copy: Path, changes: int, must_stop: MustStop
) -> None:
    """Put the pages of a copy in place of those of the database, on the writer's thread.

    `changes` is what `count_changes` returned before the copy began: the copy lacks what came
    after. The WAL then holds all of them, and is not copied into the file by a commit until
    `let_commits_copy_log`. Raises `InterruptedError` if somebody writes; nothing has changed then.
    """
    if must_stop() or count_changes(connection) != changes:
        raise InterruptedError
    pages = _change_log_limit(connection, 0)
    try:
        _copy_pages(connection, path, copy, must_stop)
    except BaseException:
        _change_log_limit(connection, pages)
        raise


def _copy_pages(
    connection: sqlite3.Connection, path: Path, copy: Path, must_stop: MustStop
) -> None:
    looks = 0
    log = os.open(path.with_name(f"{path.name}-wal"), os.O_RDONLY)

    def look(_status: int, left: int, _total: int) -> None:
        nonlocal looks
        if left and must_stop():  # without one left, the transaction is committed
            raise InterruptedError
        looks += 1
        if looks % _BETWEEN_SYNCS == 0:
            os.fdatasync(log)

    try:
        with closing(sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True)) as source:
            source.backup(connection, pages=_PAGES, progress=look)
    finally:
        os.close(log)


def copy_log(connection: sqlite3.Connection) -> bool:
    """Copy the WAL into the file on a connection beside the writer; False if a reader needs it.

    Nobody waits for it.
    """
    _, length, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return bool(length == copied)


def truncate_log(connection: sqlite3.Connection) -> bool:
    """Copy the rest of the WAL into the file and truncate it; False while a reader needs it.

    Does not wait for the reader.
    """
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    return not busy


def let_commits_copy_log(connection: sqlite3.Connection, pages: int) -> None:
    """Let a commit copy the WAL into the file again once it has so many pages."""
    _change_log_limit(connection, pages)


def _change_log_limit(connection: sqlite3.Connection, pages: int) -> int:
    """Set the pages of the WAL from which on a commit copies it; return the earlier number."""
    (before,) = connection.execute("PRAGMA wal_autocheckpoint").fetchone()
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    return int(before)
