"""Translate errors of SQLite and the system, and check damaged files."""

import errno
import sqlite3
from pathlib import Path

import aiosqlite

from agent_core.errors import StoreDamaged, StoreError, StoreFull
from agent_core.state.engine.connection import fetch_value

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FATAL = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def translate_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Translate an error of SQLite into a `StoreError` that names the file."""
    code = _code(error)
    if _is_full(code):
        return StoreFull(f"the disk that holds {path} is full; nothing was written")
    kind = code & 0xFF
    if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamaged(f"{path} is damaged: {error}")
    if kind == sqlite3.SQLITE_BUSY:
        return StoreError(f"{path} is held by another program; only Talaria may open it")
    if kind == sqlite3.SQLITE_CANTOPEN:
        return StoreError(f"{path} can't be opened; is it a file, and may this user write it?")
    if kind == sqlite3.SQLITE_IOERR:
        return StoreError(f"the disk that holds {path} failed: {error} ({_name(error)})")
    return StoreError(f"{path}: {error}")


def translate_os_error(error: OSError, path: Path) -> StoreError:
    """Translate an error of the operating system into a `StoreError` that names the file."""
    if error.errno in _FULL:
        return StoreFull(f"the disk that holds {path} is full; nothing was written")
    if isinstance(error, FileExistsError | NotADirectoryError):
        return StoreError(f"{path} can't be used: there is a file where a folder must be")
    return StoreError(f"{path} can't be used: {error.strerror or error}")


def is_fatal(error: BaseException) -> bool:
    """Return whether further writes could make the damage worse.

    After a failed write or fsync, the content of the disk is unknown, and the next fsync may report
    success without having written anything (PostgreSQL's "fsyncgate" of 2018). Damage that is only
    inside the full-text index does not stop the store.
    """
    if not isinstance(error, sqlite3.Error):
        return False
    code = _code(error)
    if _is_full(code) or code == sqlite3.SQLITE_CORRUPT_VTAB:
        return False
    return code & 0xFF in _FATAL


def _is_full(code: int) -> bool:
    """Return whether the disk is full.

    This includes the code that SQLite gives if a full disk refuses the shared index of the WAL.
    """
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)


def _code(error: sqlite3.Error) -> int:
    """Return the extended result code; 0 if the error came from Python's side of the binding."""
    return getattr(error, "sqlite_errorcode", 0)


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "no code")


LARGEST_FULL_CHECK = 1 << 30
"""The limit in bytes. For a larger file, the check does not compare indexes with their tables,
because that takes minutes.
"""


def choose_check(path: Path, largest_full_check: int = LARGEST_FULL_CHECK) -> str:
    """Return the name of the check for the size of the file; the limit is in bytes."""
    return "integrity_check" if path.stat().st_size <= largest_full_check else "quick_check"


async def check(connection: aiosqlite.Connection, name: str) -> str:
    """Return the first fault that the named check finds; "" if it finds none."""
    try:
        finding: str = await fetch_value(connection, f"PRAGMA {name}(1)")
    except sqlite3.DatabaseError as error:
        if not isinstance(translate_error(error, Path()), StoreDamaged):
            raise
        finding = str(error)
    return "" if finding == "ok" else " ".join(finding.split())
