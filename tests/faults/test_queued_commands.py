"""A SIGKILL while commands of one person wait behind others: what had not begun runs once."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.streaming import Answer, Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.faults.deployment import Deployment
from tests.journeys.stage import results
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow, needs_bubblewrap]

COMMANDS, AT_ONCE = 7, 4
"""The commands of one answer, and how many of a person run at a time."""
_UNKNOWN = "It is not known whether this call took effect"


def run(number: int) -> Json:
    """Call a command that says that it began, and ends once it may."""
    wait = "while [ ! -e go ]; do sleep 0.05; done"
    command = f"echo began.{number} >> effects; {wait}; echo ended.{number} >> effects"
    return {"type": "tool_use", "name": "terminal", "input": {"command": command}}


def answer(body: dict[str, Any]) -> Reply:
    """Run all commands in one answer, and then say so."""
    if "tools" not in body:
        return text_answer("A talk")
    if "tool_result" in str(body["messages"][-1]):
        return text_answer("finished!")
    return Answer(blocks=[run(number) for number in range(COMMANDS)], stop="tool_use")


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(0.02)


def read_effects(deployment: Deployment) -> Counter[str]:
    """Count what the commands have written in the only workspace."""
    found = deployment.home.glob("workspaces/*/effects")
    return Counter(line for one in found for line in one.read_text().split())


def count_begun(deployment: Deployment) -> int:
    return sum(line.startswith("began") for line in read_effects(deployment))


async def test_commands_that_wait_behind_others_run_once_after_a_kill(
    deployment: Deployment,
) -> None:
    deployment.anthropic.answer = answer
    deployment.settings["TALARIA_TOOLS__BACKEND"] = "local"
    deployment.telegram.user(ANNA, "Anna")
    process = await deployment.open_process()
    await process.ready()
    await deployment.telegram.says(ANNA, "run them all")
    await until(lambda: count_begun(deployment) == AT_ONCE)
    process.kill()
    await process.died()
    begun = {line.partition(".")[2] for line in read_effects(deployment)}
    (workspace,) = deployment.home.glob("workspaces/*")
    (workspace / "go").touch()
    await (await deployment.open_process()).ready()
    await deployment.telegram.wait_for(
        lambda: any("finished!" in m.text for m in deployment.telegram.messages(ANNA)), PATIENCE
    )
    waited = {str(number) for number in range(COMMANDS)} - begun
    assert len(waited) == COMMANDS - AT_ONCE
    expected = [f"began.{number}" for number in (*begun, *waited)]
    expected += [f"ended.{number}" for number in waited]
    assert read_effects(deployment) == Counter(expected)
    told = results(deployment.anthropic.requests[-1])
    assert sum(_UNKNOWN in one for one in told) == AT_ONCE
    assert len(told) == COMMANDS
