"""A plan: the chat shows its current step, and it survives a compaction and a restart."""

import asyncio

import pytest

from gateway.app.timings import Timings
from gateway.turns.presenter import PresenterTimings
from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import PATIENCE, Stage, call, calls, results

pytestmark = [pytest.mark.process]

SHOWN = Timings(start_delay=0.0, display=PresenterTimings(first_status=0.2))
STEPS = ("Find a room", "Book the room", "Tell Ben")
PLAN = call("todo", plan=[{"text": text} for text in STEPS])


def hold_from(stage: Stage, messages: int) -> asyncio.Event:
    """Hold every call with at least this many messages until the event is set."""
    released = asyncio.Event()

    async def wait(body: Json) -> None:
        if len(body["messages"]) >= messages:
            async with asyncio.timeout(PATIENCE):
                await released.wait()

    stage.model.before = wait
    return released


async def test_the_status_line_shows_the_current_step(stage: Stage) -> None:
    async with stage.open(timings=SHOWN) as harness:
        stage.plan(calls(PLAN), calls(call("todo", update=[{"number": 1, "state": "done"}])))
        released = hold_from(stage, messages=5)
        await harness.notes(stage.telegram.says(ANNA, "plan my trip"))
        await harness.sees(ANNA, "2 of 3: Book the room")
        stage.plan("One is done.")
        released.set()
        await harness.sees(ANNA, "One is done.")
        await harness.at_rest()
        stage.plan("Still on it.")
        released = stage.hold()
        await harness.notes(stage.telegram.says(ANNA, "go on"))
        await harness.sees(ANNA, "2 of 3: Book the room")
        released.set()
        await harness.sees(ANNA, "Still on it.")
        await harness.at_rest()
    assert [m.text for m in stage.telegram.messages(ANNA)] == ["One is done.", "Still on it."]


async def test_a_plan_survives_a_compaction_and_a_restart(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(calls(PLAN), "Planned.")
        assert await harness.ask(ANNA, "plan my trip") == "Planned."
        for number in range(6):
            assert await harness.ask(ANNA, f"fact {number} " + "and so on " * 200)
        assert "summarised older messages" in await harness.ask(ANNA, "/compact")
    async with stage.open() as harness:
        stage.plan(calls(call("todo")), "There it is.")
        assert await harness.ask(ANNA, "what is left?") == "There it is."
    assert "| 2. [pending] Book the room" in str(stage.turns[-2]["messages"])
    (found,) = results(stage.turns[-1])
    assert found == "1. [pending] Find a room\n2. [pending] Book the room\n3. [pending] Tell Ben"
