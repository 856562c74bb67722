"""Answers that claim what did not happen, on every platform; receipts with their Undo buttons."""

import pytest

from tests.emulators.streaming import text_answer
from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import texts
from tests.journeys.stage import Stage, call, calls

NOON = (2026, 11, 23, 12, 0, 20)
LIE = "I've set a reminder for nine."
TRUTH = f"⚠ I wrote “{LIE}”, but I haven't scheduled anything. Please ask me again."
REMIND = call("remind", text="Call Ada.", when="2026-11-23T21:00")
RECEIPT = "⏰ today, 21:00: Call Ada."

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


@everywhere
async def test_a_claim_is_held_back_until_the_model_acts(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    deployment.now = Clock(*NOON)
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")  # the profile on Slack names Berlin
        deployment.plan(LIE, calls(REMIND), LIE)
        told = await harness.hears(anna, "remind me at nine to call Ada")
        assert told == f"{LIE}\n\n{RECEIPT}"
        await harness.press(anna, "Undo")
        assert "You have no reminders" in await harness.hears(anna, "/jobs")


@everywhere
async def test_a_repeated_claim_is_replaced_by_the_truth(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan(LIE, f"{LIE} Enjoy the evening.")
        told = await harness.hears(anna, "remind me at nine to call Ada")
        assert told == f"Enjoy the evening.\n\n{TRUTH}"
        deployment.plan("At what time?")
        await harness.press(anna, "Try again")
        assert texts(anna)[-1] == "At what time?"


async def test_a_slow_claim_is_never_on_show(stage: Stage) -> None:
    stage.model.pace, stage.model.deltas = 0.03, 40
    before = "The oven is warm and the dough has risen well. It needs an hour more, or a bit less. "
    async with stage.open(TALARIA_TELEGRAM__EDIT_INTERVAL="0.1") as harness:
        stage.plan(text_answer(f"{before}{LIE} Enjoy the evening."), "At what time?")
        (message,) = await harness.messages_to(ANNA, "remind me to look at the oven")
    assert message.text == f"{before.strip()}\n\nAt what time?"
    assert len(message.history) > 1
    assert not any("reminder" in shown or "evening" in shown for shown in message.history)
    assert texts(stage.account("telegram", ANNA))[-1] == message.text
