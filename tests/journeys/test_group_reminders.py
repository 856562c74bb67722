"""Reminders of a group: any member sets a few, and work that costs stays with owners."""

from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, Seen
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


@everywhere
async def test_a_groups_card_keeps_its_language_and_a_list_has_that_of_who_asks(
    deployment: Stage, platform: str
) -> None:
    """Anna reads German, and Ben English."""
    deployment.now = clock = Clock(*NOON)
    group = str(SUPERGROUP) if platform == "telegram" else make_room(deployment, platform).id
    anna, ben = deployment.account(platform, ANNA), deployment.account(platform, BEN)
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings language de")
        await harness.hears(ben, "/settings language en")
        deployment.plan(calls(call("remind", text="Pizza!", when="in 2 hours")), "Gut.")
        await harness.hears(anna, "erinnere uns in 2 Stunden: Pizza", room=group)
        assert "Pizza!" in await harness.hears(ben, "/reminders", room=group)
        assert "This group's reminders:" in last(ben, group, "Pizza!").text
        await harness.hears(anna, "/reminders", room=group)
        assert "Die Erinnerungen dieser Gruppe:" in last(anna, group, "Pizza!").text
        await harness.press(ben, last(anna, group, "Pizza!").labels[0], group)
        # On Slack, only who pressed sees what a press below a list answers.
        shown = "Sent to: " if platform == "slack" else "Geht an: dieser Chat"
        assert shown in last(anna, group, "Pizza!").text
        count = len(anna.seen(group))
        clock.move(harness, hours=2)
        await harness.until(lambda: len(anna.seen(group)) > count)
        await harness.at_rest()
        card = last(anna, group, "⏰ Pizza!")
        assert card.labels == ("Erledigt", "+10 Min.", "+1 Std.", "Morgen")
        await harness.press(ben, "Erledigt", group)
        card = last(anna, group, "⏰ Pizza!")
        assert (card.text, card.labels) == ("⏰ Pizza!\n✓ Erledigt", ("Zurücknehmen",))
        await harness.hears(ben, "/undo", room=group)
        card = last(anna, group, "⏰ Pizza!")
        assert (card.text, card.labels) == (
            "⏰ Pizza!",
            ("Erledigt", "+10 Min.", "+1 Std.", "Morgen"),
        )


def last(account: Account, group: str, words: str) -> Seen:
    """Return the newest message of a group with these words."""
    return [one for one in account.seen(group) if words in one.text][-1]
