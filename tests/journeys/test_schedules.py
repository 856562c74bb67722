"""Schedules in words: what the person is shown before they count, and when they then come."""

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import texts
from tests.journeys.stage import Stage, call, calls, results

SUNDAY = (2026, 11, 22, 12, 0, 20)
YES = "Yes, do that"

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


def remind(**when: object) -> object:
    return calls(call("schedule", action="create", kind="message", text="Call Ada.", **when))


@everywhere
async def test_a_fortnight_with_two_times_is_echoed_and_comes(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*SUNDAY)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")  # the profile on Slack names Berlin
        call_again = remind(
            times=["08:00", "18:30"],
            rule="FREQ=WEEKLY;INTERVAL=2;BYDAY=TH",
            skip=["holidays:DE"],
            until="2027-03-31",
        )
        deployment.plan(call_again, "Agreed.")
        await harness.notes(anna.says("every 2 weeks on Thursday at 8:00 and 18:30, but not on …"))
        await harness.asks(anna, YES)
        shown = texts(anna)[-1]
        assert (
            "At 08:00 and at 18:30, every 2 weeks on Thursday, except public holidays (DE),"
            " from 2026-11-26, until 2027-03-31, shall I send this?"
        ) in shown
        assert "Thu 2026-11-26 08:00; Thu 2026-11-26 18:30; Thu 2026-12-10 08:00" in shown
        await harness.press(anna, YES)
        await harness.until(lambda: texts(anna)[-1] == "Agreed.")
        clock.move(harness, hours=3 * 24 + 20)
        await harness.until(lambda: texts(anna).count("Call Ada.") == 1)
        clock.move(harness, hours=10, minutes=30)
        await harness.until(lambda: texts(anna).count("Call Ada.") == 2)
        clock.move(harness, hours=8 * 24)
        await harness.at_rest()
        assert texts(anna).count("Call Ada.") == 2


async def test_what_cannot_be_expressed_is_refused_with_the_nearest(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    async with stage.open() as harness:
        stage.plan(remind(times=["09:00"], rule="FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), "Can't.")
        assert await harness.hears(anna, "every 30 February at 9, call Ada") == "Can't."
        refused = results(stage.turns[-1])[0]
        assert "never occurs; the nearest is FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" in refused
        assert "You have no jobs" in await harness.hears(anna, "/jobs")


async def test_cron_with_a_day_and_a_weekday_is_shown_as_the_or_that_it_is(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    async with stage.open() as harness:
        stage.plan(remind(cron="0 8 1-7 * MON"), "Agreed.")
        await harness.notes(anna.says("the first Monday of the month at 8"))
        await harness.asks(anna, YES)
        assert "At 08:00 on day 1-7 of the month, or on any Monday, shall I" in texts(anna)[-1]
