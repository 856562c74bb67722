"""The owner's rules for single tools, as one turn follows them."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.toolbox import Toolbox, ToolSetup
from tests.agent_core.tools.toolbox_calls import CONTEXT, run
from tests.fakes.tool import FakeTool

rule = partial(CallRule, tool="")


def box(**rules: CallRule) -> Toolbox:
    tools = [FakeTool(name) for name in ("look", "plan", "send")]
    named = tuple(replace(one, tool=name) for name, one in rules.items())
    return Toolbox(tools, setup=ToolSetup(rules=named))


async def test_a_tool_runs_only_for_its_callers() -> None:
    toolbox = box(send=rule(callers=("direct", "code")))
    assert not (await run(toolbox.open("direct"), "send")).is_error
    refused = await run(toolbox.open("job"), "send")
    assert refused.text == "`send` was not run: the owner allows no call of it in jobs."
    from_code = replace(CONTEXT, is_from_code=True)
    assert not (await run(toolbox.open("job"), "send", context=from_code)).is_error


async def test_a_tool_runs_at_most_so_often_in_a_turn() -> None:
    toolbox = box(look=rule(most_per_turn=2))
    turn = toolbox.open()
    assert [(await run(turn, "look")).is_error for _ in range(3)] == [False, False, True]
    assert not (await run(toolbox.open(), "look")).is_error, "another turn starts at 0"


async def test_calls_in_parallel_are_counted_before_they_run() -> None:
    free = asyncio.Event()

    async def wait(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await free.wait()
        return ToolResult(text="done")

    rules = (CallRule(tool="look", most_per_turn=1),)
    turn = Toolbox([FakeTool("look", wait)], setup=ToolSetup(rules=rules)).open()
    first = asyncio.create_task(run(turn, "look"))
    second = asyncio.create_task(run(turn, "look"))
    assert (await second).is_error
    free.set()
    assert not (await first).is_error


async def test_a_tool_that_must_run_first_holds_back_the_others() -> None:
    turn = box(plan=rule(must_run_first=True)).open()
    refused = await run(turn, "look")
    assert refused.text == "`look` was not run: `plan` must run first in every turn."
    assert not (await run(turn, "plan")).is_error
    assert not (await run(turn, "look")).is_error


async def test_a_tool_that_is_off_or_not_allowed_here_need_not_run_first() -> None:
    toolbox = box(plan=rule(must_run_first=True, callers=("direct",)))
    assert not (await run(toolbox.open("job"), "look")).is_error
    assert not (await run(toolbox.open(off=["plan"]), "look")).is_error


async def test_no_tool_runs_after_one_that_ends_the_turn() -> None:
    turn = box(send=rule(ends_turn=True)).open()
    assert not (await run(turn, "look")).is_error
    assert not (await run(turn, "send")).is_error
    refused = await run(turn, "look")
    assert "`send` was the last tool of this turn; answer the person now." in refused.text


async def test_a_restart_goes_on_counting() -> None:
    toolbox = box(look=rule(most_per_turn=1), send=rule(ends_turn=True))
    assert (await run(toolbox.open(earlier=[("look", False)]), "look")).is_error
    assert not (await run(toolbox.open(earlier=[("send", False)]), "look")).is_error
    assert (await run(toolbox.open(earlier=[("send", True)]), "look")).is_error


async def test_a_call_with_bad_arguments_counts_as_none() -> None:
    rules = (CallRule(tool="look", most_per_turn=1),)
    turn = Toolbox([FakeTool("look")], setup=ToolSetup(rules=rules)).open()
    assert (await run(turn, "look", "[]")).is_error
    assert not (await run(turn, "look")).is_error


async def test_after_one_tool_only_some_may_be_next() -> None:
    turn = box(look=rule(then_only=("plan",))).open()
    assert not (await run(turn, "send")).is_error
    assert not (await run(turn, "look")).is_error
    assert (await run(turn, "send")).text == (
        "`send` was not run: after `look`, only `plan` may run."
    )
    assert not (await run(turn, "plan")).is_error
    assert not (await run(turn, "send")).is_error, "the rule is about the next call only"


async def test_a_call_at_the_same_time_comes_after_the_one_before_it() -> None:
    free = asyncio.Event()

    async def wait(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await free.wait()
        return ToolResult(text="failed", is_error=True)

    rules = (CallRule(tool="look", then_only=("plan",)),)
    tools = [FakeTool("look", wait), FakeTool("send"), FakeTool("plan")]
    turn = Toolbox(tools, setup=ToolSetup(rules=rules)).open()
    first = asyncio.create_task(run(turn, "look"))
    second = asyncio.create_task(run(turn, "send"))
    assert (await second).is_error
    free.set()
    assert (await first).is_error
    assert not (await run(turn, "send")).is_error, "a call that failed binds nobody"


async def test_a_tool_runs_only_after_others_have_succeeded() -> None:
    turn = box(send=rule(only_after=("look", "plan"))).open()
    refused = await run(turn, "send")
    assert refused.text == "`send` was not run: it may run only after `look` and `plan`."
    assert not (await run(turn, "look")).is_error
    assert not (await run(turn, "plan")).is_error
    assert not (await run(turn, "send")).is_error


async def test_a_tool_that_ends_the_turn_waits_for_those_before_the_end() -> None:
    turn = box(send=rule(ends_turn=True), plan=rule(must_run_before_end=True)).open()
    assert turn.list_missing() == ("plan",)
    refused = await run(turn, "send")
    assert refused.text == "`send` was not run: it ends the turn, and `plan` must run before."
    assert not (await run(turn, "plan")).is_error
    assert turn.list_missing() == ()
    assert not (await run(turn, "send")).is_error


async def test_a_rule_may_be_about_one_person_or_agent() -> None:
    toolbox = box(send=rule(most_per_turn=1, person="ada"), look=rule(ends_turn=True, agent="spy"))
    for person, agent, refused in (("ada", "", "send"), ("ben", "", ""), ("ben", "spy", "plan")):
        turn = toolbox.open(person=person, agent=agent)
        asked = [("send", await run(turn, "send")), ("send", await run(turn, "send"))]
        asked += [("look", await run(turn, "look")), ("plan", await run(turn, "plan"))]
        assert [name for name, result in asked if result.is_error] == [refused] * bool(refused)


async def test_a_restart_knows_the_order_of_calls() -> None:
    toolbox = box(look=rule(then_only=("plan",)), send=rule(only_after=("look",)))
    turn = toolbox.open(earlier=[("look", True), ("plan", False)])
    assert (await run(turn, "send")).text.endswith("after `look`, only `plan` may run.")
    turn = toolbox.open(earlier=[("look", True), ("plan", True)])
    assert not (await run(turn, "send")).is_error
