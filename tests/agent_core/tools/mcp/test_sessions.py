"""Sessions with a server that the official SDK serves."""

import asyncio
from dataclasses import replace

import pytest

from agent_core.tools.mcp.contract import McpUnavailable
from tests.agent_core.tools.mcp.conftest import Open, call, hostile_server, python_server
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def test_the_newest_protocol_is_spoken(open_server: Open) -> None:
    changed = asyncio.Event()
    server = replace(python_server(environ={"GIVEN": "yes"}), exclude=("wipe",))
    async with open_server(server, changed.set) as session:
        assert session.protocol == "2026-07-28"
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert {"add", "fail"} <= names
        assert "wipe" not in names
        outcome = await call(session, "add", {"a": 2, "b": 3})
        assert (outcome.text, outcome.is_error) == ("5", False)
        outcome = await call(session, "fail", {})
        assert (outcome.text, outcome.is_error) == ("Error executing tool fail", True)
        # A program gets the environment of its table, and no other.
        assert (await call(session, "environment", {"name": "GIVEN"})).text == "yes"
        assert (await call(session, "environment", {"name": "TALARIA_HOME"})).text == "not set"
        await call(session, "grow", {})
        async with asyncio.timeout(PATIENCE):
            await changed.wait()
        assert "grown" in {tool.name for tool in (await session.list_tools()).tools}


async def test_an_older_server_is_greeted_by_the_handshake(open_server: Open) -> None:
    async with open_server(hostile_server("fine")) as session:
        assert session.protocol == "2025-06-18"
        assert (await call(session, "work", {})).text == "fine"


@pytest.mark.parametrize(
    "filters",
    [{"include": ("work",)}, {"include": ("work", "bad name!"), "exclude": ("bad name!",)}],
)
async def test_filters_choose_the_tools(
    open_server: Open, filters: dict[str, tuple[str, ...]]
) -> None:
    async with open_server(replace(hostile_server("fine"), **filters)) as session:
        assert [tool.name for tool in (await session.list_tools()).tools] == ["work"]


async def test_a_program_that_is_missing_is_named(open_server: Open) -> None:
    server = replace(python_server(), argv=("no-such-program",), is_sandboxed=False)
    with pytest.raises(McpUnavailable, match="no program `no-such-program`"):
        async with open_server(server):
            pass
