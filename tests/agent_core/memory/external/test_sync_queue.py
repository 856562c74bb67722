"""The sync queue of an external memory: order, retries, restarts and erasure."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.ids import PersonId, TurnId
from agent_core.memory.external.client import ExternalMemory, ExternalMemoryOptions
from agent_core.memory.external.contact import ProviderConnection, ProviderHealth, Pseudonyms
from agent_core.memory.external.honcho import create
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import external_sync
from tests.databases import open_database
from tests.emulators.honcho import HonchoEmulator, Json
from tests.patience import PATIENCE

ANN, BOB = PersonId(1), PersonId(2)


@dataclass
class Clock:
    now: int = 1_000

    def __call__(self) -> int:
        return self.now

    def go_on(self) -> None:
        """Let a thousand seconds pass."""
        self.now += 1_000_000


@dataclass
class Desk:
    """A queue at work, its clock and its provider."""

    outside: ExternalMemory
    database: Database
    server: HonchoEmulator
    clock: Clock

    async def enqueue(self, *turns: tuple[int, PersonId]) -> None:
        def work(connection: Connection) -> None:
            for number, person_id in turns:
                self.outside.enqueue_turn(connection, TurnId(number), person_id)

        await self.database.write("owe", work)
        self.outside.wake()

    async def until(self, is_so: Callable[[list[tuple[str, str, int]]], bool]) -> None:
        """Return once the rows, as (key, state, attempts), are so."""
        async with asyncio.timeout(PATIENCE):
            while not is_so(await self.database.read(_list_rows)):
                await asyncio.sleep(0.005)


def _list_rows(connection: Connection) -> list[tuple[str, str, int]]:
    return connection.execute(
        "SELECT key, state, attempts FROM external_sync ORDER BY id"
    ).fetchall()


@pytest.fixture
async def server() -> AsyncIterator[HonchoEmulator]:
    async with HonchoEmulator() as emulator:
        yield emulator


@pytest.fixture
async def desk(tmp_path: Path, server: HonchoEmulator) -> AsyncIterator[Desk]:
    async with at_work(tmp_path, server) as desk:
        yield desk


@asynccontextmanager
async def at_work(home: Path, server: HonchoEmulator) -> AsyncIterator[Desk]:
    database = await Database.open(home / "state.db")
    await database.write("people", _make_people)
    contact = ProviderConnection(
        provider=create({"base_url": server.url, "workspace": "house"}),
        names=await Pseudonyms.of(database),
        condition=ProviderHealth("honcho", first=0.01),
    )
    clock = Clock()
    outside = ExternalMemory(contact, database, clock, ExternalMemoryOptions(poll=0.01))
    running = asyncio.create_task(outside.run())
    try:
        yield Desk(outside=outside, database=database, server=server, clock=clock)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await outside.close()
        await database.close()


def _make_people(connection: Connection) -> None:
    """Two people with a talk each, and turns 1, 3 and 5 of Ann's, 2 and 4 of Bob's."""
    for person_id in (ANN, BOB):
        connection.execute(
            "INSERT INTO people (id, slug, name, role, created_at) VALUES (?, ?, ?, 'member', 1)",
            (person_id, f"p{person_id}", f"p{person_id}"),
        )
        connection.execute(
            "INSERT INTO conversations (id, key, person_id, scope, created_at)"
            " VALUES (?, ?, ?, ?, 1)",
            (person_id, f"direct:{person_id}", person_id, f"p{person_id}"),
        )
        connection.execute(
            "INSERT INTO sessions (id, conversation_id, started_at, last_at) VALUES (?, ?, 1, 1)",
            (person_id, person_id),
        )
    for number in range(1, 6):
        person_id = ANN if number % 2 else BOB
        connection.execute(
            "INSERT INTO turns (id, conversation_id, session_id, person_id, platform, chat, state,"
            " started_at) VALUES (?, ?, ?, ?, 'p', 'c', 'answered', 1)",
            (number, person_id, person_id, person_id),
        )
        connection.execute(
            "INSERT INTO messages (session_id, turn_id, person_id, scope, role, parts, text,"
            " platform, created_at, checksum) VALUES (?, ?, ?, 's', 'user', '[]', ?, 'p', 1, 1)",
            (person_id, number, person_id, f"words {number}"),
        )


def fail_over(words: str, fault: int) -> Callable[[str, Json], int | None]:
    return lambda route, body: fault if route == "messages" and words in str(body) else None


async def test_what_fails_holds_up_its_person_only_and_is_given_up_at_last(desk: Desk) -> None:
    desk.server.faults = fail_over("words 1", 500)
    await desk.enqueue((1, ANN), (2, BOB), (3, ANN), (4, BOB))
    await desk.until(lambda rows: ("turn:1", "owed", 1) in rows)
    await desk.server.wait_for(lambda: desk.server.said == ["words 2", "words 4"])
    await desk.until(lambda rows: desk.clock.go_on() or ("turn:1", "dead", 8) in rows)
    await desk.server.wait_for(lambda: desk.server.said == ["words 2", "words 4", "words 3"])
    report = await desk.outside.report()
    assert (report.state, report.dead) == ("ok", 1)


async def test_a_row_is_not_given_up_for_an_outage_however_long(desk: Desk) -> None:
    desk.server.faults = lambda route, body: 500
    await desk.enqueue((1, ANN))
    await desk.server.wait_for(lambda: desk.server.calls["workspaces"] > 3)
    desk.clock.now += 1_000_000_000
    desk.server.faults = lambda route, body: None
    await desk.server.wait_for(lambda: desk.server.said == ["words 1"])


async def test_one_row_of_a_person_stays_by_which_an_erasure_finds_them(desk: Desk) -> None:
    await desk.enqueue((1, ANN), (3, ANN), (5, ANN))
    await desk.until(lambda rows: rows == [("person:1", "done", 1)])
    assert desk.server.said == ["words 1", "words 3", "words 5"]


async def test_what_is_queued_twice_is_told_once(desk: Desk) -> None:
    desk.server.faults = lambda route, body: 503
    await desk.enqueue((1, ANN))
    await desk.enqueue((1, ANN))
    desk.server.faults = lambda route, body: None
    await desk.server.wait_for(lambda: desk.server.said == ["words 1"])
    await desk.until(lambda rows: rows == [("person:1", "done", 1)])


async def test_who_is_gone_while_they_are_told_of_leaves_nothing_but_the_erasure(
    desk: Desk,
) -> None:
    await desk.enqueue((1, ANN))
    await desk.until(lambda rows: rows == [("person:1", "done", 1)])
    hung = asyncio.Event()

    def hang(route: str, body: Json) -> str | None:
        if route == "messages":
            hung.set()
            return "late hang"
        return None

    desk.server.faults = hang  # type: ignore[assignment]
    await desk.enqueue((3, ANN))
    async with asyncio.timeout(PATIENCE):
        await hung.wait()

    def erase(connection: Connection) -> None:
        connection.execute("DELETE FROM external_sync")
        external_sync.enqueue(
            connection, provider="honcho", kind="erase", key="person:1", person_id=ANN, now=1
        )

    await desk.database.write("erase", erase)
    await desk.server.stop()
    desk.server.faults = lambda route, body: None
    await desk.server.start()
    await desk.until(lambda rows: rows == [("person:1", "done", 1)])
    assert desk.server.said == []


async def test_after_a_restart_it_goes_on_with_what_was_queued(
    tmp_path: Path, server: HonchoEmulator
) -> None:
    server.faults = fail_over("words", 503)
    async with at_work(tmp_path, server) as desk:
        await desk.enqueue((1, ANN))
        await server.wait_for(lambda: server.calls["messages"] > 0)
    server.faults = lambda route, body: None
    database = await open_database(tmp_path / "state.db")
    rows = await database.read(lambda c: external_sync.list_queued(c, provider="honcho", limit=9))
    await database.close()
    assert [(row.key, row.attempts > 0) for row in rows] == [("turn:1", True)]
