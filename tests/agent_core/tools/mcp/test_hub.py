"""The servers of a configuration: whose tools they are, and what owners accepted."""

from dataclasses import replace

import pytest

from agent_core.tools.mcp.contract import McpServer
from agent_core.tools.mcp.tool import McpTool
from agent_core.tools.policy.contract import Action
from tests.agent_core.tools.contexts import make_context
from tests.agent_core.tools.mcp.conftest import hostile_server, python_server
from tests.agent_core.tools.mcp.hub_stage import OpenStage
from tests.patience import until

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def test_only_owners_may_use_a_server_that_names_nobody(stage: OpenStage) -> None:
    shared = replace(hostile_server("fine"), name="shared", people=("bob",))
    async with stage(hostile_server("fine"), shared) as on:
        for name in ("hostile", "shared"):
            await on.ready(name)
            await on.accept(name)
        assert await on.names(on.owner) == ["hostile__work", "shared__work"]
        assert await on.names(on.member) == ["shared__work"]


async def test_the_words_of_a_server_are_untrusted_and_its_calls_outward(stage: OpenStage) -> None:
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


async def test_a_failure_in_the_words_of_a_server_is_untrusted_too(stage: OpenStage) -> None:
    async with stage(hostile_server("closing")) as on:
        await on.ready("hostile")
        await on.accept("hostile")
        (tool,) = [one for one in await on.servers.list_tools(on.owner) if "work" in one.spec.name]
        result = await tool.run({}, make_context(on.owner))
    assert result.is_error
    assert result.text.endswith(" It is not known whether the call took effect.")
    assert "the key is under the mat" in result.text
    assert result.sources == ("mcp:hostile",)


async def test_a_changed_description_turns_a_tool_off_and_is_told_once(stage: OpenStage) -> None:
    async with stage(hostile_server("changed", environ={"COUNT": "0"})) as on:
        await on.ready("hostile")
        await on.accept("hostile")
        assert await on.names(on.owner) == ["hostile__work"]
        on.configured[:] = [hostile_server("changed", environ={"COUNT": "1"})]
        await until(lambda: any(judged.changed for _, judged in on.notices))
        assert await on.names(on.owner) == []
        on.servers.retry("hostile")
        await on.ready("hostile")
        assert [judged.changed for _, judged in on.notices].count(("work",)) == 1
        assert await on.accept("hostile")
        assert await on.names(on.owner) == ["hostile__work"]


async def test_only_what_was_shown_is_accepted(stage: OpenStage) -> None:
    async with stage(hostile_server("changed", environ={"COUNT": "0"})) as on:
        await on.ready("hostile")
        (report,) = await on.servers.report()
        on.configured[:] = [hostile_server("changed", environ={"COUNT": "1"})]
        await until(lambda: len(on.notices) == 2)
        await on.database.write(
            "test.accept", lambda connection: on.servers.accept(connection, "hostile", report.token)
        )
        assert await on.names(on.owner) == []


async def test_a_server_is_offered_from_the_yes_of_an_owner_until_it_is_removed(
    stage: OpenStage,
) -> None:
    broken = McpServer(name="broken", fault="needs either `command` or `url`")
    async with stage(broken, hostile_server("fine")) as on:
        await on.ready("hostile")
        await until(lambda: on.state("broken") == "waiting")
        reports = {one.server.name: one for one in await on.servers.report()}
        assert reports["broken"].fault == "needs either `command` or `url`"
        assert await on.names(on.owner) == []
        assert [name for name, _ in on.notices] == ["hostile"]
        assert await on.accept("hostile")
        assert await on.names(on.owner) == ["hostile__work"]
        (tool,) = await on.servers.list_tools(on.owner)
        on.configured.clear()
        await until(lambda: on.state("hostile") == "none")
        assert await on.names(on.owner) == []
        result = await tool.run({}, make_context(on.owner))
    assert result.is_error
    assert result.text.startswith("The server hostile is not connected now")
    assert "took effect" not in result.text
