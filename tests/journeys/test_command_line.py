"""The command line beside the chat: what an owner can read about turns."""

import asyncio

from tests.emulators.streaming import Fault
from tests.emulators.telegram_cast import ANNA
from tests.integration.processes import talaria
from tests.journeys.stage import Stage


async def test_a_failed_turn_says_why_it_failed(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(Fault(status=400, message="prompt has no end"))
        seen = await harness.ask(ANNA, "hello")
        assert "The model rejected the request." in seen
        assert "prompt has no end" not in seen, "Anna is no owner"
        assert await harness.ask(ANNA, "/retry") == "echo: hello"
    failed = await asyncio.to_thread(talaria, stage.home, "turns", "show", "1")
    assert "failed (model_rejected)" in failed.out
    assert "Why: The model rejected the request.\n" in failed.out
    assert "\nError: " in failed.out
    assert "prompt has no end" in failed.out
    answered = await asyncio.to_thread(talaria, stage.home, "turns", "show", "2")
    assert "Why: " not in answered.out
    assert "Error: " not in answered.out


async def test_a_forgotten_message_takes_the_error_of_its_turn_with_it(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(Fault(status=400, message="can't read 'the secret of the boat'"))
        await harness.ask(ANNA, "the secret of the boat")
        await harness.ask(ANNA, "/forget boat")
        await harness.press(stage.account("telegram", ANNA), "Notes and messages")
        await harness.sees(ANNA, "Deleted:")
    shown = await asyncio.to_thread(talaria, stage.home, "turns", "show", "1")
    assert "boat" not in shown.out
