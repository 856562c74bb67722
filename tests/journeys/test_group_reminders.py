"""Reminders of a group: any member sets a few, and work that costs stays with owners."""

from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.clock import Clock
from tests.journeys.platforms import everywhere
from tests.journeys.rooms import make_room
from tests.journeys.stage import Stage, call, calls, results

NOON = (2026, 11, 20, 12, 0, 20)
"""A Friday."""


@everywhere
async def test_a_member_sets_a_reminder_for_a_group_and_takes_it_back(
    deployment: Stage, platform: str
) -> None:
    deployment.now = Clock(*NOON)
    group = str(SUPERGROUP) if platform == "telegram" else make_room(deployment, platform).id
    anna, ben = deployment.account(platform, ANNA), deployment.account(platform, BEN)
    async with deployment.open() as harness:
        deployment.plan(calls(call("remind", text="Pizza!", when="in 2 hours")), "Set.")
        assert "⏰" in await harness.hears(anna, "remind us in 2 hours: pizza", room=group)
        assert "Pizza!" in await harness.hears(ben, "/reminders", room=group)
        assert "Taken back" not in await harness.hears(ben, "/undo", room=group)
        assert "I've deleted" in await harness.hears(anna, "/undo", room=group)
        assert "no reminders" in await harness.hears(ben, "/reminders", room=group)


async def test_a_member_gets_ten_reminders_in_a_group_and_plans_no_work(stage: Stage) -> None:
    stage.now, group = Clock(*NOON), str(SUPERGROUP)
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        for number in range(11):
            stage.plan(calls(call("remind", text=f"No. {number}", when="in 2 hours")), "Done.")
            await harness.hears(anna, "remind us", room=group)
        assert "the most that a member may have" in results(stage.turns[-1])[-1]
        news = call("schedule_job", text="Sum up the news.", when="every day at 8")
        stage.plan(calls(news), "Hm.")
        await harness.hears(anna, "sum up the news daily", room=group)
        assert "an owner can ask for it here" in results(stage.turns[-1])[-1]
