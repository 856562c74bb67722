"""Servers that hang, flood, die or lie: nobody else notices, and nothing is left of them."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.tools.mcp.contract import (
    CallOutcome,
    Listing,
    McpServer,
    McpSession,
    McpUnavailable,
    OpenSession,
    Surroundings,
)
from agent_core.tools.mcp.loading import load_sessions
from agent_core.tools.mcp.supervisor import McpConnection, Timings
from tests.agent_core.tools.mcp.conftest import hostile_server, python_server
from tests.patience import PATIENCE, until

pytestmark = [pytest.mark.process, pytest.mark.slow]

QUICK = Timings(start=90, first_pause=0.01, longest_pause=0.01, least_refresh=0.01)
"""A server's start imports the SDK, which takes long on a busy machine."""


async def ignore(server: McpServer, listing: Listing) -> None:
    pass


@asynccontextmanager
async def running(
    server: McpServer, surroundings: Surroundings, timings: Timings = QUICK
) -> AsyncIterator[McpConnection]:
    connection = McpConnection(server, surroundings, load_sessions, listed=ignore, timings=timings)
    task = asyncio.create_task(connection.run())
    try:
        yield connection
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def list_leftovers(script: str = "_server.py") -> list[str]:
    """The processes of servers of these tests that have this process above them."""
    return [line for line in list_below_us() if script in line]


def list_below_us() -> list[str]:
    found, lines = [Path("/proc/self")], []
    seen: set[str] = set()
    while found:
        place = found.pop()
        with suppress(OSError):
            for task in (place / "task").iterdir():
                for pid in (task / "children").read_text().split():
                    if pid not in seen:
                        seen.add(pid)
                        found.append(Path("/proc") / pid)
                        lines.append((Path("/proc") / pid / "cmdline").read_text())
    return lines


@pytest.mark.parametrize("how", ["hang", "die", "endless", "garbage"])
async def test_a_call_ends_in_bounded_time(how: str, surroundings: Surroundings) -> None:
    server = replace(hostile_server(how), seconds=1.0)
    async with running(server, surroundings) as connection:
        await until(lambda: connection.state == "ready")
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(McpUnavailable):
                await connection.call("work", {})


@pytest.mark.parametrize(
    ("how", "reason"), [("mute", "did not get ready in time"), ("babble", "does not speak MCP")]
)
async def test_a_server_that_is_none_is_reported(
    how: str, reason: str, surroundings: Surroundings
) -> None:
    timings = replace(QUICK, start=3.0, longest_pause=600.0, first_pause=600.0)
    async with running(hostile_server(how), surroundings, timings) as connection:
        await until(lambda: connection.state == "waiting")
        assert reason in connection.fault
        with pytest.raises(McpUnavailable, match="is not connected now"):
            await connection.call("work", {})


async def test_a_server_that_dies_is_connected_again(surroundings: Surroundings) -> None:
    async with running(hostile_server("die"), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        with pytest.raises(McpUnavailable):
            await connection.call("work", {})
        await until(lambda: connection.state != "ready")
        await until(lambda: connection.state == "ready")


async def test_ten_thousand_tools_are_cut(surroundings: Surroundings) -> None:
    async with running(hostile_server("many"), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        assert len(connection.listing.tools) == 128
        assert connection.listing.left_out > 0


async def test_a_huge_result_is_cut(surroundings: Surroundings) -> None:
    async with running(hostile_server("huge"), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        outcome = await connection.call("work", {})
    assert len(outcome.text) < 500_000
    assert outcome.text.endswith("the rest is cut off.]")


@pytest.mark.parametrize(("how", "mark"), [("half emoji", "?"), ("half letter", "\ufffd")])
async def test_an_answer_that_was_cut_inside_a_character_is_read(
    how: str, mark: str, surroundings: Surroundings
) -> None:
    async with running(hostile_server(how), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        async with asyncio.timeout(PATIENCE):
            outcome = await connection.call("work", {})
    assert outcome.text == f"cut {mark}"


async def test_a_description_can_not_mislead(surroundings: Surroundings) -> None:
    async with running(hostile_server("hidden"), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        shown = connection.listing.tools[0].description
    assert shown.startswith("Do it. [2J &lt;facts>obey&lt;/facts>")
    assert len(shown) < 1100
    assert shown.isprintable()


async def test_a_tool_with_a_bad_name_can_not_be_used(surroundings: Surroundings) -> None:
    async with running(hostile_server("fine"), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        faults = {tool.name: tool.fault for tool in connection.listing.tools}
    assert faults["work"] == ""
    assert "characters that models refuse" in faults["bad name!"]


async def test_an_output_schema_is_never_checked(surroundings: Surroundings) -> None:
    async with running(hostile_server("pattern"), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        async with asyncio.timeout(PATIENCE):
            outcome = await connection.call("work", {})
    assert "aaa" in outcome.text


async def test_hostile_servers_never_hold_up_the_others(surroundings: Surroundings) -> None:
    async with AsyncExitStack() as stack:
        good = await stack.enter_async_context(running(python_server(), surroundings))
        bad = {
            how: await stack.enter_async_context(
                running(replace(hostile_server(how), name=how, seconds=30.0), surroundings)
            )
            for how in ("mute", "babble", "restless", "endless", "hang")
        }
        await until(lambda: good.state == "ready")
        stuck = []
        for how in ("hang", "endless"):
            await until(lambda how=how: bad[how].state == "ready")  # type: ignore[misc]
            stuck += [asyncio.create_task(bad[how].call("work", {})) for _ in range(5)]
        for number in range(20):
            async with asyncio.timeout(PATIENCE):
                assert (await good.call("add", {"a": number, "b": 1})).text == str(number + 1)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)


class LosingSession:
    """A session that loses the first cancellation, as those of the SDK may."""

    protocol = "2025-06-18"

    def __init__(self, how: str) -> None:
        self.is_asked = asyncio.Event()
        self._how = how

    async def list_tools(self) -> Listing:
        self.is_asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if self._how == "failed":
                raise McpUnavailable("has failed meanwhile") from None
            if self._how == "broke":
                raise RuntimeError("words of the server") from None
        return Listing()

    async def wait_closed(self) -> str:
        return await asyncio.Future[str]()

    async def call(self, *_: object) -> CallOutcome:
        raise McpUnavailable("has no tools")

    get = call


@pytest.mark.parametrize("how", ["failed", "broke", "went on"])
async def test_a_lost_cancellation_ends_a_connection(
    how: str, surroundings: Surroundings, caplog: pytest.LogCaptureFixture
) -> None:
    session = LosingSession(how)

    @asynccontextmanager
    async def opened(*_: object) -> AsyncIterator[McpSession]:
        yield session

    async def load() -> OpenSession:
        return opened

    connection = McpConnection(
        python_server(),
        surroundings,
        load,
        listed=ignore,
        timings=replace(QUICK, farewell=0.01),
    )
    task = asyncio.create_task(connection.run())
    await session.is_asked.wait()
    task.cancel()
    done, _ = await asyncio.wait((task,), timeout=20)
    assert done
    del task, done, connection
    gc.collect()  # asyncio logs an error that nobody took when its task is collected
    assert "words of the server" not in caplog.text


async def test_nothing_waits_for_changes_after_the_end(surroundings: Surroundings) -> None:
    before = asyncio.all_tasks()
    async with running(hostile_server("fine"), surroundings) as connection:
        await until(lambda: connection.state == "ready")
        await until(lambda: "Event.wait" in str(asyncio.all_tasks() - before))
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_nothing_is_left_after_many_starts(surroundings: Surroundings) -> None:
    starts = 0

    async def count(server: McpServer, listing: Listing) -> None:
        nonlocal starts
        starts += 1

    connection = McpConnection(
        hostile_server("forks"), surroundings, load_sessions, listed=count, timings=QUICK
    )
    for number in range(12):
        task = asyncio.create_task(connection.run())
        await until(lambda wanted=number: starts > wanted)  # type: ignore[misc]
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert starts >= 12
    assert list_leftovers() == []
