"""Missed and deferred repeats: one message with all due times, each gap listed in /jobs."""

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, texts
from tests.journeys.stage import Harness, Stage, call, calls

FRIDAY = (2026, 11, 20, 12)
QUIET = "/settings quiet_hours 22:00-07:00"

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


async def make_job(harness: Harness, anna: Account, **when: object) -> None:
    """Have Anna make a reminder titled Water that quiet hours defer."""
    asked = {"action": "create", "kind": "message", "title": "Water", "text": "Drink water."}
    harness.stage.plan(calls(call("schedule", urgent=False, **asked, **when)), "Made.")
    await harness.notes(anna.says("please remind me to drink water"))
    await harness.at_rest()


@everywhere
async def test_deferred_repeats_come_as_one_message_with_their_due_times(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*FRIDAY)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, QUIET)
        await make_job(harness, anna, cron="0 22-23,0-1 * * *", late="all")
        for _ in range(14):
            clock.move(harness, hours=1)
            await harness.at_rest()
        before = len(texts(anna))
        clock.move(harness, hours=5)
        await harness.until(lambda: len(texts(anna)) > before)
        await harness.at_rest()
        (shown,) = texts(anna)[before:]
        assert shown.count("Drink water.") == 1
        due = "yesterday, 22:00 and 23:00; today, 0:00 and 1:00"
        assert shown == f"⏰ Drink water. (was due {due}; you had quiet hours)"


async def test_each_missed_time_is_stored_and_jobs_shows_the_gap(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with stage.open() as harness:
        await make_job(harness, anna, cron="0 8 * * *")
    clock.pass_unseen(days=6)
    async with stage.open() as harness:
        await harness.until(lambda: "Drink water." in texts(anna)[-1])
        due = "6 times, from Sat 21 Nov, 8:00 to today, 8:00"
        assert f"(was due {due}; I was switched off)" in texts(anna)[-1]
        rows = await harness.gateway.database.read(
            lambda c: c.execute("SELECT state FROM job_runs WHERE job_id > 3").fetchall()
        )
        assert len(rows) == 6
        shown = await harness.hears(anna, "/jobs 4")
        assert "Sat 21 Nov, 8:00 to yesterday, 8:00: missed 5 times" in shown
