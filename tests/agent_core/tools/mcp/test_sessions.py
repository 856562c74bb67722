"""Sessions with a server that the official SDK serves."""

import asyncio
from dataclasses import replace

import pytest

from agent_core.tools.mcp import McpUnavailable
from tests.agent_core.tools.mcp.conftest import Open, call, hostile_server, python_server

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def test_the_newest_protocol_is_spoken(open_server: Open) -> None:
    async with open_server(python_server()) as session:
        assert session.protocol == "2026-07-28"
        listing = await session.list_tools()
        assert {"add", "wipe", "fail"} <= {tool.name for tool in listing.tools}
        outcome = await call(session, "add", {"a": 2, "b": 3})
    assert (outcome.text, outcome.is_error) == ("5", False)


async def test_an_older_server_is_greeted_by_the_handshake(open_server: Open) -> None:
    async with open_server(hostile_server("fine")) as session:
        assert session.protocol == "2025-06-18"
        assert (await call(session, "work", {})).text == "fine"


async def test_a_failure_of_a_tool_is_an_outcome(open_server: Open) -> None:
    async with open_server(python_server()) as session:
        outcome = await call(session, "fail", {})
    assert outcome.is_error
    assert outcome.text == "Error executing tool fail"


async def test_a_program_gets_the_environment_of_its_table(open_server: Open) -> None:
    server = python_server(environ={"GIVEN": "yes"})
    async with open_server(server) as session:
        assert (await call(session, "environment", {"name": "GIVEN"})).text == "yes"
        assert (await call(session, "environment", {"name": "TALARIA_HOME"})).text == "not set"


async def test_a_changed_list_is_announced(open_server: Open) -> None:
    changed = asyncio.Event()
    async with open_server(python_server(), changed.set) as session:
        await session.list_tools()
        await call(session, "grow", {})
        async with asyncio.timeout(45):
            await changed.wait()
        names = {tool.name for tool in (await session.list_tools()).tools}
    assert "grown" in names


async def test_filters_choose_the_tools(open_server: Open) -> None:
    server = replace(python_server(), include=("add", "wipe"), exclude=("wipe",))
    async with open_server(server) as session:
        assert [tool.name for tool in (await session.list_tools()).tools] == ["add"]


async def test_a_program_that_is_missing_is_named(open_server: Open) -> None:
    server = replace(python_server(), argv=("no-such-program",), is_sandboxed=False)
    with pytest.raises(McpUnavailable, match="no program `no-such-program`"):
        async with open_server(server):
            pass
