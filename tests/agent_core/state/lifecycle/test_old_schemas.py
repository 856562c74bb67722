"""A database of every past schema can be inspected, restored and opened."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.state.backups.encryption import Keys
from agent_core.state.backups.restoring import RestorePlace, rehearse, restore
from agent_core.state.engine.upgrade import FOLDER, load_migrations
from agent_core.state.lifecycle.inspect import may_hold, peek
from tests.agent_core.state.schema import migrate
from tests.databases import open_database
from tests.tables import check_each

MIGRATIONS = load_migrations(FOLDER)
SCHEMAS = range(1, len(MIGRATIONS) + 1)
NOW = 1_795_000_000_000


def make_old(path: Path, schema: int) -> None:
    """Write a database as the version with this schema left it, with one person in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, MIGRATIONS[:schema])
        connection.execute(
            "INSERT INTO people (slug, name, role, created_at) VALUES ('ada', 'Ada', 'owner', 0)"
        )
        connection.execute(
            "INSERT INTO accounts (person_id, platform, user_id, display_name, admitted_by,"
            " created_at) VALUES (1, 'telegram', '7', 'Ada', 'code', 0)"
        )


def check_schema(folder: Path, schema: int) -> None:
    old, home = folder / f"old-{schema}.db", folder / f"home-{schema}"
    make_old(old, schema)
    found = peek(old)
    assert found is not None
    assert found.schema == schema
    assert may_hold(old, [("telegram", "7")])
    assert not may_hold(old, [("telegram", "8")])
    home.mkdir()
    place = RestorePlace(home=home, database="state.db", kept=("aside",))
    assert rehearse(place, old, Keys()).schema == schema
    assert restore(place, old, Keys(), home / "aside", now=NOW).schema == schema
    assert asyncio.run(_list_people(home / "state.db")) == [("Ada",)]


async def _list_people(path: Path) -> list[tuple[str]]:
    database = await open_database(path)
    try:
        return await database.read(lambda c: c.execute("SELECT name FROM people").fetchall())
    finally:
        await database.close()


def test_old_databases_are_judged_by_their_own_schema(tmp_path: Path) -> None:
    check_each([1, 4, 10, 11, 17, 18, 40], lambda schema: check_schema(tmp_path, schema))


@pytest.mark.thorough
def test_a_database_of_every_past_schema_is_restored(tmp_path: Path) -> None:
    check_each(SCHEMAS, lambda schema: check_schema(tmp_path, schema))


def test_owners_hear_no_more_of_strangers_that_wrote_before_they_were_counted() -> None:
    old = sqlite3.connect(":memory:", isolation_level=None)
    with closing(old):
        migrate(old, MIGRATIONS[:58])
        old.executemany(
            "INSERT INTO strangers (platform, user_id, messages, last_at) VALUES ('fake', ?, 1, ?)",
            [("before", NOW), ("since", 1_796_000_000_000)],
        )
        migrate(old)
        told = old.execute("SELECT user_id, told_at FROM strangers ORDER BY user_id").fetchall()
    assert told == [("before", NOW), ("since", None)]
