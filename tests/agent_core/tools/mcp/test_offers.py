"""Resources and prompts of a server, which the model gets through tools."""

import json
from dataclasses import replace

import pytest

from agent_core.tools.contract import Tool
from agent_core.tools.policy.approval_requests import list_reach
from agent_core.tools.policy.verdicts import Facts, Rule, judge
from tests.agent_core.tools.contexts import make_context
from tests.agent_core.tools.mcp.conftest import python_server
from tests.agent_core.tools.mcp.hub_stage import OpenStage, Stage

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def find(on: Stage, name: str) -> Tool:
    tools = {tool.spec.name: tool for tool in await on.servers.list_tools(on.owner)}
    return tools[name]


async def use(on: Stage, tool: str, /, **arguments: object) -> str:
    result = await (await find(on, tool)).run(arguments, make_context(on.owner))
    assert result.is_error or result.sources
    return result.text


async def test_resources_and_prompts_are_listed_and_read(stage: OpenStage) -> None:
    async with stage(replace(python_server(), is_local=False)) as on:
        await on.ready("python")
        assert await on.names(on.owner) == []
        assert await on.accept("python")
        listed = await use(on, "python__read_resource")
        assert "note://plan: The plan" in listed
        assert "note://{name}" in listed
        assert await use(on, "python__read_resource", uri="note://plan") == "buy milk"
        assert await use(on, "python__read_resource", uri="note://42") == "the note 42"
        assert "unknown" in (await use(on, "python__read_resource", uri="no://such")).lower()
        tool, context = await find(on, "python__read_resource"), make_context(on.owner)
        letter = await tool.run({"uri": "file://letter"}, context)
        (file,) = letter.images
        assert letter.image_data[file.file_key].startswith(b"%PDF-")
        assert "[A PDF file (1 page, " in letter.text
        # What is asked for leaves this machine.
        assert tool.list_actions({}, context) == ()  # type: ignore[attr-defined]
        (action,) = tool.list_actions({"uri": "note://x"}, context)  # type: ignore[attr-defined]
        assert (action.place, action.is_outward) == ("mcp:python", True)
        assert json.dumps({"uri": "note://x"}) in action.target
        # A rule and the closed paths see the end of long arguments, too.
        long = {"uri": "x" * 5000, "last": "/etc/secret"}
        (action,) = tool.list_actions(long, context)  # type: ignore[attr-defined]
        closed = Rule(effect="deny", tool="python__*", pattern="*/etc/secret*")
        verdict = judge(tool.spec.name, [action], Facts(rules=(closed,)), is_proposed=False)
        assert verdict.effect == "deny"
        ((_, shown, _),) = list_reach([action])
        assert len(shown) < 2100
        assert "review(code): Review some code." in await use(on, "python__get_prompt")
        given = {"name": "review", "arguments": {"code": "x = 1"}}
        assert await use(on, "python__get_prompt", **given) == "user: Review this: x = 1"
        assert await on.servers.find_prompt("python__review", on.owner) == ("python", "review")
        assert await on.servers.find_prompt("python__nothing", on.owner) is None
