"""A tool that a search found stays known to the model after a compaction and a restart."""

import asyncio

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.processes import talaria
from tests.journeys.stage import Stage, call, calls, results

pytestmark = [pytest.mark.process]

READ = {"type": "tool_use", "name": "use_tool", "input": {"name": "todo", "arguments": {}}}


async def test_a_found_tool_survives_a_compaction_and_a_restart(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(calls(call("tool_search", query="todo")), "I can keep a plan.")
        assert await harness.ask(ANNA, "can you keep a plan?") == "I can keep a plan."
        for number in range(6):
            assert await harness.ask(ANNA, f"fact {number} " + "and so on " * 200)
        assert "summarised older messages" in await harness.ask(ANNA, "/compact")
    async with stage.open() as harness:
        stage.plan(calls(READ), "It is empty.")
        assert await harness.ask(ANNA, "what is in it?") == "It is empty."
    shown = str(stage.turns[-2]["messages"])
    assert "Arguments: {" not in shown, "the result of the search is no longer there"
    assert "| todo(plan?: array, update?: array)" in shown
    assert results(stage.turns[-1])
    done = await asyncio.to_thread(talaria, stage.home, "turns", "show", "8", "--prompt")
    assert "| todo(plan?: array, update?: array)" in done.out, done.err
    assert done.out.count(": identical to what was sent") == 2
