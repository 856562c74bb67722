"""The owner's rules for single tools, as one turn follows them."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.toolbox import Toolbox, ToolSetup
from tests.agent_core.tools.toolbox_calls import CONTEXT, run
from tests.fakes.tool import FakeTool


def box(**rules: CallRule) -> Toolbox:
    tools = [FakeTool(name) for name in ("look", "plan", "send")]
    return Toolbox(tools, setup=ToolSetup(rules=rules))


async def test_a_tool_runs_only_for_its_callers() -> None:
    toolbox = box(send=CallRule(callers=("direct", "code")))
    assert not (await run(toolbox.open("direct"), "send")).is_error
    refused = await run(toolbox.open("job"), "send")
    assert refused.text == "`send` was not run: the owner allows no call of it in jobs."
    from_code = replace(CONTEXT, is_from_code=True)
    assert not (await run(toolbox.open("job"), "send", context=from_code)).is_error


async def test_a_tool_runs_at_most_so_often_in_a_turn() -> None:
    toolbox = box(look=CallRule(most_per_turn=2))
    turn = toolbox.open()
    assert [(await run(turn, "look")).is_error for _ in range(3)] == [False, False, True]
    assert not (await run(toolbox.open(), "look")).is_error, "another turn counts anew"


async def test_calls_in_parallel_are_counted_before_they_run() -> None:
    free = asyncio.Event()

    async def wait(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await free.wait()
        return ToolResult(text="done")

    rules = {"look": CallRule(most_per_turn=1)}
    turn = Toolbox([FakeTool("look", wait)], setup=ToolSetup(rules=rules)).open()
    first = asyncio.create_task(run(turn, "look"))
    second = asyncio.create_task(run(turn, "look"))
    assert (await second).is_error
    free.set()
    assert not (await first).is_error


async def test_a_tool_that_must_run_first_holds_back_the_others() -> None:
    turn = box(plan=CallRule(must_run_first=True)).open()
    refused = await run(turn, "look")
    assert refused.text == "`look` was not run: `plan` must run first in every turn."
    assert not (await run(turn, "plan")).is_error
    assert not (await run(turn, "look")).is_error


async def test_a_tool_that_is_off_or_not_allowed_here_need_not_run_first() -> None:
    toolbox = box(plan=CallRule(must_run_first=True, callers=("direct",)))
    assert not (await run(toolbox.open("job"), "look")).is_error
    assert not (await run(toolbox.open(off=["plan"]), "look")).is_error


async def test_no_tool_runs_after_one_that_ends_the_turn() -> None:
    turn = box(send=CallRule(ends_turn=True)).open()
    assert not (await run(turn, "look")).is_error
    assert not (await run(turn, "send")).is_error
    refused = await run(turn, "look")
    assert "`send` was the last tool of this turn; answer the person now." in refused.text


async def test_a_restart_goes_on_counting() -> None:
    toolbox = box(look=CallRule(most_per_turn=1), send=CallRule(ends_turn=True))
    assert (await run(toolbox.open(earlier=[("look", False)]), "look")).is_error
    assert not (await run(toolbox.open(earlier=[("send", False)]), "look")).is_error
    assert (await run(toolbox.open(earlier=[("send", True)]), "look")).is_error


async def test_a_call_with_bad_arguments_counts_as_none() -> None:
    rules = {"look": CallRule(most_per_turn=1)}
    turn = Toolbox([FakeTool("look")], setup=ToolSetup(rules=rules)).open()
    assert (await run(turn, "look", "[]")).is_error
    assert not (await run(turn, "look")).is_error
