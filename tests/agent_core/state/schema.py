"""The schema on a plain connection, for tests of single queries."""

import sqlite3
from collections.abc import Sequence

from agent_core.state.engine.connection import checksum
from agent_core.state.engine.upgrade import FOLDER, SCHEMA, Migration, load_migrations
from agent_core.state.tokenizer import dump_entries, index_text
from agent_core.transcript import leave_out_text

MIGRATIONS = load_migrations(FOLDER)
_SCHEMA = SCHEMA.read_text(encoding="utf-8")


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the newest schema in an empty database, as a first start does."""
    connection.executescript(_SCHEMA)
    connection.execute("PRAGMA foreign_keys = ON")


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
