"""Sudden ends: what was committed is there, what was not is not, and the next start looks."""

import asyncio
import logging
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import StoreDamaged, StoreError
from agent_core.state.backups.encryption import Keys
from agent_core.state.backups.restoring import RestorePlace, restore
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.opening import EngineLimits
from tests.agent_core.state.conftest import RunScript, read_file, write_file

DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from agent_core.state.engine import meta
from agent_core.state.engine.opening import EngineLimits
from agent_core.state.engine.database import Database

path, moment = Path(sys.argv[1]), sys.argv[2]

def observe(now, names):
    if now == moment and "n0" in names:
        os.kill(os.getpid(), signal.SIGKILL)

def put(key):
    return lambda connection: meta.put(connection, key=key, value=key)

async def main():
    database = await Database.open(path, observe=observe)
    await database.write("first", put("first"))
    await asyncio.gather(*(database.write(f"n{i}", put(f"n{i}")) for i in range(5)))

asyncio.run(main())
"""

FAIL = """
import asyncio, resource, sys
from pathlib import Path
from agent_core.errors import StoreError
from agent_core.state.engine import meta
from agent_core.state.engine.opening import EngineLimits
from agent_core.state.engine.database import Database

def put(key, value):
    return lambda connection: meta.put(connection, key=key, value=value)

async def attempt(database, key, value):
    try:
        await database.write(key, put(key, value))
    except StoreError as error:
        print(type(error).__name__, error)
    else:
        print("written")

async def main():
    path = Path(sys.argv[1])
    database = await Database.open(path)
    await attempt(database, "kept", "small")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.with_name("state.db-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10_000, hard))
    await attempt(database, "lost", "x" * 100_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await attempt(database, "later", "small")
    print(database.failure())
    print(await database.read(lambda c: c.execute("SELECT key FROM meta").fetchall()))
    await database.close()

asyncio.run(main())
"""

SHORT = """
import asyncio, logging, resource, sys
from pathlib import Path
from agent_core.state.engine import meta
from agent_core.state.engine.database import Database

logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")

def put(key):
    return lambda connection: meta.put(connection, key=key, value=key)

async def main():
    path = Path(sys.argv[1])
    database = await Database.open(path)
    await database.write("k0", put("k0"))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.with_name("state.db-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1_000_000, hard))
    for number in range(1, 40):
        await database.write(f"k{number}", put(f"k{number}"))
    print(len(await database.read(lambda c: c.execute("SELECT key FROM meta").fetchall())))
    await database.close()

asyncio.run(main())
"""


def _keys(connection: Connection) -> set[str]:
    return {key for (key,) in connection.execute("SELECT key FROM meta")}


async def _fill(path: Path) -> None:
    """A closed database of some hundred pages."""
    database = await Database.open(path)

    def work(connection: Connection) -> None:
        for number in range(200):
            meta.put(connection, key=f"k{number}", value="x" * 2_000)

    await database.write("fill", work)
    await database.close()


def _pretend_a_crash(path: Path) -> None:
    path.with_name("state.lock").write_text("1 running\n")


def _overwrite(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(range(256)) * 16)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [("begin", {"first"}), ("committed", {"first", "n0", "n1", "n2", "n3", "n4"})],
)
async def test_a_killed_process_leaves_all_of_a_group_or_nothing(
    path: Path, run_script: RunScript, moment: str, expected: set[str]
) -> None:
    ended = run_script(DIE, path, moment)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    database = await Database.open(path)
    assert await database.read(_keys) == expected
    await database.close()


async def test_the_file_is_checked_after_a_crash_and_only_then(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await _fill(path)
    await (await Database.open(path)).close()
    assert "check" not in caplog.text
    _pretend_a_crash(path)
    database = await Database.open(path)
    assert f"{path} was not closed properly; running integrity_check" in caplog.text
    assert len(await database.read(_keys)) == 200
    await database.close()


async def test_a_large_file_gets_the_quick_check(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await _fill(path)
    _pretend_a_crash(path)
    await (await Database.open(path, limits=EngineLimits(largest_full_check=100_000))).close()
    assert "running quick_check" in caplog.text


async def test_a_file_whose_mark_is_gone_is_checked_too(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await _fill(path)
    path.with_name("state.lock").unlink()
    await (await Database.open(path)).close()
    assert "integrity_check" in caplog.text


async def test_damage_is_named_with_the_newest_backup_and_nothing_is_touched(path: Path) -> None:
    await _fill(path)
    _overwrite(path, 50)
    damaged = read_file(path)
    _pretend_a_crash(path)
    for _ in range(2):  # a second start is not let through either
        with pytest.raises(StoreDamaged) as caught:
            await Database.open(path)
        assert str(caught.value).startswith(f"{path} is damaged (")
        assert f"none lies in {path.parent / 'backups'}" in str(caught.value)
    assert read_file(path) == damaged


async def test_a_backup_put_in_place_as_the_sentence_says_is_opened(path: Path) -> None:
    await _fill(path)
    database = await Database.open(path)
    backup = path.parent / "backups" / "mine.db"
    backup.parent.mkdir()
    await database.back_up(backup)
    await database.close()
    _overwrite(path, 50)
    _pretend_a_crash(path)
    (backup.parent / ".copy-1.db").touch()  # of a backup that was killed
    sentence = f"Stop Talaria and run `talaria restore {backup}`"
    with pytest.raises(StoreDamaged, match=sentence):
        await Database.open(path)
    place = RestorePlace(
        home=path.parent, database=path.name, kept={"backups", "state.lock", ".restore"}
    )
    restore(place, backup, Keys(), backup.parent / "aside", now=0)
    database = await Database.open(path)
    assert len(await database.read(_keys)) == 200
    await database.close()


async def test_a_file_that_is_no_database_is_damage_even_after_a_clean_stop(path: Path) -> None:
    await _fill(path)
    write_file(path, b"this is a text file\n" * 1000)
    with pytest.raises(StoreDamaged, match=r"file is not a database.*none lies in"):
        await Database.open(path)


async def test_damage_met_while_reading_makes_the_next_start_look(path: Path) -> None:
    await _fill(path)
    for page in range(200, 240):  # filled pages; those of the empty schema come before
        _overwrite(path, page)
    lock = path.with_name("state.lock")
    assert lock.read_text().endswith(" clean\n")
    database = await Database.open(path)
    with pytest.raises(StoreDamaged, match=f"{path} is damaged"):
        await database.read(lambda c: c.execute("SELECT SUM(LENGTH(value)) FROM meta").fetchall())
    await database.close()
    assert lock.read_text().endswith(" running\n")
    with pytest.raises(StoreDamaged):
        await Database.open(path)


async def test_after_a_failed_disk_nothing_more_is_written_until_a_restart(
    path: Path, run_script: RunScript
) -> None:
    ended = run_script(FAIL, path)
    assert ended.returncode == 0, ended.stderr
    first, lost, later, failure, seen = ended.stdout.splitlines()
    assert first == "written"
    assert lost.startswith(f"StoreError the disk that holds {path} failed: disk I/O error")
    assert later == f"StoreError {failure}"
    assert failure.endswith("nothing more is written until Talaria is restarted")
    assert seen == "[('kept',)]"
    assert path.with_name("state.lock").read_text().endswith(" running\n")
    database = await Database.open(path)
    assert await database.read(_keys) == {"kept"}
    await database.close()


async def test_a_wal_that_cannot_become_longer_harms_no_write(
    path: Path, run_script: RunScript
) -> None:
    ended = run_script(SHORT, path)
    assert ended.returncode == 0, ended.stderr
    assert f"the WAL of {path} stays short: [Errno 27] File too large" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "40"


async def test_a_writer_that_is_cancelled_leaves_nobody_waiting(path: Path) -> None:
    database = await Database.open(path)
    (writer,) = [task for task in asyncio.all_tasks() if task.get_name() == "state-writer"]
    writing = [asyncio.create_task(database.write("n", lambda connection: None)) for _ in range(3)]
    await asyncio.sleep(0)
    writer.cancel()
    results = await asyncio.gather(*writing, return_exceptions=True)
    assert {str(result) for result in results} == {
        "the writer was stopped before its commit was known"
    }
    assert database.failure() == f"the writer of {path} was stopped"
    with pytest.raises(StoreError, match="was stopped"):
        await database.write("late", lambda connection: None)
    with pytest.raises(asyncio.CancelledError):
        await database.close()
    assert path.with_name("state.lock").read_text().endswith(" running\n")
    await (await Database.open(path)).close()


async def test_a_foreign_program_that_holds_the_file_is_named_as_such(
    path: Path,
) -> None:
    database = await Database.open(path, limits=EngineLimits(busy_timeout=0.05))
    with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is held by another program"):
            await database.write("n", lambda connection: None)
        assert "another program" in database.failure()
        foreign.execute("ROLLBACK")
    await database.write("n", lambda connection: None)
    assert database.failure() == ""
    await database.close()
