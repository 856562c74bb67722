"""Restore a home from a backup, or rehearse it."""

import shutil
import sqlite3
import tempfile
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import StoreDamaged, StoreError, StoreTooNew
from agent_core.state.backups.contents import Header
from agent_core.state.backups.encryption import Keys
from agent_core.state.backups.left_out_names import REHEARSAL
from agent_core.state.backups.making import find_sign, read_backup
from agent_core.state.backups.reading import describe_foreign
from agent_core.state.backups.switching import (
    drop_staging,
    prepare_staging,
    remove_tree,
    switch,
)
from agent_core.state.engine.lock import HomeLock
from agent_core.state.engine.opening import explain_error
from agent_core.state.engine.recovery import translate_os_error
from agent_core.state.lifecycle.inspect import find_damage, is_talarias, peek
from agent_core.state.people import rooms

_SQLITE = b"SQLite format 3\0"
_LOGINS, _CONSENTS, _LINKS = 17, 18, 40
"""The first schemas with logins of browsers, with consents in rooms, and with links and readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePlace:
    """The home to restore."""

    home: Path
    database: str
    """The name of the database in the home."""
    kept: Collection[str]
    """Names in the home that no restore touches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The size, age and schema of a backup that was checked or restored."""

    files: int
    size: int
    """Bytes of all files, before compression."""
    schema: int
    made_at: int
    """When the backup was made, in milliseconds since the epoch, UTC. For a bare database: when its
    file was written.
    """
    left_out: Collection[str]
    """Names in the home that were not in the backup; they stay as they are."""
    unreadable: Collection[str] = ()
    """Files that could not be read when the backup was made."""


def rehearse(place: RestorePlace, backup: Path, keys: Keys) -> Restored:
    """Unpack a backup beside the home, check everything, and delete the unpacked files. Blocks.

    Raises `StoreError`; its text says what is wrong.
    """
    folder = place.home / REHEARSAL
    try:
        if place.home.is_dir():
            remove_tree(folder)
            folder.mkdir(mode=0o700)
        else:
            folder = Path(tempfile.mkdtemp())
        try:
            return _unpack(place, backup, keys, folder)
        finally:
            remove_tree(folder)
    except OSError as error:
        raise translate_os_error(error, folder) from error


def restore(place: RestorePlace, backup: Path, keys: Keys, aside: Path, *, now: int) -> Restored:
    """Replace the content of a home by a backup; move the old content to `aside`. Blocks.

    Access to private words that may have ended since the backup ends: see `_end_access`. `now` is
    in milliseconds since the epoch, UTC. Raises `StoreBusy` if the home is in use, and `StoreError`
    with the fault. An error leaves the home as it was; if the moves have begun, the next command
    finishes them.
    """
    guarded = place.home / place.database
    lock = HomeLock.acquire(guarded.with_suffix(".lock"), guarded=guarded)
    is_done = False
    try:
        staging = prepare_staging(place.home)
        restored = _unpack(place, backup, keys, staging)
        _end_access(staging / place.database, restored.schema, now)
        switch(place.home, aside, {*place.kept, *restored.left_out})
        is_done = True
    except OSError as error:
        raise translate_os_error(error, place.home) from error
    finally:
        if not is_done:
            drop_staging(place.home)
        lock.release(is_clean=is_done or lock.was_clean)
    return restored


def _unpack(place: RestorePlace, backup: Path, keys: Keys, folder: Path) -> Restored:
    """Unpack into an empty folder, and check the database."""
    if not backup.is_file():
        raise StoreError(f"there is no file {backup}")
    with backup.open("rb") as source:
        is_database = find_sign(source).startswith(_SQLITE)
    if is_database:
        return _copy_database(place, backup, folder)
    return _unpack_archive(place, backup, keys, folder)


def _check_database(database: Path, backup: Path) -> int:
    """Check a database from a backup; return its schema. Raises `StoreError`."""
    try:
        fault = find_damage(database)
        if not fault and not is_talarias(database):
            raise StoreError(describe_foreign(str(backup)))
        found = None if fault else peek(database)
    except StoreTooNew as error:
        raise StoreTooNew(f"{backup} was made by a newer Talaria; upgrade Talaria first") from error
    except StoreDamaged as error:
        found, fault = None, str(error.__cause__)
    if found is None:
        raise StoreDamaged(f"the database in {backup} is damaged ({fault}); use another backup")
    return found.schema


def _unpack_archive(place: RestorePlace, backup: Path, keys: Keys, folder: Path) -> Restored:
    contents = read_backup(backup, keys, folder)
    header: Header = contents.header
    names = {path.name for path in folder.iterdir()}
    is_whole = place.database in names and not names & {*place.kept, *header.left_out}
    if not is_whole or _check_database(folder / place.database, backup) != header.schema:
        raise StoreDamaged(f"{backup} doesn't hold what a backup of Talaria holds; use another")
    return Restored(
        files=contents.manifest.files,
        size=contents.manifest.size,
        schema=header.schema,
        made_at=header.made_at,
        left_out=header.left_out,
        unreadable=contents.manifest.unreadable,
    )


def _end_access(database: Path, schema: int, now: int) -> None:
    """End logins, and consents to show private words in a room or to a reader.

    Nobody knows which of them ended after the backup. Raises `StoreError`.
    """
    try:
        with closing(sqlite3.connect(database.absolute(), isolation_level=None)) as connection:
            if schema >= _LOGINS:
                connection.execute(
                    "DELETE FROM browser_logins WHERE expires_at > :now", {"now": now}
                )
            if schema >= _CONSENTS:
                rooms.mark_restored(connection, now=now)
            if schema >= _LINKS:
                connection.execute("DELETE FROM login_links WHERE expires_at > :now", {"now": now})
                connection.execute(
                    "UPDATE reading_consents SET ended_at = :now WHERE ended_at IS NULL",
                    {"now": now},
                )
    except sqlite3.Error as error:
        raise explain_error(error, database) from error


def _copy_database(place: RestorePlace, backup: Path, folder: Path) -> Restored:
    """Copy a bare database; earlier versions and upgrades make such backups."""
    target = folder / place.database
    shutil.copyfile(backup, target)
    target.chmod(0o600)
    schema = _check_database(target, backup)
    names = {path.name for path in place.home.iterdir()}
    return Restored(
        files=1,
        size=target.stat().st_size,
        schema=schema,
        made_at=int(backup.stat().st_mtime * 1000),
        left_out={name for name in names if not name.startswith(f"{place.database}")},
    )
