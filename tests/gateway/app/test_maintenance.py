"""TaskRunner work: done once, tried again, given up with a reason, and never lost to a restart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import tasks
from agent_core.state.queues.tasks import Task
from gateway.app.maintenance import TaskHandler, TaskRunner
from tests.agent_core.state.rows import add_person
from tests.databases import open_database
from tests.patience import PATIENCE

START = 1_000_000
MINUTE = 60_000


class Time:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    await opened.write("person", add_person)
    yield opened
    await opened.close()


@pytest.fixture
def time() -> Time:
    return Time()


@asynccontextmanager
async def working(database: Database, time: Time, **handlers: TaskHandler) -> AsyncIterator[None]:
    background = TaskRunner(
        database=database, handlers=handlers, now=time, wakeup=asyncio.Event(), poll=0.002
    )
    task = asyncio.create_task(background.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def enqueue(database: Database, key: str, kind: str = "knit") -> None:
    await database.write(
        "owe",
        lambda c: tasks.enqueue(
            c, kind=kind, key=key, person_id=PersonId(1), payload=f"[{key}]", now=START
        ),
    )


async def rows(database: Database) -> list[tuple[str, int, str]]:
    def look(connection: Connection) -> list[tuple[str, int, str]]:
        return connection.execute(
            "SELECT state, attempts, reason FROM tasks ORDER BY id"
        ).fetchall()

    return await database.read(look)


async def until(database: Database, *wanted: tuple[str, int]) -> None:
    """Return once the tasks are in these states after so many attempts."""
    async with asyncio.timeout(PATIENCE):
        while [row[:2] for row in await rows(database)] != list(wanted):
            await asyncio.sleep(0.002)


async def test_tasks_run_once_oldest_first(database: Database, time: Time) -> None:
    done: list[str] = []

    async def knit(task: Task) -> None:
        done.append(task.payload)

    for key in ("a", "b", "a", "c"):
        await enqueue(database, key)
    async with working(database, time, knit=knit):
        await until(database, ("done", 1), ("done", 1), ("done", 1))
    assert done == ["[a]", "[b]", "[c]"]


async def test_failing_tasks_are_retried_with_backoff_and_given_up(
    database: Database, time: Time
) -> None:
    tried: list[int] = []

    async def break_down(task: Task) -> None:
        tried.append(time.now - START)
        raise RuntimeError("planned")

    await enqueue(database, "a")
    async with working(database, time, knit=break_down):
        for attempt, pause in ((1, 2), (2, 4)):
            await until(database, ("owed", attempt))
            time.now += pause * MINUTE
        await until(database, ("dead", 3))
    assert tried == [0, 2 * MINUTE, 6 * MINUTE]
    assert "planned" in (await rows(database))[0][2]


async def test_an_unknown_task_harms_no_other(database: Database, time: Time) -> None:
    async def knit(task: Task) -> None:
        """Done."""

    await enqueue(database, "a", kind="juggle")
    await enqueue(database, "b")
    async with working(database, time, knit=knit):
        await until(database, ("owed", 1), ("done", 1))
    assert "juggle" in (await rows(database))[0][2]


async def test_an_interrupted_task_is_done_by_the_next_process(
    database: Database, time: Time
) -> None:
    begun = asyncio.Event()

    async def hang(task: Task) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def knit(task: Task) -> None:
        """Done."""

    await enqueue(database, "a")
    async with working(database, time, knit=hang):
        await begun.wait()
    assert [row[0] for row in await rows(database)] == ["running"]
    async with working(database, time, knit=knit):
        await until(database, ("done", 2))


@pytest.mark.parametrize("refused", ["done", "owed"])
async def test_a_task_whose_end_could_not_be_stored_is_kept(
    database: Database, time: Time, refused: str
) -> None:
    async def knit(task: Task) -> None:
        if task.attempts == 2:
            await relent()
        elif refused == "owed":
            raise RuntimeError("planned")

    async def relent() -> None:
        await database.write("relent", lambda c: c.execute("DROP TRIGGER no"))

    await enqueue(database, "a")
    trigger = (
        f"CREATE TRIGGER no BEFORE UPDATE ON tasks WHEN NEW.state = '{refused}'"
        " AND OLD.reason <> NEW.reason OR NEW.state = 'done' BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    await database.write("refuse", lambda c: c.execute(trigger))
    async with working(database, time, knit=knit):
        await until(database, ("done", 2))
