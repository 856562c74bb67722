"""After a time zone change, the bot asks whether to move jobs."""

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, texts
from tests.journeys.stage import Harness, Stage, call, calls

FRIDAY = (2026, 11, 20, 12)
QUESTION = "1 of your reminders uses the time zone Vienna. Move it to your new time zone?"

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


async def make_job(harness: Harness, anna: Account) -> None:
    await harness.hears(anna, "/settings time_zone Europe/Vienna")
    asked = {"action": "create", "kind": "message", "title": "Water", "text": "Drink water."}
    harness.stage.plan(calls(call("schedule", cron="0 8 * * *", **asked)), "Made.")
    await harness.hears(anna, "every day at 8, water")


@everywhere
async def test_a_new_time_zone_moves_jobs_if_the_person_wants(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    deployment.now = Clock(*FRIDAY)
    async with deployment.open() as harness:
        await make_job(harness, anna)
        await harness.notes(anna.says("/settings time_zone Asia/Tokyo"))
        await harness.asks(anna, "Yes, move")
        assert QUESTION in texts(anna)[-1]
        await harness.press(anna, "Yes, move")
        assert "I've moved 1 reminder to the time zone Tokyo." in texts(anna)[-1]
        assert "Next: tomorrow, 8:00." in texts(anna)[-1]


async def test_the_models_zone_change_asks_and_a_no_keeps_jobs(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*FRIDAY)
    async with stage.open() as harness:
        await make_job(harness, anna)
        stage.plan(calls(call("settings", time_zone="Asia/Tokyo")), "Welcome to Tokyo.")
        await harness.notes(anna.says("I've moved to Tokyo"))
        await harness.asks(anna, "No, keep")
        assert QUESTION in texts(anna)[-1]
        await harness.press(anna, "No, keep")
        listed = await harness.hears(anna, "/jobs")
        assert "(Vienna time)" in listed
        assert "Next: tomorrow, 16:00." in listed
        assert "I've moved 1 reminder" in await harness.hears(anna, "/jobs move Europe/Vienna")
