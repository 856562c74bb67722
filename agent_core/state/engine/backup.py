"""Copy a database through SQLite's backup interface, while it is in use."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from agent_core.errors import StoreDamaged, StoreError
from agent_core.state.engine.recovery import (
    check,
    choose_check,
    translate_error,
    translate_os_error,
)


def copy_database(source: sqlite3.Connection, target: Path) -> None:
    """Copy one moment of `source` to `target`; the name appears when the copy is whole.

    Blocks; writers are not held up. Raises `StoreFull`, `StoreDamaged` if the copy does not
    pass the check, and `StoreError` if the place can't be written.
    """
    part = target.with_name(f"{target.name}.part")
    try:
        try:
            # Nobody else may read it, and a part left behind by a crash is started afresh.
            part.unlink(missing_ok=True)
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            _fill(source, part)
            part.replace(target)
            _sync_folder(target.parent)
        finally:
            part.unlink(missing_ok=True)
    except sqlite3.Error as error:
        raise translate_error(error, part) from error
    except OSError as error:
        raise translate_os_error(error, target) from error


def choose_target(target: Path, path: Path) -> Path:
    """The absolute path of a copy of the database at `path`.

    Raises `StoreError` if the copy would take the place of the database or of its company.
    """
    own = {path.resolve().with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm")}
    own.add(path.resolve().with_suffix(".lock"))
    if target.resolve() in own:
        raise StoreError(f"{target} belongs to the running database; choose another name")
    if target.is_dir():
        raise StoreError(f"{target} is a folder; name the file that the copy should become")
    return target.absolute()


def _fill(source: sqlite3.Connection, part: Path) -> None:
    """The whole copy is one step: it sees one snapshot, and no write makes it begin again."""
    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        source.backup(copy)
        # One file without company can be moved and read anywhere.
        copy.execute("PRAGMA journal_mode = DELETE")
        fault = check(copy, choose_check(part))
    if fault:
        raise StoreDamaged(f"the copy is damaged, and so is its source: {fault}")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
