"""A turn that is over leaves nothing that only the collector could take apart."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import ModelDenied, ModelRejected
from tests.cycles import noting_cycles, ours
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.harness import Harness, quick, running

Scenario = Callable[[Harness, int], Awaitable[None]]
_ROUNDS = 3


async def answer(harness: Harness, number: int) -> None:
    harness.model.plays.append(say(f"Fine, {number}."))
    await harness.chat.says("How are you?")
    await harness.chat.sees_text(f"Fine, {number}.")


async def use_tools(harness: Harness, number: int) -> None:
    calls = [call("work", f'{{"n": {number}{one}}}', f"c{number}{one}") for one in (1, 2)]
    harness.model.plays += [ask(*calls, text="A moment."), say(f"Done, {number}.")]
    await harness.chat.says("Work!")
    await harness.chat.sees_text(f"Done, {number}.")


async def fail(harness: Harness, number: int) -> None:
    seen = len(harness.chat.shown)
    harness.model.plays.append([ModelRejected(f"no, {number}")])
    await harness.chat.says("How are you?")
    await harness.chat.sees(seen + 1)


async def stop(harness: Harness, number: int) -> None:
    gate, seen = Gate(), len(harness.chat.shown)
    harness.model.plays.append([gate.hold, *say("never")])
    await harness.chat.says(f"Wait, {number}!")
    await gate.reached.wait()
    await harness.chat.says("/stop")
    await harness.chat.sees(seen + 1)


async def steer(harness: Harness, number: int) -> None:
    gate = Gate()
    harness.model.plays += [[gate.hold, *ask(call("work"))], say(f"Steered, {number}.")]
    await harness.chat.says("Work!")
    await gate.reached.wait()
    await harness.chat.says("Faster!")
    gate.open.set()
    await harness.chat.sees_text(f"Steered, {number}.")


async def switch_model(harness: Harness, number: int) -> None:
    harness.model.plays += [[ModelDenied("no key")], say(f"Second, {number}.")]
    await harness.chat.says("How are you?")
    await harness.chat.sees_text(f"Second, {number}.")


async def answer_room(harness: Harness, number: int) -> None:
    harness.model.plays.append(say(f"Room, {number}."))
    await harness.chat.says("Hello all", chat="-5", direct=False)
    await harness.chat.sees_text(f"Room, {number}.")


@pytest.mark.parametrize(
    "scenario",
    [answer, use_tools, fail, stop, steer, switch_model, answer_room],
    ids=lambda one: one.__name__,
)
async def test_a_turn_leaves_no_cycle(scenario: Scenario, tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    async with running(
        tmp_path,
        FakeModel(),
        tools=(FakeTool("work"),),
        timings=replace(quick(), start_delay=600.0),
        TALARIA_MODEL__FALLBACKS="fake-2",
    ) as harness:
        for number in range(2):
            await scenario(harness, number)
            await harness.at_rest()
        with noting_cycles(found):
            for number in range(2, 2 + _ROUNDS):
                await scenario(harness, number)
                await harness.at_rest()
    assert not ours(found), found
