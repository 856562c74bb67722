"""Copy a database with SQLite's backup interface while the database is in use."""

import asyncio
import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import aiosqlite

from agent_core.errors import StoreDamaged, StoreError
from agent_core.state.engine.recovery import (
    check,
    choose_check,
    translate_error,
    translate_os_error,
)


async def copy_database(source: aiosqlite.Connection, target: Path) -> None:
    """Copy `source` as it is at one moment; `target` appears when the copy is complete.

    Writers are not delayed. Raises `StoreFull`, `StoreDamaged` if the copy fails the check, and
    `StoreError` if the target can't be written.
    """
    part = target.with_name(f"{target.name}.part")
    try:
        try:
            await asyncio.to_thread(_create, part)
            await _fill(source, part)
            await asyncio.to_thread(_publish, part, target)
        finally:
            part.unlink(missing_ok=True)
    except sqlite3.Error as error:
        raise translate_error(error, part) from error
    except OSError as error:
        raise translate_os_error(error, target) from error


async def rescue_database(source: aiosqlite.Connection, backups: Path) -> Path:
    """Copy a database whose files have vanished into the folder of backups; return the copy.

    Its folder is created, but not the home around it, which may be gone on purpose. Raises the same
    errors as `copy_database`.
    """
    target = backups / f"state-rescued-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.db"
    try:
        await asyncio.to_thread(backups.mkdir, mode=0o700, exist_ok=True)
    except OSError as error:
        raise translate_os_error(error, backups) from error
    await copy_database(source, target)
    return target


def choose_target(target: Path, path: Path) -> Path:
    """Return the absolute path for a copy of the database at `path`.

    Raises `StoreError` if the copy would replace the database or one of its side files.
    """
    own = {path.resolve().with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm")}
    own.add(path.resolve().with_suffix(".lock"))
    if target.resolve() in own:
        raise StoreError(f"{target} belongs to the running database; choose another name")
    if target.is_dir():
        raise StoreError(f"{target} is a folder; name the file that the copy should become")
    return target.absolute()


async def _fill(source: aiosqlite.Connection, part: Path) -> None:
    async with aiosqlite.connect(part, isolation_level=None) as copy:
        # In a single step, the copy sees one snapshot, and no write makes it start again.
        await source.backup(copy)
        # A single file without a WAL can be moved and read anywhere.
        await copy.execute("PRAGMA journal_mode = DELETE")
        fault = await check(copy, choose_check(part))
    if fault:
        raise StoreDamaged(f"the copy is damaged, and so is its source: {fault}")


def _create(part: Path) -> None:
    """Create an empty file that only the owner can read; replace one that a crash left behind."""
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _publish(part: Path, target: Path) -> None:
    part.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Flush a directory, so that a rename in it is durable. Blocks. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
