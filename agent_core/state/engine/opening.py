"""Open a database: inspect it first, set its pragmas, and upgrade it."""

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources.abc import Traversable
from pathlib import Path

import aiosqlite

from agent_core.errors import StoreDamaged, StoreError
from agent_core.state.engine.connection import (
    BUSY_TIMEOUT_SECONDS,
    ThreadedConnection,
    fetch_value,
)
from agent_core.state.engine.recovery import (
    LARGEST_FULL_CHECK,
    check,
    choose_check,
    translate_error,
    translate_os_error,
)
from agent_core.state.engine.remedies import describe_damage, name_backups, refuse_lost
from agent_core.state.engine.upgrade import (
    FOLDER,
    Migration,
    load_migrations,
    read_version,
    refuse_newer,
    upgrade,
)

READERS = 2
WATCHED = frozenset({"jobs", "skills", "skill_uses", "ledger"})
"""Tables whose changes are noted, for caches and projections of their content.

See `Database.count_changes` and `Database.project`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLimits:
    """Limits of the engine, and its migrations."""

    busy_timeout: float = BUSY_TIMEOUT_SECONDS
    largest_group: int = 256
    """The most writes in one commit, so that the first one does not wait for too many others."""
    largest_full_check: int = LARGEST_FULL_CHECK
    look: float = 1.0
    """Seconds between two looks whether the files are still there."""
    migrations: Traversable = FOLDER


LONGEST_KEPT_WAL = 16 << 20
"""The length in bytes to which the next checkpoint truncates a WAL that grew during a long read."""

CHECKPOINT_PAGES = 4000
"""A checkpoint starts when the WAL has this many pages of 4 KB. Most turns write to the same pages,
so that rarer checkpoints copy them less often.
"""

_log = logging.getLogger(__name__)


def prepare_folder(path: Path) -> Path:
    """Create the folder of a database; return the absolute path of the database.

    Raises `StoreError` if the folder can't be created or the path is a folder.
    """
    path = path.absolute()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise translate_os_error(error, path.parent) from error
    if path.is_dir():
        raise StoreError(f"{path} is a folder; the database must be a file")
    return path


async def connect(
    path: Path, stack: AsyncExitStack, limits: EngineLimits, *, is_trusted: bool
) -> list[ThreadedConnection]:
    """Open the writer and then the readers; `stack` closes them.

    A file that is not trusted first gets a complete check. Raises `sqlite3.Error` and `StoreError`.
    """
    migrations = load_migrations(limits.migrations)
    await asyncio.to_thread(refuse_lost, path)
    is_new = not await asyncio.to_thread(path.exists)
    if not is_new:
        await _inspect(path, migrations, None if is_trusted else limits.largest_full_check)
    writer = await _open(path, stack, limits.busy_timeout)
    await _prepare_writer(writer.sqlite, path, is_new=is_new)
    await upgrade(writer.sqlite, migrations, name_backups(path), datetime.now(UTC))
    await writer.watch(WATCHED & await _list_tables(writer.sqlite))
    connections = [writer]
    for _ in range(READERS):
        reader = await _open(path, stack, limits.busy_timeout)
        await reader.sqlite.executescript("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;")
        connections.append(reader)
    return connections


def explain_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Explain why a database could not be opened; if it is damaged, name the remedy."""
    mishap = translate_error(error, path)
    if isinstance(mishap, StoreDamaged):
        return StoreDamaged(describe_damage(path, str(error)))
    return mishap


async def _open(path: Path, stack: AsyncExitStack, busy_timeout: float) -> ThreadedConnection:
    connection = await ThreadedConnection.open(path, busy_timeout=busy_timeout)
    stack.push_async_callback(connection.close)
    return connection


async def _inspect(
    path: Path, migrations: Sequence[Migration], largest_full_check: int | None
) -> None:
    """Raise `StoreDamaged` or `StoreTooNew` before anything in the file changes.

    If `largest_full_check` is None, the content is trusted and only the version is read.
    """
    async with AsyncExitStack() as stack:
        connection = await ThreadedConnection.open(path, mode="peek")
        stack.push_async_callback(connection.close)
        if largest_full_check is not None:
            name = choose_check(path, largest_full_check)
            _log.warning("%s was not closed properly; running %s", path, name)
            fault = await check(connection.sqlite, name)
            if fault:
                raise StoreDamaged(describe_damage(path, fault))
        refuse_newer(await read_version(connection.sqlite), migrations, path)


async def _prepare_writer(connection: aiosqlite.Connection, path: Path, *, is_new: bool) -> None:
    if is_new:
        # SQLite creates the WAL with the permissions of the database.
        await asyncio.to_thread(path.chmod, 0o600)
    if await fetch_value(connection, "PRAGMA journal_mode = WAL") != "wal":
        raise StoreError(f"{path} lies on a disk without shared memory; use a local one")
    # `secure_delete` overwrites deleted bytes, so that no redacted text stays in the file.
    await connection.executescript(f"""
        PRAGMA synchronous = FULL;
        PRAGMA foreign_keys = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = ON;
        PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
        PRAGMA journal_size_limit = {LONGEST_KEPT_WAL};
    """)


async def _list_tables(connection: aiosqlite.Connection) -> set[str]:
    rows = await connection.execute_fetchall("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return {row[0] for row in rows}
