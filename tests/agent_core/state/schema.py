"""The schema on a plain connection, for tests of single queries."""

import sqlite3
from collections.abc import Sequence
from functools import cache

from agent_core.state.engine.connection import checksum
from agent_core.state.engine.upgrade import FOLDER, SCHEMA, Migration, load_migrations
from agent_core.state.tokenizer import dump_entries, index_text
from agent_core.transcript import leave_out_text

MIGRATIONS = load_migrations(FOLDER)


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the newest schema in an empty database, as a first start does."""
    _make_template().backup(connection)
    connection.execute("PRAGMA foreign_keys = ON")


@cache
def _make_template() -> sqlite3.Connection:
    """Create the schema once per process: a copy costs a tenth of the CPU."""
    template = sqlite3.connect(":memory:")
    template.executescript(SCHEMA.read_text(encoding="utf-8"))
    return template


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply those of the migrations that the connection's database lacks."""
    connection.create_function("index_text", 5, index_text, deterministic=True)
    connection.create_function("index_entries", 5, dump_entries, deterministic=True)
    connection.create_function("leave_out_text", 2, leave_out_text, deterministic=True)
    connection.create_function("checksum", -1, checksum, deterministic=True)
    connection.execute("PRAGMA foreign_keys = OFF")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for migration in migrations[version:]:
        connection.executescript(migration.read())
        connection.execute(f"PRAGMA user_version = {migration.number}")
    connection.execute("PRAGMA foreign_keys = ON")
