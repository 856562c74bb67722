"""Opens a database: looked at before it is touched, prepared, and brought up to date."""

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from agent_core.errors import StoreDamaged, StoreError
from agent_core.state.engine.connection import ThreadedConnection
from agent_core.state.engine.recovery import (
    check,
    choose_check,
    describe_damage,
    translate_error,
    translate_os_error,
)
from agent_core.state.engine.upgrade import (
    FOLDER,
    Migration,
    load_migrations,
    read_version,
    refuse_newer,
    upgrade,
)

READERS = 2
_LONGEST_KEPT_WAL = 16 << 20
"""Bytes. A WAL that a long read let grow is cut back to this by the next checkpoint."""

_CHECKPOINT_PAGES = 4000
"""Pages of 4 KB in the WAL at which it is copied into the file. Most turns write to the same
pages: the rarer it happens, the fewer of them are copied in vain."""

_log = logging.getLogger(__name__)


def prepare_folder(path: Path) -> Path:
    """Make the folder of a database; return the database's absolute path.

    Raises `StoreError` if the folder can't be made or the path is one itself.
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
    path: Path, stack: AsyncExitStack, *, is_trusted: bool
) -> list[ThreadedConnection]:
    """The writer and then the readers; `stack` closes them.

    A file that is not trusted is checked as a whole first. Raises `sqlite3.Error` and
    `StoreError`.
    """
    migrations = load_migrations(FOLDER)
    is_new = not await asyncio.to_thread(path.exists)
    if not is_new:
        await _inspect(path, migrations, is_trusted=is_trusted)
    writer = await _open(path, stack)
    await writer.run(partial(_prepare_writer, path=path, is_new=is_new))
    now = datetime.now(UTC)
    await writer.run(partial(upgrade, migrations=migrations, backups=_name_backups(path), now=now))
    connections = [writer]
    for _ in range(READERS):
        reader = await _open(path, stack)
        await reader.run(_prepare_reader)
        connections.append(reader)
    return connections


def explain_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Why a database could not be opened, with the way out if it is damaged."""
    mishap = translate_error(error, path)
    if isinstance(mishap, StoreDamaged):
        return StoreDamaged(describe_damage(path, str(error), _name_backups(path)))
    return mishap


async def _open(path: Path, stack: AsyncExitStack) -> ThreadedConnection:
    connection = await ThreadedConnection.open(path)
    stack.push_async_callback(connection.close)
    return connection


async def _inspect(path: Path, migrations: Sequence[Migration], *, is_trusted: bool) -> None:
    """Raise `StoreDamaged` or `StoreTooNew` while the file is as it was."""
    async with AsyncExitStack() as stack:
        connection = await ThreadedConnection.open(path, mode="peek")
        stack.push_async_callback(connection.close)
        if not is_trusted:
            name = choose_check(path)
            _log.warning("%s was not closed in order; running its %s", path, name)
            fault = await connection.run(partial(check, name=name))
            if fault:
                raise StoreDamaged(describe_damage(path, fault, _name_backups(path)))
        refuse_newer(await connection.run(read_version), migrations, path)


def _prepare_writer(connection: sqlite3.Connection, path: Path, *, is_new: bool) -> None:
    if is_new:
        path.chmod(0o600)  # SQLite gives the WAL the same rights when it makes it
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise StoreError(f"{path} lies on a disk without shared memory; use a local one")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    # What was deleted or replaced is overwritten, so that forgetting leaves nothing to be found.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit = {_LONGEST_KEPT_WAL}")


def _prepare_reader(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA temp_store = MEMORY")


def _name_backups(path: Path) -> Path:
    """The folder of the copies that are set aside before a migration."""
    return path.parent / "backups"
