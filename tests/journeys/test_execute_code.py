"""Code that calls tools: one model step, and a stored step for each call."""

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import AT_ONCE, Harness, Stage, call, calls, results

pytestmark = [pytest.mark.process, needs_bubblewrap]

ON = {"TALARIA_TOOLS__BACKEND": "local"}
TEN = """
from talaria_tools import call
for n in range(5):
    call('write_file', path=f'{n}.txt', content='x' * n)
print(sum(len(call('read_file', path=f'{n}.txt')) for n in range(1, 5)))
call('todo', plan=[{'text': 'Rest'}])
"""
WAIT = """
from talaria_tools import call
call('terminal', command='echo one >> counted')
call('terminal', command='echo two >> counted; sleep 1000')
"""


async def list_steps(harness: Harness) -> list[tuple[str, str]]:
    return await harness.gateway.database.read(
        lambda c: c.execute(
            "SELECT name, CASE WHEN outcome IS NULL THEN 'open' ELSE 'ended' END FROM steps"
            " ORDER BY id"
        ).fetchall()
    )


async def test_ten_calls_cost_one_step_of_the_model(stage: Stage) -> None:
    async with stage.open(**ON) as harness:
        stage.plan(calls(call("execute_code", code=TEN)), "Ten.")
        assert await harness.ask(ANNA, "write and count") == "Ten."
        steps = [name for name, _ in await list_steps(harness)]
    assert len(stage.turns) == 2
    assert steps == ["execute_code", *["write_file"] * 5, *["read_file"] * 4, "todo"]
    (found,) = results(stage.turns[-1])
    assert found == "10\n[Calls: write_file 5, read_file 4, todo 1.]"


async def test_memory_that_code_wants_to_change_is_proposed(stage: Stage) -> None:
    code = "from talaria_tools import call\nprint(call('memory', action='add', entry='Likes tea'))"
    async with stage.open(**ON) as harness:
        stage.plan(calls(call("execute_code", code=code)), "Asked.")
        await harness.ask(ANNA, "remember by code")
        assert await harness.count("ledger", "after LIKE '%tea%'") == 0


async def test_a_crash_repeats_neither_code_nor_its_calls(stage: Stage) -> None:
    counted = stage.home / "workspaces" / "anna" / "counted"
    async with stage.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE, **ON) as harness:
        stage.plan(calls(call("execute_code", code=WAIT)))
        await harness.notes(stage.telegram.says(ANNA, "count by code"))
        await harness.until(lambda: counted.exists() and "two" in counted.read_text())
    stage.plan("I will look.")
    async with stage.open(**ON) as harness:
        await harness.sees(ANNA, "I will look.")
        await harness.at_rest()
    assert counted.read_text() == "one\ntwo\n"
    (found,) = results(stage.turns[-1])
    assert "It is not known whether this call took effect" in found
    assert "1 had ended, and it is not known whether 1 more happened" in found


async def test_stop_ends_code_and_its_running_call(stage: Stage) -> None:
    counted = stage.home / "workspaces" / "anna" / "counted"
    async with stage.open(**ON) as harness:
        stage.plan(calls(call("execute_code", code=WAIT)))
        await harness.notes(stage.telegram.says(ANNA, "count by code"))
        await harness.until(lambda: counted.exists() and "two" in counted.read_text())
        stage.plan("Here I am.")
        await harness.takes(stage.telegram.says(ANNA, "/stop"))
        assert await harness.count("turns", "state = 'running'") == 0
        assert await harness.ask(ANNA, "are you there?") == "Here I am."
