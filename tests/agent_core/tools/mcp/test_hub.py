"""The servers of a configuration: whose tools they are, and what owners accepted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Role
from agent_core.tools.mcp.contract import McpServer, Surroundings
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.mcp.pins import Judged
from agent_core.tools.mcp.supervisor import Timings
from agent_core.tools.mcp.token_files import TokenFolder
from agent_core.tools.mcp.tool import McpTool
from agent_core.tools.policy.contract import Action
from tests.agent_core.tools.contexts import make_context
from tests.agent_core.tools.mcp.conftest import hostile_server, python_server
from tests.agent_core.tools.mcp.test_isolation import wait_for
from tests.databases import open_database

pytestmark = [pytest.mark.process, pytest.mark.slow]

QUICK = Timings(start=90, first_pause=0.05, longest_pause=0.05, least_refresh=0.01)


@dataclass
class Stage:
    """A hub with its configuration, its people and the notices to owners."""

    servers: McpServers
    database: Database
    configured: list[McpServer]
    owner: PersonId
    member: PersonId
    notices: list[tuple[str, Judged]] = field(default_factory=list)

    async def ready(self, name: str) -> None:
        await wait_for(lambda: self.state(name) == "ready")

    def state(self, name: str) -> str:
        found = self.servers._connections.get(name)
        return found.state if found else "none"

    async def accept(self, name: str) -> bool:
        reports = await self.servers.report()
        token = next(one.token for one in reports if one.server.name == name)
        return await self.database.write(
            "test.accept", lambda connection: self.servers.accept(connection, name, token)
        )

    async def names(self, person: PersonId) -> list[str]:
        return sorted(tool.spec.name for tool in await self.servers.list_tools(person))


Open = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture
def stage(tmp_path: Path, surroundings: Surroundings) -> Open:
    @asynccontextmanager
    async def staged(*configured: McpServer) -> AsyncIterator[Stage]:
        database = await open_database(tmp_path / "state.db")
        owner, member = await database.write("test.people", add_two)
        notices: list[tuple[str, Judged]] = []

        def notify(_: Connection, server: McpServer, judged: Judged) -> Callable[[], None]:
            return lambda: notices.append((server.name, judged))

        wanted = list(configured)
        servers = McpServers(
            database,
            surroundings,
            read=lambda: list(wanted),
            notify=notify,
            now=lambda: 1,
            tokens=TokenFolder(tmp_path / "tokens"),
            timings=QUICK,
        )
        task = asyncio.create_task(servers.run())
        try:
            yield Stage(servers, database, wanted, owner, member, notices)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await database.close()

    return staged


def add_two(connection: Connection) -> tuple[PersonId, PersonId]:
    return add_one(connection, "ada", "owner"), add_one(connection, "bob", "member")


def add_one(connection: Connection, slug: str, role: Role) -> PersonId:
    return people.insert(connection, slug=slug, name=slug, role=role, now=1).id


async def test_only_owners_may_use_a_server_that_names_nobody(stage: Open) -> None:
    shared = replace(hostile_server("fine"), name="shared", people=("bob",))
    async with stage(hostile_server("fine"), shared) as on:
        for name in ("hostile", "shared"):
            await on.ready(name)
            await on.accept(name)
        assert await on.names(on.owner) == ["hostile__work", "shared__work"]
        assert await on.names(on.member) == ["shared__work"]


async def test_the_words_of_a_server_are_untrusted_and_its_calls_outward(stage: Open) -> None:
    server = python_server(environ={"KEY": "s3cret-token"}, secrets=("s3cret-token",))
    async with stage(server) as on:
        await on.ready("python")
        await on.accept("python")
        tools = {tool.spec.name: tool for tool in await on.servers.list_tools(on.owner)}
        context = make_context(on.owner)
        result = await tools["python__environment"].run({"name": "KEY"}, context)
        assert result.text == "[hidden]"
        assert result.sources == ("mcp:python",)
        plain, wiping = tools["python__add"], tools["python__wipe"]
        assert isinstance(plain, McpTool)
        assert plain.effect == "unsafe"
        assert plain.list_actions({"a": 1}, context) == (
            Action(kind="run", target='add {"a": 1}', place="mcp:python", is_outward=True),
        )
        assert isinstance(wiping, McpTool)
        assert [one.kind for one in wiping.list_actions({}, context)] == ["run", "delete"]


async def test_a_failure_in_the_words_of_a_server_is_untrusted_too(stage: Open) -> None:
    async with stage(hostile_server("closing")) as on:
        await on.ready("hostile")
        await on.accept("hostile")
        (tool,) = [one for one in await on.servers.list_tools(on.owner) if "work" in one.spec.name]
        result = await tool.run({}, make_context(on.owner))
    assert result.is_error
    assert result.text.endswith(" It is not known whether the call took effect.")
    assert "the key is under the mat" in result.text
    assert result.sources == ("mcp:hostile",)


async def test_a_changed_description_turns_a_tool_off_and_is_told_once(stage: Open) -> None:
    async with stage(hostile_server("changed", environ={"COUNT": "0"})) as on:
        await on.ready("hostile")
        await on.accept("hostile")
        assert await on.names(on.owner) == ["hostile__work"]
        on.configured[:] = [hostile_server("changed", environ={"COUNT": "1"})]
        await wait_for(lambda: any(judged.changed for _, judged in on.notices))
        assert await on.names(on.owner) == []
        on.servers.retry("hostile")
        await on.ready("hostile")
        assert [judged.changed for _, judged in on.notices].count(("work",)) == 1
        assert await on.accept("hostile")
        assert await on.names(on.owner) == ["hostile__work"]


async def test_only_what_was_shown_is_accepted(stage: Open) -> None:
    async with stage(hostile_server("changed", environ={"COUNT": "0"})) as on:
        await on.ready("hostile")
        (report,) = await on.servers.report()
        on.configured[:] = [hostile_server("changed", environ={"COUNT": "1"})]
        await wait_for(lambda: len(on.notices) == 2)
        await on.database.write(
            "test.accept", lambda connection: on.servers.accept(connection, "hostile", report.token)
        )
        assert await on.names(on.owner) == []


async def test_a_server_is_offered_from_the_yes_of_an_owner_until_it_is_removed(
    stage: Open,
) -> None:
    broken = McpServer(name="broken", fault="needs either `command` or `url`")
    async with stage(broken, hostile_server("fine")) as on:
        await on.ready("hostile")
        await wait_for(lambda: on.state("broken") == "waiting")
        reports = {one.server.name: one for one in await on.servers.report()}
        assert reports["broken"].fault == "needs either `command` or `url`"
        assert await on.names(on.owner) == []
        assert [name for name, _ in on.notices] == ["hostile"]
        assert await on.accept("hostile")
        assert await on.names(on.owner) == ["hostile__work"]
        (tool,) = await on.servers.list_tools(on.owner)
        on.configured.clear()
        await wait_for(lambda: on.state("hostile") == "none")
        assert await on.names(on.owner) == []
        result = await tool.run({}, make_context(on.owner))
    assert result.is_error
    assert result.text.startswith("The server hostile is not connected now")
    assert "took effect" not in result.text
