"""Reminders: exact times in quiet hours, a question where unclear, and deferred ones."""

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import texts
from tests.journeys.stage import Stage, call, calls, results

SUNDAY = (2026, 11, 22, 12, 0, 20)

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


def remind(when: str) -> object:
    return calls(call("remind", text="Call Ada.", when=when))


@everywhere
async def test_an_exact_time_counts_on_days_off_and_in_quiet_hours(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*SUNDAY)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")  # the profile on Slack names Berlin
        await harness.hears(anna, "/settings days_off sun")
        await harness.hears(anna, "/settings quiet_hours 19:00-07:00")
        deployment.plan(remind("tonight at 8"), "Set for 20:00.")
        told = await harness.hears(anna, "remind me at 8 pm to call Ada")
        assert told == "Set for 20:00.\n\n⏰ today, 20:00: Call Ada."
        clock.move(harness, hours=8)
        await harness.until(lambda: texts(anna)[-1] == "⏰ Call Ada.")


@everywhere
async def test_an_unclear_time_is_asked_about(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*SUNDAY)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await harness.hears(anna, "/settings days_off sun")
        deployment.plan(remind("today 18:00"), "Fine.")
        await harness.notes(anna.says("remind me tonight to call Ada"))
        await harness.asks(anna, "Yes, anyway")
        assert "You have Sundays off. Remind you anyway?\n\nCall Ada." in texts(anna)[-1]
        await harness.press(anna, "Yes, anyway")
        clock.move(harness, hours=6)
        await harness.until(lambda: texts(anna)[-1] == "⏰ Call Ada.")


async def test_a_deferred_reminder_says_until_when(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*SUNDAY)
    stage.now = clock
    async with stage.open() as harness:
        await harness.hears(anna, "/settings days_off sun")
        stage.plan(remind("today 18:00"), "Fine.")
        await harness.notes(anna.says("remind me tonight to call Ada"))
        await harness.asks(anna, "Wait until tomorrow, 0:00")
        await harness.press(anna, "Wait until tomorrow, 0:00")
        clock.move(harness, hours=6)
        await harness.at_rest()
        listed = await harness.hears(anna, "/jobs")
        assert "Call Ada.: waits until tomorrow, 0:00" in listed
        clock.move(harness, hours=6)
        await harness.until(lambda: texts(anna)[-1].startswith("⏰ Call Ada."))


async def test_no_reminder_is_made_after_a_no(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    async with stage.open() as harness:
        await harness.hears(anna, "/settings days_off sun")
        stage.plan(remind("today 18:00"), "Then not.")
        await harness.notes(anna.says("remind me tonight to call Ada"))
        await harness.asks(anna, "No reminder")
        await harness.press(anna, "No reminder")
        assert results(stage.turns[-1]) == ["No job was created. The person said no."]
        assert "You have no reminders" in await harness.hears(anna, "/jobs")


async def test_a_repeated_job_asks_once_for_its_quiet_times(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    async with stage.open() as harness:
        await harness.hears(anna, "/settings days_off sun")
        stage.plan(remind("every day at 8:00"), "Every day at 8.")
        await harness.notes(anna.says("remind me every day at 8 to call Ada"))
        await harness.asks(anna, "Yes, but afterwards")
        assert "You have Sundays off. Should I send it then, too?" in texts(anna)[-1]
        await harness.press(anna, "Yes, then too")
        assert "in quiet hours and on days off, too" in results(stage.turns[-1])[0]


async def test_a_minute_is_sixty_seconds_from_the_message(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*SUNDAY)
    stage.now = clock
    async with stage.open() as harness:
        release = stage.hold()
        stage.plan(remind("in 1 minute"), "Set.")
        await harness.notes(anna.says("remind me in 1 minute to call Ada"))
        await harness.until(lambda: stage.turns)
        clock.pass_unseen(seconds=20)
        release.set()
        told = "Set.\n\n⏰ today, 12:01: Call Ada."
        await harness.until(lambda: texts(anna)[-1:] == [told])
        clock.move(harness, seconds=39)
        await harness.at_rest()
        assert texts(anna)[-1] == told
        clock.move(harness, seconds=1)
        await harness.until(lambda: texts(anna)[-1] == "⏰ Call Ada.")
