"""Create a database from the full schema, or upgrade it by numbered migrations."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import aiosqlite

from agent_core.errors import StoreError, StoreTooNew
from agent_core.state.engine.backup import copy_database
from agent_core.state.engine.connection import checksum, fetch_value
from agent_core.state.engine.recovery import translate_os_error
from agent_core.state.tokenizer import dump_entries, index_text
from agent_core.transcript import leave_out_text

FOLDER: Traversable = resources.files("agent_core.state") / "migrations"
SCHEMA: Traversable = resources.files("agent_core.state") / "schema.sql"
KEPT_COPIES = 3
"""Copies that are kept per migration; if one fails at every start, its copies must not fill the
disk.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A step of the schema; `number` counts from 1."""

    number: int
    name: str
    file: Traversable

    def read(self) -> str:
        """Return the SQL of the migration."""
        return self.file.read_text(encoding="utf-8")


def load_migrations(folder: Traversable) -> tuple[Migration, ...]:
    """List all migrations of a folder, in order. Raises `StoreError` on a gap or a duplicate."""
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    migrations = tuple(
        Migration(
            number=int(file.name.partition("_")[0]),
            name=file.name.removesuffix(".sql"),
            file=file,
        )
        for file in files
    )
    if [migration.number for migration in migrations] != list(range(1, len(files) + 1)):
        raise StoreError(f"the migrations in {folder} are not numbered 1 to {len(files)}")
    return migrations


async def read_version(connection: aiosqlite.Connection) -> int:
    """Return the number of the last migration that was applied; 0 for an empty file."""
    return int(await fetch_value(connection, "PRAGMA user_version"))


def refuse_newer(version: int, migrations: Sequence[Migration], path: Path) -> None:
    """Raise `StoreTooNew` if the file's schema is newer than all migrations here."""
    if version > len(migrations):
        raise StoreTooNew(
            f"{path} was written by a newer Talaria (schema {version}, this one knows"
            f" {len(migrations)}); start that version, or put back a backup from before it"
        )


async def upgrade(
    connection: aiosqlite.Connection, migrations: Sequence[Migration], backups: Path, now: datetime
) -> None:
    """Fill an empty file, then apply the missing migrations, each in its own transaction.

    An existing database is copied to `backups` first; `now` (UTC) names the copy. Raises
    `sqlite3.Error` and `StoreError`; a failed migration leaves no change.
    """
    version = await read_version(connection)
    is_new = version == 0
    if is_new:
        await _create(connection)
        version = await read_version(connection)
    missing = migrations[version:]
    if not missing:
        return
    if not is_new:
        await _set_aside(connection, backups, before=missing[0].number, now=now)
    await connection.create_function("index_text", 5, index_text, deterministic=True)
    await connection.create_function("index_entries", 5, dump_entries, deterministic=True)
    await connection.create_function("leave_out_text", 2, leave_out_text, deterministic=True)
    await connection.create_function("checksum", -1, checksum, deterministic=True)
    # A migration rebuilds a table by dropping the old one, which enforced foreign keys forbid. So
    # foreign keys are only checked before each commit.
    await connection.execute("PRAGMA foreign_keys = OFF")
    for migration in missing:
        await _apply(connection, migration)
    await connection.execute("PRAGMA foreign_keys = ON")


async def _create(connection: aiosqlite.Connection) -> None:
    """Create all tables from the schema; applying every migration would take 0.1 s of CPU time."""
    schema = await asyncio.to_thread(SCHEMA.read_text, encoding="utf-8")
    try:
        await connection.executescript(f"BEGIN IMMEDIATE;\n{schema}\nCOMMIT;")
    except BaseException:
        if connection.in_transaction:
            await connection.execute("ROLLBACK")
        raise


async def _apply(connection: aiosqlite.Connection, migration: Migration) -> None:
    try:
        sql = await asyncio.to_thread(migration.read)
        await connection.executescript(f"BEGIN IMMEDIATE;\n{sql}")
        async with connection.execute("PRAGMA foreign_key_check") as cursor:
            orphan = await cursor.fetchone()
        if orphan:
            raise StoreError(
                f"migration {migration.name} would leave row {orphan[1]} of {orphan[0]}"
                f" without its row of {orphan[2]}; nothing was changed"
            )
        await connection.execute(f"PRAGMA user_version = {migration.number}")
        await connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            await connection.execute("ROLLBACK")
        raise


async def _set_aside(
    connection: aiosqlite.Connection, backups: Path, *, before: int, now: datetime
) -> None:
    try:
        await asyncio.to_thread(backups.mkdir, mode=0o700, exist_ok=True)
        await copy_database(connection, backups / f"state-before-{before}-{now:%Y%m%dT%H%M%SZ}.db")
        await asyncio.to_thread(_drop_old_copies, backups, f"state-before-{before}-*.db")
    except OSError as error:
        raise translate_os_error(error, backups) from error


def _drop_old_copies(backups: Path, pattern: str) -> None:
    for old in sorted(backups.glob(pattern))[:-KEPT_COPIES]:
        old.unlink()
