"""Inlets: events and the marks of what was read are on disk together, and neither goes back."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.errors import Unreachable
from adapters.ids import EventId
from adapters.messages import RawEvent
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues.inbox import InboxRow
from gateway.inbound.events import PlatformInlet
from tests.databases import open_database
from tests.patience import PATIENCE


@dataclass
class Rig:
    """An inlet, and what the hall was told of."""

    database: Database
    taken: list[str] = field(default_factory=list)
    is_open: bool = True

    def inlet(self, platform: str = "fake") -> PlatformInlet:
        return PlatformInlet(
            platform=platform,
            database=self.database,
            is_open=lambda: self.is_open,
            taken=self._note,
            notice=lambda _: None,
            now=lambda: 1,
        )

    async def stored(self) -> list[str]:
        def look(connection: Connection) -> list[str]:
            rows = connection.execute("SELECT event_id FROM inbox ORDER BY id").fetchall()
            return [row[0] for row in rows]

        return await self.database.read(look)

    def _note(self, rows: Sequence[InboxRow]) -> None:
        self.taken += [row.event_id for row in rows]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    database = await open_database(tmp_path / "state.db")
    yield Rig(database)
    await database.close()


def event(name: str, *, channel: str = "", position: str = "") -> RawEvent:
    return RawEvent(event_id=EventId(name), payload="{}", channel=channel, position=position)


async def test_the_mark_is_the_greatest_position_whatever_the_order(rig: Rig) -> None:
    inlet = rig.inlet()
    await inlet.take(
        [
            event("b", channel="x", position="002"),
            event("c", channel="x", position="003"),
            event("a", channel="x", position="001"),
            event("d", channel="y", position="009"),
        ]
    )
    assert await inlet.marks() == {"x": "003", "y": "009"}
    assert rig.taken == ["b", "c", "a", "d"]


async def test_a_mark_never_goes_back(rig: Rig) -> None:
    inlet = rig.inlet()
    await inlet.take([event("b", channel="x", position="002")])
    await inlet.take([event("a", channel="x", position="001")])
    assert await inlet.marks() == {"x": "002"}


async def test_an_event_without_a_position_moves_no_read_position(rig: Rig) -> None:
    inlet = rig.inlet()
    await inlet.take([event("a", channel="x"), event("b")])
    assert await inlet.marks() == {}
    assert rig.taken == ["a", "b"]


async def test_a_repeated_event_only_moves_the_read_position(
    rig: Rig,
) -> None:
    inlet = rig.inlet()
    await inlet.take([event("a", channel="x")])
    await inlet.take([event("a", channel="x", position="005")])
    assert await inlet.marks() == {"x": "005"}
    assert rig.taken == ["a"]


async def test_platforms_have_marks_of_their_own(rig: Rig) -> None:
    await rig.inlet("one").take([event("a", channel="x", position="1")])
    await rig.inlet("two").take([event("a", channel="x", position="2")])
    assert await rig.inlet("one").marks() == {"x": "1"}
    assert await rig.inlet("two").marks() == {"x": "2"}
    assert rig.taken == ["a", "a"]


@pytest.mark.parametrize("table", ["inbox", "read_positions"])
async def test_events_and_marks_are_stored_together_or_not_at_all(rig: Rig, table: str) -> None:
    trigger = f"CREATE TRIGGER no BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"
    await rig.database.write("test", lambda c: c.execute(trigger))
    inlet = rig.inlet()
    with pytest.raises(Unreachable, match="can't be stored"):
        await inlet.take([event("a", channel="x", position="1")])
    assert (await rig.stored(), await inlet.marks(), rig.taken) == ([], {}, [])


async def test_a_closed_gateway_takes_nothing(rig: Rig) -> None:
    rig.is_open = False
    with pytest.raises(Unreachable, match="shutting down"):
        await rig.inlet().take([event("a")])
    assert await rig.stored() == []


async def test_a_stored_event_is_handled_after_its_platform_gave_up(rig: Rig) -> None:
    """A second delivery would be passed over as known, and nobody would ever look at it."""
    go = asyncio.Event()
    loop = asyncio.get_running_loop()

    def block(_: Connection) -> None:
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(10)

    blocking = asyncio.create_task(rig.database.write("block", block))
    await asyncio.sleep(0)
    taking = asyncio.create_task(rig.inlet().take([event("a")]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    go.set()
    await blocking
    async with asyncio.timeout(PATIENCE):
        while not rig.taken:
            await asyncio.sleep(0.002)
    assert await rig.stored() == ["a"]
