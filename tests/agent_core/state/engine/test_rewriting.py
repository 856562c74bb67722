"""The file is rewritten without what deleted rows left in it, and nobody waits for it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import StoreVanished
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.opening import WATCHED, EngineLimits
from agent_core.state.engine.rewriting import (
    count_changes,
    make_copy,
    place_copy,
    take_back,
)

PATIENCE = 45


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "state.db", limits=EngineLimits(look=0.01))
    yield opened
    await opened.close()


async def put(database: Database, key: str, value: str = "") -> None:
    await database.write("test", lambda c: meta.put(c, key=key, value=value))


async def fill(database: Database, rows: int = 400) -> None:
    def work(connection: Connection) -> None:
        for number in range(rows):
            meta.put(connection, key=f"row {number}", value=f"bluefish {number} " * 100)

    await database.write("test", work)


async def empty(database: Database) -> None:
    def work(connection: Connection) -> None:
        for number in range(0, 400, 3):
            meta.drop(connection, key=f"row {number}")

    await database.write("test", work)


async def read_keys(database: Database) -> set[str]:
    return set(await database.read(lambda c: meta.list_under(c, prefix="")))


async def rewrite(database: Database) -> None:
    async with asyncio.timeout(PATIENCE):
        assert await database.rewrite_if_idle()
        while not await database.empty_log():
            await asyncio.sleep(0.01)


async def test_a_rewritten_file_is_smaller_whole_and_has_the_same_rows(database: Database) -> None:
    await fill(database)
    await empty(database)
    await rewrite(database)
    keys, size = await read_keys(database), database.path.stat().st_size
    assert len(keys) == 266
    assert not place_copy(database.path).exists()
    assert database.path.with_name("state.db-wal").stat().st_size == 0
    with closing(sqlite3.connect(database.path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
    await fill(database)
    assert database.path.stat().st_size >= size
    assert len(await read_keys(database)) == 400


async def test_a_rewrite_gives_way_to_a_write_and_loses_none(database: Database) -> None:
    await fill(database)
    outcomes = []
    for number in range(30):
        rewriting = asyncio.create_task(database.rewrite_if_idle())
        for _ in range(number):
            await asyncio.sleep(0.001)  # so that each write meets another moment of the rewrite
        await put(database, f"write {number}")
        outcomes.append(await rewriting)
        await put(database, f"after {number}")
    keys = await read_keys(database)
    assert {f"{name} {n}" for name in ("write", "after") for n in range(30)} <= keys
    assert not all(outcomes)
    assert not place_copy(database.path).exists()
    with closing(sqlite3.connect(database.path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_copy_that_lacks_a_change_never_goes_back(database: Database) -> None:
    copy = place_copy(database.path)
    changes = await database.tidy(count_changes)
    await database.browse(lambda c: c.execute("ROLLBACK") and make_copy(c, copy))
    await put(database, "later")

    def work(connection: Connection) -> None:
        take_back(
            connection, path=database.path, copy=copy, changes=changes, must_stop=lambda: False
        )

    with pytest.raises(InterruptedError):
        await database.tidy(work)
    assert "later" in await read_keys(database)


async def test_a_rewrite_that_stops_in_the_middle_changes_nothing(database: Database) -> None:
    await fill(database)
    copy = place_copy(database.path)
    changes = await database.tidy(count_changes)
    await database.browse(lambda c: c.execute("ROLLBACK") and make_copy(c, copy))
    looks = iter((False, False, True))

    def work(connection: Connection) -> None:
        take_back(
            connection,
            path=database.path,
            copy=copy,
            changes=changes,
            must_stop=lambda: next(looks),
        )

    with pytest.raises(InterruptedError):
        await database.tidy(work)
    await put(database, "later")
    assert len(await read_keys(database)) == 401
    limit = await database.tidy(lambda c: c.execute("PRAGMA wal_autocheckpoint").fetchone())
    assert limit == (4000,)


async def test_a_copy_that_a_crash_left_is_deleted_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    place_copy(path).write_text("bluefish")
    await (await Database.open(path)).close()
    assert not place_copy(path).exists()


async def test_the_log_is_emptied_beside_writes_and_that_is_no_foreign_change(
    database: Database,
) -> None:
    async def write() -> None:
        for number in range(60):
            await put(database, f"beside {number}", "x" * 5000)

    await database.tidy(lambda c: c.execute("PRAGMA wal_autocheckpoint = 0").fetchone())
    for _ in range(3):  # so that copying takes as long as some writes
        await fill(database, 4000)
    writing = asyncio.create_task(write())
    while not writing.done():
        await database.empty_log()
    await writing
    await put(database, "after")
    assert database.failure() == ""
    with database.path.open("r+b") as file:
        file.truncate(4096)
    with pytest.raises(StoreVanished, match="changed by somebody else"):
        await put(database, "too late")


async def test_an_old_reader_keeps_the_log_and_nobody_waits(database: Database) -> None:
    await fill(database)
    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def read(connection: Connection) -> None:
        connection.execute("SELECT COUNT(*) FROM meta").fetchone()
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(ended.wait(), loop).result(PATIENCE)

    reading = asyncio.create_task(database.browse(read))
    await begun.wait()
    await put(database, "while it reads")
    assert await database.empty_log() is False
    ended.set()
    await reading
    assert await database.empty_log() is True


async def test_changes_are_noted_after_a_rewrite_as_before(database: Database) -> None:
    def list_triggers(connection: Connection) -> list[tuple[str]]:
        return connection.execute("SELECT name FROM temp.sqlite_schema ORDER BY name").fetchall()

    before = await database.tidy(list_triggers)
    await rewrite(database)
    assert await database.tidy(list_triggers) == before
    assert len(before) == 3 * len(WATCHED)
