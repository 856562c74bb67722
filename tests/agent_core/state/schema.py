"""The schema on a plain connection, for tests of single queries."""

import sqlite3
from collections.abc import Sequence

from agent_core.state.engine.recovery import checksum
from agent_core.state.engine.upgrade import FOLDER, Migration, load_migrations
from agent_core.state.index_entries import dump_entries, index_text
from agent_core.transcript import leave_out_text

MIGRATIONS = load_migrations(FOLDER)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply those of the migrations that the connection's database lacks."""
    connection.create_function("index_text", 5, index_text, deterministic=True)
    connection.create_function("index_entries", 5, dump_entries, deterministic=True)
    connection.create_function("leave_out_text", 2, leave_out_text, deterministic=True)
    connection.create_function("checksum", -1, checksum, deterministic=True)
    connection.execute("PRAGMA foreign_keys = OFF")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for migration in migrations[version:]:
        connection.executescript(migration.sql)
        connection.execute(f"PRAGMA user_version = {migration.number}")
    connection.execute("PRAGMA foreign_keys = ON")
