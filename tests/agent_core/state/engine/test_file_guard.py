"""A database whose files vanish or change under it stops, keeps what it can, and says so."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import StoreDamaged, StoreVanished
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.opening import EngineLimits
from agent_core.state.lifecycle.inspect import peek
from tests.patience import PATIENCE


def other(path: Path) -> Path:
    """Another database of its own, as a restored copy might be."""
    found = path.with_name("other.db")
    with closing(sqlite3.connect(found)) as connection:
        connection.execute("CREATE TABLE mine (value TEXT)")
        connection.execute("INSERT INTO mine VALUES ('untouched')")
        connection.commit()
    return found


def copy_in(path: Path) -> None:
    """Another process does it: closing the file in this one would drop SQLite's locks."""
    subprocess.run(["cp", str(other(path)), str(path)], check=True)


def link_in(path: Path) -> None:
    link = path.with_name("link.db")
    link.symlink_to(other(path))
    link.rename(path)


def link_to(target: str) -> Callable[[Path], None]:
    def work(path: Path) -> None:
        path.rename(path.with_name("old.db"))
        path.symlink_to(target)

    return work


def cut_log(path: Path) -> None:
    os.truncate(path.with_name("state.db-wal"), 0)


def touch(path: Path) -> None:
    os.utime(path)


def run_sql(path: Path, *statements: str) -> None:
    """Let another program work on the database, as `sqlite3` and Litestream do."""
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)"
    script += "; [c.execute(one).fetchall() for one in sys.argv[2:]]"
    subprocess.run([sys.executable, "-c", script, str(path), *statements], check=True)


pytestmark = pytest.mark.process


DEEDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "delete": (lambda path: path.unlink(), "was deleted"),
    "delete all": (lambda path: [one.unlink() for one in path.parent.glob("state.db*")], "deleted"),
    "move away": (lambda path: path.rename(path.with_name("old.db")), "was deleted"),
    "move in": (lambda path: other(path).rename(path), "was replaced by another file"),
    "link in": (link_in, "was replaced by another file"),
    "link to itself": (link_to("state.db"), "was replaced by a link to nothing"),
    "link too far": (link_to("a" * 4000), "was replaced by a link to nothing"),
    "folder in": (lambda path: (path.unlink(), path.mkdir()), "was replaced by another file"),
    "empty": (lambda path: os.truncate(path, 0), "was emptied"),
    "cut": (lambda path: os.truncate(path, path.stat().st_size // 2), "was changed by somebody"),
    "copy in": (copy_in, "was changed by somebody"),
    "touch": (touch, "was changed by somebody"),
    "cut the log": (cut_log, "state.db-wal was cut"),
    "delete the log": (
        lambda path: path.with_name("state.db-wal").unlink(),
        "state.db-wal was deleted",
    ),
    "delete the index": (
        lambda path: path.with_name("state.db-shm").unlink(),
        "state.db-shm was deleted",
    ),
}
"""Ways to take a database's files away, and the words that say so."""
KEPT = frozenset(DEEDS) - {"empty", "cut", "copy in", "touch", "cut the log"}
"""After these, the open files still hold everything."""


async def put(database: Database, key: str) -> None:
    await database.write(key, lambda connection: meta.put(connection, key=key, value=key))


def list_keys(connection: Connection) -> list[str]:
    return sorted(key for (key,) in connection.execute("SELECT key FROM meta"))


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    database = await Database.open(path, limits=EngineLimits(look=0.01))
    await put(database, "before")
    yield database
    await database.close()


@pytest.mark.parametrize("name", DEEDS)
async def test_nothing_more_is_acknowledged(database: Database, path: Path, name: str) -> None:
    deed, words = DEEDS[name]
    deed(path)
    with pytest.raises(StoreVanished, match=words):
        await put(database, "after")
    assert words in database.failure()
    with pytest.raises(StoreVanished, match=words):
        await database.tidy(lambda connection: connection.execute("PRAGMA optimize").fetchall())


@pytest.mark.parametrize("name", DEEDS)
async def test_it_is_noticed_while_nothing_is_written(
    database: Database, path: Path, name: str
) -> None:
    deed, words = DEEDS[name]
    deed(path)
    async with asyncio.timeout(PATIENCE):
        assert words in str(await database.wait_until_vanished())


@pytest.mark.parametrize("name", sorted(KEPT))
async def test_what_the_open_files_hold_is_kept_as_a_backup(
    database: Database, path: Path, name: str
) -> None:
    DEEDS[name][0](path)
    async with asyncio.timeout(PATIENCE):
        told = str(await database.wait_until_vanished())
    (copy,) = path.parent.joinpath("backups").glob("*.db")
    assert f"talaria restore {copy}" in told
    with closing(sqlite3.connect(copy)) as connection:
        assert "before" in list_keys(connection)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("name", ["move in", "copy in"])
async def test_the_file_that_somebody_put_there_stays_as_it_is(path: Path, name: str) -> None:
    database = await Database.open(path, limits=EngineLimits(look=0.01))
    await put(database, "before")
    DEEDS[name][0](path)
    await database.wait_until_vanished()
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT value FROM mine").fetchall() == [("untouched",)]


async def test_a_folder_that_was_deleted_whole_gets_no_new_files(path: Path) -> None:
    database = await Database.open(path, limits=EngineLimits(look=0.01))
    shutil.rmtree(path.parent)
    assert "was deleted" in str(await database.wait_until_vanished())
    await database.close()
    assert not path.parent.exists()


async def test_what_the_database_does_itself_is_no_change_by_somebody(
    database: Database, path: Path
) -> None:
    for number in range(40):
        await put(database, f"{number}" * 20_000)
    await database.tidy(lambda connection: connection.execute("VACUUM").fetchall())
    await database.tidy(lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
    with closing(sqlite3.connect(path)) as reader:
        assert reader.execute("SELECT count(*) FROM meta").fetchone() >= (41,)
    await database.back_up(path.with_name("copy.db"))
    await put(database, "after")
    assert database.failure() == ""


async def test_a_copy_is_kept_also_where_a_file_only_looks_changed(
    database: Database, path: Path
) -> None:
    touch(path)
    told = str(await database.wait_until_vanished())
    (copy,) = path.parent.joinpath("backups").glob("*.db")
    assert told.endswith(f"What could still be read is in {copy}")
    with closing(sqlite3.connect(copy)) as connection:
        assert "before" in list_keys(connection)


async def test_another_program_that_uses_sqlite_changes_nothing_by_force(
    database: Database, path: Path
) -> None:
    for number in range(3):
        await put(database, f"{number}" * 2_000_000)  # its commits then run checkpoints
        run_sql(path, f"INSERT INTO meta (key, value) VALUES ('theirs {number}', '')")
        await put(database, f"after a write {number}")
        run_sql(path, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
        await put(database, f"after a checkpoint {number}")
        run_sql(path, "PRAGMA wal_checkpoint(PASSIVE)", "SELECT count(*) FROM meta")
    await put(database, "after")
    assert database.failure() == ""
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert {"theirs 2", "after a checkpoint 2", "after"} <= set(list_keys(connection))
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_change_during_own_work_is_noticed(database: Database, path: Path) -> None:
    def work(connection: Connection) -> None:
        meta.put(connection, key="during", value="")
        copy_in(path)

    await database.write("during", work)
    with pytest.raises(StoreVanished, match="was changed by somebody"):
        await put(database, "after")


async def test_a_copy_into_the_file_is_noticed_after_checkpoints_of_others(
    database: Database, path: Path
) -> None:
    run_sql(path, "PRAGMA wal_checkpoint(PASSIVE)")
    await put(database, "after")
    copy_in(path)
    with pytest.raises(StoreVanished, match="was changed by somebody"):
        await put(database, "lost")


@pytest.mark.parametrize("trace", ["backups/state-1.db", "memories/people/ada/USER.md"])
@pytest.mark.parametrize("file", ["empty", "missing"])
def test_a_used_home_without_its_data_is_refused(path: Path, trace: str, file: str) -> None:
    left = path.parent / trace
    left.parent.mkdir(parents=True)
    left.write_text("x")
    if file == "empty":
        path.touch()
    words = f"is {file}, but this home was used. .*talaria restore"
    with pytest.raises(StoreDamaged, match=words):
        asyncio.run(Database.open(path))
    with pytest.raises(StoreDamaged, match=words):
        peek(path)
    assert path.exists() == (file == "empty")
    assert not path.exists() or path.stat().st_size == 0


def test_an_empty_file_in_a_new_home_becomes_the_database(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch()
    asyncio.run(open_and_close(path))
    assert path.stat().st_size > 0


async def open_and_close(path: Path) -> None:
    await (await Database.open(path)).close()
