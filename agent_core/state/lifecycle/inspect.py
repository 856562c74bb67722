"""Inspect a database without opening it for use: no lock is taken, and nothing changes."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent_core.state.engine.connection import BUSY_TIMEOUT_SECONDS
from agent_core.state.engine.lock import read_note
from agent_core.state.engine.opening import explain_error
from agent_core.state.engine.recovery import choose_check
from agent_core.state.engine.remedies import refuse_lost
from agent_core.state.engine.upgrade import FOLDER, load_migrations, refuse_newer
from agent_core.state.memory import external_sync
from agent_core.state.memory.external_sync import Backlog


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseInfo:
    """Facts that can be read without opening the database for use."""

    schema: int
    newest_schema: int
    holder: int | None
    """The id of the process that opened it last; None if none is recorded."""
    was_closed: bool
    """Whether that process shut down cleanly; also False while the process is running."""
    backlogs: tuple[Backlog, ...]
    """The queues of external memories; none for an older schema, which today's queries can't read.
    """


def peek(path: Path) -> DatabaseInfo | None:
    """Inspect the database at `path`; None if there is no file.

    Raises `StoreTooNew`, `StoreDamaged` if it is no database or the home has lost it, and
    `StoreError` if it can't be read.
    """
    path = path.absolute()
    refuse_lost(path)
    if not path.exists():
        return None
    migrations = load_migrations(FOLDER)
    note = read_note(path.with_suffix(".lock"))
    try:
        with closing(sqlite3.connect(_address(path), uri=True, timeout=BUSY_TIMEOUT_SECONDS)) as c:
            schema = int(c.execute("PRAGMA user_version").fetchone()[0])
            is_current = schema == len(migrations)
            backlogs = tuple(external_sync.count_all(c)) if is_current else ()
    except sqlite3.Error as error:
        raise explain_error(error, path) from error
    refuse_newer(schema, migrations, path)
    return DatabaseInfo(
        schema=schema,
        newest_schema=len(migrations),
        holder=note[0] if note else None,
        was_closed=note is None or note[1],
        backlogs=backlogs,
    )


def find_damage(path: Path) -> str:
    """Check a whole database; return the first fault, "" if there is none.

    Blocks for seconds on a large file. Raises `StoreError` if it can't be read.
    """
    try:
        with closing(sqlite3.connect(_address(path.absolute()), uri=True)) as connection:
            found = connection.execute(f"PRAGMA {choose_check(path)}(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise explain_error(error, path) from error
    return "" if found == "ok" else " ".join(str(found).split())


def is_talarias(path: Path) -> bool:
    """Return whether a database has Talaria's oldest tables. Raises `StoreError`."""
    try:
        with closing(sqlite3.connect(_address(path.absolute()), uri=True)) as connection:
            found = connection.execute(
                "SELECT count(*) FROM sqlite_master"
                " WHERE type = 'table' AND name IN ('meta', 'people', 'accounts')"
            ).fetchone()[0]
    except sqlite3.Error as error:
        raise explain_error(error, path) from error
    return int(found) == 3


def may_hold(path: Path, accounts: Sequence[tuple[str, str]]) -> bool:
    """Return whether a copy of a database holds one of the (platform, user id) accounts.

    Returns True if the file can't be read.
    """
    try:
        with closing(sqlite3.connect(_address(path.absolute()), uri=True)) as connection:
            return any(
                connection.execute(
                    "SELECT 1 FROM accounts WHERE platform = :platform AND user_id = :user_id",
                    {"platform": platform, "user_id": user_id},
                ).fetchone()
                for platform, user_id in accounts
            )
    except sqlite3.Error:
        return True


def _address(path: Path) -> str:
    """Return the address for a connection that creates no files.

    An ordinary read-only connection would create the two side files. If there is no WAL, nobody has
    the database open, and the file alone is complete.
    """
    has_wal = path.with_name(f"{path.name}-wal").exists()
    return f"{path.as_uri()}?{'mode=ro' if has_wal else 'immutable=1'}"
