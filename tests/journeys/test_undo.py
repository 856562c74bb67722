"""`/undo` takes back the last deed of a person in a chat, whatever it was, and says which."""

import re

from tests.emulators.telegram_cast import ANNA, SUPERGROUP
from tests.integration.clock import Clock
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Stage, call, calls

NOON = (2026, 11, 20, 12, 0, 20)
"""A Friday."""


@everywhere
async def test_undo_takes_back_deeds_from_the_newest_to_the_oldest(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        deployment.plan(calls(call("memory", action="add", target="user", text="Likes tea")), "Ok.")
        await harness.hears(anna, "remember that I like tea")
        clock.move(harness, minutes=1)
        deployment.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        await harness.hears(anna, "remind me at 15:00 to call Ben")
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/settings language de")
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/reminders pause 4")
        clock.move(harness, minutes=1)

        assert "Call Ben" in (told := await harness.hears(anna, "/undo"))
        assert told.startswith("↩ Zurückgenommen. ")
        assert await harness.hears(anna, "/rückgängig") == ("↩ Taken back. Language as before: –")
        told = await harness.hears(anna, "Undo that, please!")
        assert told.replace("*", "").startswith("↩ Taken back. I've deleted Call Ben. /reminders")
        assert "Likes tea" in await harness.hears(anna, "/memory")
        assert "Likes tea" in await harness.hears(anna, "/undo")
        assert "Likes tea" not in await harness.hears(anna, "/memory")


@everywhere
async def test_undo_takes_back_an_answer_to_a_reminder_and_names_one_that_has_come(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        deployment.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        await harness.hears(anna, "remind me at 15:00 to call Ben")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await harness.until(lambda: len(anna.seen()) == count + 1)
        await harness.press(anna, "+1 h")
        told = await harness.hears(anna, "/undo")
        assert told == "↩ Undone. It doesn't come again: Call Ben."
        assert "“Call Ben.”, which has come already" in await harness.hears(anna, "/undo")
        assert "Time zone" in await harness.hears(anna, "/undo")


@everywhere
async def test_undo_takes_back_a_switched_tool_and_a_done(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        deployment.plan(calls(call("remind", text="Call Ben.", when="in 2 hours")), "Set.")
        await harness.hears(anna, "remind me in 2 hours to call Ben")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await harness.until(lambda: len(anna.seen()) == count + 1)
        await harness.press(anna, "Done")
        await harness.hears(anna, "/tools off recall")
        told = await harness.hears(anna, "/undo")
        assert told == "↩ Taken back. Turned back on here: search earlier conversations."
        assert await harness.hears(anna, "/undo") == "↩ Undone. It's open again: Call Ben."


async def test_undo_that_asks_before_it_takes_back_an_old_change(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings language de")
        clock.move(harness, hours=5)
        told = await harness.hears(anna, "Mach das rückgängig")
        assert told.startswith("In der letzten halben Stunde")
        await harness.press(anna, "Zurücknehmen")
        assert anna.seen()[-1].text == "↩ Taken back. Language as before: –"


async def test_undo_brings_back_what_was_just_deleted_and_leaves_what_undo_took(
    deployment: Stage,
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        for text in ("Call Ben.", "Feed the dog."):
            clock.move(harness, minutes=1)
            deployment.plan(calls(call("remind", text=text, when="today 15:00")), "Set.")
            await harness.hears(anna, f"remind me at 15:00: {text}")
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/reminders delete dog")
        assert "Feed the dog is as it was." in await harness.hears(anna, "/undo")
        clock.move(harness, minutes=1)
        await harness.press(anna, "Undo")
        assert "I've deleted Call Ben." in await harness.hears(anna, "/undo")


async def test_undo_gives_a_note_to_those_only_who_saw_it_before(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now, group = clock, str(SUPERGROUP)
    async with deployment.open() as harness:
        deployment.plan(calls(call("memory", action="add", target="user", text="Likes tea")), "Ok.")
        await harness.hears(anna, "remember that I like tea")
        number = re.findall(r"(\d+): Likes tea", await harness.hears(anna, "/memory"))[0]

        async def tell(command: str, room: str | None = None) -> str:
            clock.move(harness, minutes=1)
            await harness.hears(anna, command, room=room)
            listed = await harness.hears(anna, "/memory")
            return listed.partition("Likes tea")[2].partition(")")[0]

        # What hid nothing is no deed: the setting before it is taken back.
        await tell("/settings language en")
        assert "private" in await tell(f"/share {number} private")
        assert "private" in await tell("/undo")
        assert "everyone" not in await tell(f"/share {number}", room=group)
        shown = await tell("/memory")
        assert "private" not in shown
        assert "private" in await tell(f"/share {number} private")
        assert await tell("/undo") == shown
        assert "everyone" in await tell(f"/share {number}")
        assert await tell("/undo") == shown


async def test_what_changed_nothing_is_not_taken_back(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        deployment.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        await harness.hears(anna, "remind me at 15:00 to call Ben")
        done = ("/reminders pause ben", "/tools off recall", "/settings language de")
        for command in (*done, *done[:2]):
            clock.move(harness, minutes=1)
            await harness.hears(anna, command)
        clock.move(harness, minutes=1)
        told = [await harness.hears(anna, "/undo") for _ in done]
        assert "Language as before" in told[0]
        assert "search earlier conversations" in told[1]
        assert "Call Ben" in told[2]
