"""Copies of a database in use."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import StoreError
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from tests.agent_core.state.conftest import RunScript

WATCH = """
import asyncio, sys
from pathlib import Path
from agent_core.state.engine import meta, upgrade
from agent_core.state.engine.database import Database
from agent_core.state.engine.opening import EngineLimits

path = Path(sys.argv[1])
opened = []

def watch(event, arguments):
    # The guard opens the index once, and closes it after the connections.
    if event == "open" and str(arguments[0]).endswith(("state.db", "state.db-wal")):
        opened.append(arguments)

async def main():
    database = await Database.open(path)
    await database.write("a", lambda c: meta.put(c, key="a", value="a"))
    await database.back_up(path.with_name("copy"))
    await database.close()
    folder = path.with_name("migrations")
    folder.mkdir()
    migrations = upgrade.load_migrations(upgrade.FOLDER)
    for migration in migrations:
        (folder / f"{migration.name}.sql").write_text(migration.read())
    (folder / f"{len(migrations) + 1:04}_more.sql").write_text("CREATE TABLE more (id INTEGER);")
    path.with_name("state.lock").write_text("1 running")
    database = await Database.open(path, limits=EngineLimits(migrations=folder))
    await database.close()
    assert list(path.with_name("backups").iterdir())

sys.addaudithook(watch)
asyncio.run(main())
assert not opened, opened
open(path).close()
assert opened, "the watch sees nothing"
"""


def _keys(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {key for (key,) in connection.execute("SELECT key FROM meta")}


def put(key: str) -> object:
    return lambda connection: meta.put(connection, key=key, value=key * 100)


async def test_a_copy_made_under_writes_holds_a_whole_moment(
    database: Database, path: Path
) -> None:
    target = path.with_name("copy.db")
    may_stop = asyncio.Event()
    written = 0

    def put_pair(connection: Connection) -> None:
        for half in ("left", "right"):
            meta.put(connection, key=f"{half}{written}", value="x" * 3000)

    async def write_on() -> None:
        nonlocal written
        while not may_stop.is_set():
            await database.write("pair", put_pair)
            written += 1

    writing = asyncio.create_task(write_on())
    for _ in range(5):
        before = written
        await database.back_up(target)
        keys = _keys(target)
        lefts = {key.removeprefix("left") for key in keys if key.startswith("left")}
        rights = {key.removeprefix("right") for key in keys if key.startswith("right")}
        assert lefts == rights
        assert len(lefts) >= before
    may_stop.set()
    await writing
    assert written > 0


async def test_a_copy_is_one_file_for_its_owner_only(database: Database, path: Path) -> None:
    folder = path.with_name("elsewhere")
    folder.mkdir()
    await database.write("a", put("a"))
    await database.back_up(folder / "copy.db")
    assert _keys(folder / "copy.db") == {"a"}
    assert [file.name for file in folder.iterdir()] == ["copy.db"]
    assert (folder / "copy.db").stat().st_mode & 0o777 == 0o600


async def test_a_copy_takes_the_place_of_an_older_one_and_of_a_broken_off_one(
    database: Database, path: Path
) -> None:
    target = path.with_name("copy.db")
    target.write_text("older")
    target.with_name("copy.db.part").write_text("broken off")
    await database.write("a", put("a"))
    await database.back_up(target)
    assert _keys(target) == {"a"}
    assert not target.with_name("copy.db.part").exists()


@pytest.mark.parametrize("name", ["state.db", "state.db-wal", "state.db-shm", "state.lock"])
async def test_a_copy_never_takes_the_place_of_the_database(
    database: Database, path: Path, name: str
) -> None:
    link = path.parent.with_name("link")
    link.symlink_to(path.parent)
    for folder in (path.parent, link):
        with pytest.raises(StoreError, match="belongs to the running database"):
            await database.back_up(folder / name)
    await database.write("a", put("a"))


async def test_a_place_that_can_not_take_the_copy_is_named(database: Database, path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere/copy.db can't be used: No such file"):
        await database.back_up(path.parent / "nowhere" / "copy.db")
    with pytest.raises(StoreError, match="is a folder; name the file"):
        await database.back_up(path.parent)


def test_no_python_code_ever_opens_the_database_file(path: Path, run_script: RunScript) -> None:
    ended = run_script(WATCH, path)
    assert ended.returncode == 0, ended.stderr
