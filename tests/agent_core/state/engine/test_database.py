"""Transactions: in groups, each on its own, and safe from one another."""

import asyncio
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_core.errors import StoreError, StoreFull
from agent_core.state.engine import meta
from agent_core.state.engine.database import WAKEUPS_PER_ROUND, Connection, Database
from agent_core.state.engine.opening import LONGEST_KEPT_WAL, EngineLimits
from agent_core.state.people import people
from tests.agent_core.state.conftest import read_file, write_file

WAIT_SECONDS = 10


class Gate:
    """A work that holds the writer's thread, so that others gather behind it."""

    def __init__(self) -> None:
        self._has_begun = threading.Event()
        self._may_end = threading.Event()

    def hold(self, connection: Connection) -> str:
        meta.put(connection, key="gate", value="open")
        self._has_begun.set()
        assert self._may_end.wait(WAIT_SECONDS)
        return "held"

    async def begun(self) -> None:
        assert await asyncio.to_thread(self._has_begun.wait, WAIT_SECONDS)

    def open(self) -> None:
        self._may_end.set()


class Commits:
    """What the observer of a database was told."""

    def __init__(self) -> None:
        self.reported: list[tuple[str, tuple[str, ...]]] = []
        self.threads: set[str] = set()

    def __call__(self, moment: str, names: tuple[str, ...]) -> None:
        self.reported.append((moment, names))
        self.threads.add(threading.current_thread().name)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        return [names for moment, names in self.reported if moment == "committed"]


@pytest.fixture
def commits() -> Commits:
    return Commits()


@pytest.fixture
async def observed(path: Path, commits: Commits) -> AsyncIterator[Database]:
    database = await Database.open(path, observe=commits)
    yield database
    await database.close()


def put(key: str) -> object:
    return lambda connection: meta.put(connection, key=key, value=key)


async def keys(database: Database) -> set[str]:
    def work(connection: Connection) -> set[str]:
        return {key for (key,) in connection.execute("SELECT key FROM meta")}

    return await database.read(work)


async def gather_behind(database: Database, gate: Gate, works: dict) -> list[asyncio.Task]:
    """Start the gate, then all works; they are queued when this returns."""
    first = asyncio.create_task(database.write("gate", gate.hold))
    await gate.begun()
    tasks = [asyncio.create_task(database.write(name, work)) for name, work in works.items()]
    await asyncio.sleep(0)
    return [first, *tasks]


async def no_threads_left() -> None:
    """Wait until no connection's thread lives, which would keep the process alive."""
    async with asyncio.timeout(WAIT_SECONDS):
        while any("_connection_worker" in thread.name for thread in threading.enumerate()):
            await asyncio.sleep(0.01)


async def test_a_write_returns_what_its_work_returned_and_is_there(database: Database) -> None:
    def work(connection: Connection) -> int:
        meta.put(connection, key="a", value="1")
        return 42

    assert await database.write("answer", work) == 42
    assert await keys(database) == {"a"}
    assert database.failure() == ""


async def test_what_gathers_while_one_commits_is_committed_together(
    observed: Database, commits: Commits
) -> None:
    gate = Gate()
    tasks = await gather_behind(observed, gate, {f"n{i}": put(f"n{i}") for i in range(5)})
    gate.open()
    await asyncio.gather(*tasks)
    assert commits.groups == [("gate",), ("n0", "n1", "n2", "n3", "n4")]
    assert await keys(observed) == {"gate", "n0", "n1", "n2", "n3", "n4"}


async def test_writes_of_the_same_instant_share_their_first_commit(
    observed: Database, commits: Commits
) -> None:
    await asyncio.gather(*(observed.write(f"n{i}", put(f"n{i}")) for i in range(12)))
    assert [len(names) for names in commits.groups] == [12]


async def test_a_patient_write_shares_the_commit_of_the_next(
    observed: Database, commits: Commits
) -> None:
    patient = asyncio.create_task(observed.write_later(60, "patient", put("patient")))
    await asyncio.sleep(0)
    await observed.write("eager", put("eager"))
    await patient
    assert commits.groups == [("patient", "eager")]


async def test_a_patient_write_does_not_wait_for_ever(observed: Database) -> None:
    await observed.write_later(0.001, "patient", put("patient"))
    assert await keys(observed) == {"patient"}


async def test_a_patient_write_is_not_lost_when_the_database_is_closed(path: Path) -> None:
    database = await Database.open(path)
    patient = asyncio.create_task(database.write_later(60, "patient", put("patient")))
    await asyncio.sleep(0)
    await database.close()
    await patient
    again = await Database.open(path)
    assert await keys(again) == {"patient"}
    await again.close()


async def test_a_crowd_goes_on_a_few_at_a_time(observed: Database, commits: Commits) -> None:
    rounds = 0

    async def count_rounds() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    async def write(number: int) -> int:
        await observed.write(f"n{number}", put(f"n{number}"))
        return rounds

    counting = asyncio.create_task(count_rounds())
    went_on = Counter(await asyncio.gather(*(write(number) for number in range(100))))
    counting.cancel()
    assert [len(names) for names in commits.groups] == [100]
    assert max(went_on.values()) == WAKEUPS_PER_ROUND


async def test_the_observer_is_told_before_and_after_on_the_thread_of_the_writer(
    observed: Database, commits: Commits
) -> None:
    await observed.write("one", put("one"))
    assert commits.reported == [("begin", ("one",)), ("committed", ("one",))]
    assert commits.threads != {threading.current_thread().name}


async def test_a_group_has_an_upper_end(path: Path, commits: Commits) -> None:
    limits = EngineLimits(largest_group=3)
    database = await Database.open(path, observe=commits, limits=limits)
    gate = Gate()
    tasks = await gather_behind(database, gate, {f"n{i}": put(f"n{i}") for i in range(7)})
    gate.open()
    await asyncio.gather(*tasks)
    await database.close()
    assert [len(names) for names in commits.groups] == [1, 3, 3, 1]


async def test_no_write_returns_before_its_commit(path: Path) -> None:
    has_returned: list[str] = []
    seen_at_commit: list[list[str]] = []
    database = await Database.open(
        path, observe=lambda moment, names: seen_at_commit.append(list(has_returned))
    )

    async def write(name: str) -> None:
        await database.write(name, put(name))
        has_returned.append(name)

    await asyncio.gather(*(write(f"n{i}") for i in range(10)))
    assert seen_at_commit == [[], []]
    assert len(has_returned) == 10
    await database.close()


async def test_one_failing_work_is_rolled_back_alone(observed: Database, commits: Commits) -> None:
    def fail(connection: Connection) -> None:
        meta.put(connection, key="bad", value="half done")
        raise ValueError("this one only")

    gate = Gate()
    works = {"a": put("a"), "bad": fail, "b": put("b")}
    tasks = await gather_behind(observed, gate, works)
    gate.open()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [str, type(None), ValueError, type(None)]
    assert commits.groups[-1] == ("a", "b")
    assert await keys(observed) == {"gate", "a", "b"}


async def test_a_work_that_fails_alone_leaves_nothing(observed: Database, commits: Commits) -> None:
    def fail(connection: Connection) -> None:
        meta.put(connection, key="bad", value="half done")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await observed.write("bad", fail)
    assert await keys(observed) == set()
    assert commits.reported == []


async def test_a_failure_in_the_middle_of_a_returning_statement_harms_nobody(
    database: Database,
) -> None:
    await asyncio.gather(*(database.write(k, put(k)) for k in ("x", "y", "z")))

    def fail_half_way(connection: Connection) -> None:
        for (key,) in connection.execute("UPDATE meta SET value = 'bad' RETURNING key"):
            raise LookupError(key)

    gate = Gate()
    tasks = await gather_behind(database, gate, {"bad": fail_half_way, "a": put("a")})
    gate.open()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [str, LookupError, type(None)]
    values = await database.read(lambda c: c.execute("SELECT value FROM meta").fetchall())
    assert ("bad",) not in values
    assert await keys(database) == {"gate", "a", "x", "y", "z"}


async def test_even_a_stop_iteration_ends_in_its_own_caller(database: Database) -> None:
    gate = Gate()
    works = {"bad": lambda connection: next(iter(())), "a": put("a")}
    tasks = await gather_behind(database, gate, works)
    gate.open()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [str, RuntimeError, type(None)]


async def test_an_error_of_sqlite_reaches_the_caller_as_one_of_the_core(
    database: Database, path: Path
) -> None:
    with pytest.raises(StoreError, match="no such table: nowhere") as caught:
        await database.write("bad", lambda connection: connection.execute("SELECT * FROM nowhere"))
    assert str(path) in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.Error)
    assert database.failure() == ""


async def test_a_commit_that_fails_is_told_to_everyone_in_it(database: Database) -> None:
    def orphan(connection: Connection) -> None:
        connection.execute("PRAGMA defer_foreign_keys = ON")  # checked by COMMIT, not before
        connection.execute(
            "INSERT INTO conversations (key, person_id, scope, created_at) VALUES ('k', 9, '', 0)"
        )

    gate = Gate()
    tasks = await gather_behind(database, gate, {"a": put("a"), "bad": orphan})
    gate.open()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [str, StoreError, StoreError]
    assert results[1] is not results[2]
    assert await keys(database) == {"gate"}
    assert "FOREIGN KEY" in database.failure()
    await database.write("a", put("a"))
    assert database.failure() == ""


async def test_a_work_may_not_end_the_transaction(database: Database) -> None:
    with pytest.raises(StoreError, match="'cheat' ended its transaction"):
        await database.write("cheat", lambda connection: connection.execute("COMMIT"))
    await database.write("honest", put("honest"))
    assert await keys(database) == {"honest"}


async def test_a_cancelled_caller_does_not_break_the_others(
    observed: Database, commits: Commits
) -> None:
    gate = Gate()
    tasks = await gather_behind(observed, gate, {"a": put("a"), "b": put("b"), "c": put("c")})
    tasks[0].cancel()  # its work is running
    tasks[2].cancel()  # its work has not begun
    await asyncio.sleep(0)
    gate.open()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    cancelled = [isinstance(result, asyncio.CancelledError) for result in results]
    assert cancelled == [True, False, True, False]
    assert commits.groups == [("gate",), ("a", "c")]
    assert await keys(observed) == {"gate", "a", "c"}


async def test_a_full_disk_is_told_until_a_write_succeeds_again(database: Database) -> None:
    def limit(pages: int) -> object:
        return lambda c: c.execute(f"PRAGMA max_page_count = {pages}").fetchone()

    await database.write("limit", limit(1))  # SQLite takes it as the present size
    with pytest.raises(StoreFull, match="is full; nothing was written"):
        await database.write("big", lambda c: meta.put(c, key="big", value="x" * 1_000_000))
    assert "full" in database.failure()
    await database.write("limit", limit(1_000_000))
    assert database.failure() == ""
    await database.write("big", lambda c: meta.put(c, key="big", value="x" * 1_000_000))
    assert await keys(database) == {"big"}


async def test_a_disk_that_fills_up_is_told_to_everyone_in_the_group(
    database: Database,
) -> None:
    await database.write("limit", lambda c: c.execute("PRAGMA max_page_count = 1").fetchone())
    gate = Gate()
    works = {"big": lambda c: meta.put(c, key="big", value="x" * 1_000_000), "a": put("a")}
    tasks = await gather_behind(database, gate, works)
    gate.open()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    # SQLite gives up the whole transaction, not the one statement.
    assert [type(result) for result in results] == [str, StoreFull, StoreFull]
    assert "full" in database.failure()
    assert await keys(database) == {"gate"}
    await database.write("a", put("a"))
    assert database.failure() == ""


async def test_a_read_sees_one_moment(database: Database) -> None:
    await database.write("a", put("a"))
    may_go_on, has_counted = threading.Event(), threading.Event()

    def count_twice(connection: Connection) -> tuple[int, int]:
        first = connection.execute("SELECT COUNT(*) FROM meta").fetchone()[0]
        has_counted.set()
        assert may_go_on.wait(WAIT_SECONDS)
        return first, connection.execute("SELECT COUNT(*) FROM meta").fetchone()[0]

    counting = asyncio.create_task(database.read(count_twice))
    assert await asyncio.to_thread(has_counted.wait, WAIT_SECONDS)
    await database.write("b", put("b"))
    assert await keys(database) == {"a", "b"}  # the other reader is free
    may_go_on.set()
    assert await counting == (1, 1)


async def test_a_read_may_not_write(database: Database) -> None:
    with pytest.raises(StoreError, match="readonly"):
        await database.read(lambda connection: meta.put(connection, key="a", value="b"))
    assert await keys(database) == set()


async def test_a_reader_is_usable_after_its_work_failed(database: Database) -> None:
    def fail(connection: Connection) -> None:
        connection.execute("SELECT 1").fetchone()
        raise ValueError("no")

    for _ in range(4):
        with pytest.raises(ValueError, match="no"):
            await database.read(fail)
    assert await keys(database) == set()


async def test_what_was_asked_for_before_the_close_is_written(path: Path) -> None:
    database = await Database.open(path)
    gate = Gate()
    tasks = await gather_behind(database, gate, {"a": put("a"), "b": put("b")})
    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    gate.open()
    await asyncio.gather(closing, *tasks)
    database = await Database.open(path)
    assert await keys(database) == {"gate", "a", "b"}
    await database.close()


async def test_a_closed_database_refuses_everything_and_can_be_closed_again(path: Path) -> None:
    database = await Database.open(path)
    await database.close()
    await database.close()
    with pytest.raises(StoreError, match="is closed"):
        await database.write("late", put("late"))
    with pytest.raises(StoreError, match="is closed"):
        await database.read(lambda connection: None)
    with pytest.raises(StoreError, match="is closed"):
        await database.back_up(path.with_name("copy.db"))


async def test_a_close_does_not_wait_for_an_endless_read(path: Path) -> None:
    database = await Database.open(path)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
    reading = asyncio.create_task(database.read(lambda c: c.execute(endless).fetchone()))
    await asyncio.sleep(0)
    async with asyncio.timeout(WAIT_SECONDS):
        await database.close()
    with pytest.raises(StoreError, match="interrupted"):
        await reading


async def test_a_start_that_is_cancelled_leaves_no_thread_and_no_lock(path: Path) -> None:
    was_cut_short = 0
    for steps in range(0, 200, 7):
        opening = asyncio.create_task(Database.open(path))
        for _ in range(steps):
            await asyncio.sleep(0)
        opening.cancel()
        try:
            database = await opening
        except asyncio.CancelledError:
            was_cut_short += 1
        else:
            await database.close()
    assert was_cut_short > 3
    await no_threads_left()
    await (await Database.open(path)).close()


async def test_a_close_that_is_cancelled_still_closes_everything(path: Path) -> None:
    database = await Database.open(path)
    gate = Gate()
    (deferred,) = await gather_behind(database, gate, {})
    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.sleep(0)
    gate.open()
    with pytest.raises(asyncio.CancelledError):
        await closing
    with pytest.raises(StoreError, match="stopped before its commit was known"):
        await deferred
    await no_threads_left()
    database = await Database.open(path)  # the lock is free, and the work did commit
    assert await keys(database) == {"gate"}
    await database.close()


async def test_commits_need_not_make_the_wal_longer(database: Database, path: Path) -> None:
    wal = path.with_name("state.db-wal")
    written = set[str]()

    async def commit(times: int) -> None:
        for _ in range(times):
            key = f"n{len(written)}"
            written.add(key)
            await database.write(key, put(key))

    await commit(10)
    assert wal.stat().st_size < LONGEST_KEPT_WAL / 8, "few commits leave it short"
    while wal.stat().st_size < LONGEST_KEPT_WAL and len(written) < 1_000:
        await commit(1)
    assert len(written) < 200
    await commit(50)
    assert wal.stat().st_size == LONGEST_KEPT_WAL
    assert await keys(database) == written


async def test_a_wal_with_zeros_behind_its_last_commit_is_read_after_a_crash(
    database: Database, path: Path, tmp_path: Path
) -> None:
    for number in range(100):
        await database.write(f"n{number}", put(f"n{number}"))
    wal = read_file(path.with_name("state.db-wal"))
    assert wal.endswith(bytes(1 << 20)), "zeros lie behind the last commit"
    left = tmp_path / "left" / "state.db"
    left.parent.mkdir()
    write_file(left, read_file(path))
    write_file(left.with_name("state.db-wal"), wal)
    opened = await Database.open(left)
    assert await keys(opened) == {f"n{number}" for number in range(100)}
    await opened.write("later", put("later"))
    assert len(await keys(opened)) == 101
    await opened.close()


async def test_a_wal_of_zeros_alone_holds_nothing(path: Path) -> None:
    database = await Database.open(path)
    await database.write("a", put("a"))
    await database.close()
    write_file(path.with_name("state.db-wal"), bytes(2 << 20))
    opened = await Database.open(path)
    await opened.write("b", put("b"))
    assert await keys(opened) == {"a", "b"}
    await opened.close()
    assert not path.with_name("state.db-wal").exists()


async def test_the_files_are_for_their_owner_only(database: Database, path: Path) -> None:
    await database.write("a", put("a"))
    files = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert set(files) == {"state.db", "state.db-wal", "state.db-shm", "state.lock"}
    assert set(files.values()) == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_every_commit_is_on_the_disk_and_foreign_keys_hold(database: Database) -> None:
    def pragmas(connection: Connection) -> tuple[object, ...]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)

    assert await database.write("pragmas", pragmas) == ("wal", 2, 1)


def _add_person(connection: Connection) -> None:
    people.insert(connection, slug="ana", name="Ana", role="owner", now=1)


def _add_job(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO jobs (person_id, kind, title, body, timing, zone, late, options, targets,"
        " is_urgent, state, reason, failures, actor, created_at, checksum) SELECT id, 'message',"
        " '', '', '', '', 'skip', '', '', 0, 'active', '', 0, '', 1, 1 FROM people"
    )


async def test_a_commit_that_may_have_changed_a_watched_table_is_counted(
    database: Database,
) -> None:
    counts = [database.count_changes("jobs")]

    async def count_after(work: Callable[[Connection], object]) -> bool:
        await database.write("test", work)
        counts.append(database.count_changes("jobs"))
        return counts[-1] > counts[-2]

    assert not await count_after(_add_person)
    assert not await count_after(lambda c: meta.put(c, key="a", value="b"))
    assert await count_after(_add_job)
    assert await count_after(lambda c: c.execute("UPDATE jobs SET title = 'new'"))
    assert not await count_after(lambda c: c.execute("SELECT * FROM jobs").fetchall())
    assert await count_after(lambda c: c.execute("DELETE FROM jobs"))


async def test_a_change_is_counted_before_its_writer_goes_on_and_not_before_its_commit(
    database: Database,
) -> None:
    await database.write("test", _add_person)
    gate = Gate()

    def work(connection: Connection) -> None:
        _add_job(connection)
        gate.hold(connection)

    before = database.count_changes("jobs")
    writing = asyncio.create_task(database.write("test", work))
    await gate.begun()
    assert database.count_changes("jobs") == before, "a reader would keep what is still old"
    gate.open()
    await writing
    assert database.count_changes("jobs") > before


async def test_threads_take_quick_turns_while_somebody_browses(database: Database) -> None:
    usual = sys.getswitchinterval()
    inner = await database.browse(lambda _: sys.getswitchinterval())
    assert inner < usual
    assert sys.getswitchinterval() == usual
