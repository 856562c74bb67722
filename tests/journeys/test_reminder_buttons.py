"""The buttons below reminders: each edits its message, counts once, and survives what may come."""

import pytest

from tests.emulators.streaming import Answer
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, Seen, texts
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Harness, Stage, call, calls, facts

NOON = (2026, 11, 20, 12, 0, 20)
"""A Friday."""


def remind(when: str, text: str = "Call Ben.") -> Answer:
    return calls(call("remind", text=text, when=when))


async def ask_for(harness: Harness, anna: Account, when: str, text: str = "Call Ben.") -> None:
    harness.stage.plan(remind(when, text), "Set.")
    await harness.hears(anna, f"remind me {when} to {text}")


async def ask_weekly(harness: Harness, anna: Account) -> None:
    harness.stage.plan(remind("every monday at 8:00", "Water the plants."), "Every Monday.")
    told = await harness.hears(anna, "remind me every monday at 8 to water the plants")
    assert "⏰ Every Monday, 8:00: Water the plants. Next: " in told


def last(anna: Account) -> Seen:
    return anna.seen()[-1]


async def comes(harness: Harness, anna: Account, count: int) -> Seen:
    """Return the newest message once there are this many."""
    await harness.until(lambda: len(anna.seen()) == count)
    await harness.at_rest()
    return last(anna)


@everywhere
async def test_done_is_shown_in_the_message_of_the_reminder(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_for(harness, anna, "today 15:00")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        reminder = await comes(harness, anna, count + 1)
        assert reminder.text == "⏰ Call Ben."
        assert reminder.labels == ("Done", "+10 min", "+1 h", "Tomorrow")
        again = anna.holds("Done")
        await harness.press(anna, "Done")
        assert last(anna).text == "⏰ Call Ben.\n✓ Done"
        assert last(anna).labels == ("Undo",)
        await harness.takes(again())
        assert last(anna).text == "⏰ Call Ben.\n✓ Done"
        assert len(anna.seen()) == count + 1
        deployment.plan("Fine.")
        await harness.hears(anna, "what now?")
        told = 'Below your reminder "Call Ben." (job 4) they pressed: ✓ Done'
        assert told in facts(deployment.turns[-1])
        deployment.plan("Still fine.")
        await harness.hears(anna, "and now?")
        assert told not in facts(deployment.turns[-1])


@everywhere
async def test_a_reminder_that_was_put_off_comes_again_once_after_restarts(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await harness.hears(anna, "/settings quiet_hours 14:00-20:00")
        await ask_for(harness, anna, "today 15:00")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await comes(harness, anna, count + 1)
    clock.pass_unseen(minutes=1)
    async with deployment.open() as harness:
        twice = anna.holds("+10 min"), anna.holds("+1 h")
        for press in twice:
            await harness.takes(press())
        assert last(anna).text == "⏰ Call Ben.\n⏰ again at 15:11"
        assert last(anna).labels == ("Done", "Undo")
    async with deployment.open() as harness:
        clock.move(harness, minutes=9)
        await harness.at_rest()
        assert len(anna.seen()) == count + 1
        clock.move(harness, minutes=1)
        reminder = await comes(harness, anna, count + 2)
        assert reminder.text == "⏰ Call Ben."
        assert reminder.labels == ("Done", "+10 min", "+1 h", "Tomorrow")
    clock.pass_unseen(hours=2)
    async with deployment.open() as harness:
        await harness.at_rest()
        assert len(anna.seen()) == count + 2


@everywhere
async def test_what_was_pressed_by_mistake_can_be_undone(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_for(harness, anna, "today 15:00")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await comes(harness, anna, count + 1)
        await harness.press(anna, "Tomorrow")
        assert last(anna).text == "⏰ Call Ben.\n⏰ again tomorrow, 15:00"
        again = anna.holds("Undo")
        await harness.press(anna, "Undo")
        assert last(anna).text == "⏰ Call Ben."
        assert last(anna).labels == ("Done", "+10 min", "+1 h", "Tomorrow")
        await harness.takes(again())
        await harness.press(anna, "+10 min")
        assert last(anna).text == "⏰ Call Ben.\n⏰ again at 15:10"
        late = anna.holds("Undo")
        clock.move(harness, minutes=10)
        await comes(harness, anna, count + 2)
        await harness.takes(late())
        assert "can't undo that any more" in last(anna).text
        assert "Call Ben." not in await harness.hears(anna, "/jobs")


@everywhere
async def test_an_answer_leaves_the_lines_of_the_reminder_as_they_are(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    wanted = "Pack:\n✓ passport\n⏰ the alarm clock\n✓ tickets"
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_for(harness, anna, "today 15:00", wanted)
        count = len(anna.seen())
        clock.move(harness, hours=3)
        assert (await comes(harness, anna, count + 1)).text == f"⏰ {wanted}"
        await harness.press(anna, "+10 min")
        assert last(anna).text == f"⏰ {wanted}\n⏰ again at 15:10"
        await harness.press(anna, "Done")
        assert last(anna).text == f"⏰ {wanted}\n✓ Done"
        await harness.press(anna, "Undo")
        assert last(anna).text == f"⏰ {wanted}"


@everywhere
async def test_undo_in_words_shows_the_true_state_on_the_card(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    open_labels = ("Done", "+10 min", "+1 h", "Tomorrow")
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_for(harness, anna, "today 15:00")
        place = len(anna.seen())
        clock.move(harness, hours=3)
        await comes(harness, anna, place + 1)

        def card() -> Seen:
            return anna.seen()[place]

        for label, line, labels in (
            ("+10 min", "⏰ again at 15:10", ("Done", "Undo")),
            ("Done", "✓ Done", ("Undo",)),
        ):
            await harness.press(anna, label)
            assert (card().text, card().labels) == (f"⏰ Call Ben.\n{line}", labels)
            assert "↩" in await harness.hears(anna, "/undo")
            await harness.at_rest()
            assert (card().text, card().labels) == ("⏰ Call Ben.", open_labels)
            await harness.press(anna, "Bring it back")
            await harness.at_rest()
            assert (card().text, card().labels) == (f"⏰ Call Ben.\n{line}", labels)
            await harness.hears(anna, "/undo")
            await harness.at_rest()
            assert (card().text, card().labels) == ("⏰ Call Ben.", open_labels)


async def test_done_ends_a_reminder_that_was_put_off(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*NOON)
    stage.now = clock
    async with stage.open() as harness:
        await ask_for(harness, anna, "today 15:00")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await comes(harness, anna, count + 1)
        await harness.press(anna, "+1 h")
        assert "Call Ben." in await harness.hears(anna, "/jobs")
        await harness.press(anna, "Done")
        assert any(one.text == "⏰ Call Ben.\n✓ Done" for one in anna.seen())
        assert "Call Ben." not in await harness.hears(anna, "/jobs")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await harness.at_rest()
        assert len(anna.seen()) == count


@pytest.mark.parametrize(
    ("zone", "start", "due", "again"),
    [
        ("Europe/Berlin", (2026, 10, 24, 6, 59), "today 9:00", (2026, 10, 25, 8, 0)),
        ("Europe/Berlin", (2027, 3, 27, 0, 0), "today 02:30", (2027, 3, 28, 1, 0)),
        ("America/New_York", (2026, 11, 20, 12, 0), "today 9:00", (2026, 11, 21, 14, 0)),
    ],
)
async def test_tomorrow_is_the_same_time_of_day(
    stage: Stage,
    zone: str,
    start: tuple[int, ...],
    due: str,
    again: tuple[int, ...],
) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*start)
    stage.now = clock
    async with stage.open() as harness:
        await harness.hears(anna, f"/settings time_zone {zone}")
        await ask_for(harness, anna, due)
        count = len(anna.seen())
        while len(anna.seen()) == count:
            clock.move(harness, minutes=30)
            await harness.at_rest()
        clock.move(harness, hours=5)
        await harness.press(anna, "Tomorrow")
        assert "⏰ again tomorrow, " in last(anna).text
        left = Clock(*again)() - clock()
        clock.move(harness, milliseconds=left - 1)
        await harness.at_rest()
        assert len(anna.seen()) == count + 1
        clock.move(harness, milliseconds=1)
        await comes(harness, anna, count + 2)


async def test_an_hour_later_within_the_hour_that_comes_twice_is_an_hour(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(2026, 10, 25, 0, 0)
    stage.now = clock
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone Europe/Berlin")
        await ask_for(harness, anna, "today 02:30")
        count = len(anna.seen())
        clock.move(harness, minutes=30)
        await comes(harness, anna, count + 1)
        await harness.press(anna, "+1 h")
        assert last(anna).text.endswith("⏰ again at 2:30")
    async with stage.open() as harness:
        clock.move(harness, minutes=59)
        await harness.at_rest()
        assert len(anna.seen()) == count + 1
        clock.move(harness, minutes=1)
        await comes(harness, anna, count + 2)


@everywhere
async def test_the_next_time_of_a_repeated_reminder_can_be_left_out(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_weekly(harness, anna)
        count = len(anna.seen())
        clock.move(harness, days=2, hours=20)
        reminder = await comes(harness, anna, count + 1)
        assert reminder.text == "⏰ Water the plants."
        assert reminder.labels == ("Done", "Skip next", "Change")
        await harness.press(anna, "Skip next")
        line = "⏭ Skipped: Mon 30 Nov, 8:00. Next: Mon 7 Dec, 8:00."
        assert last(anna).text == f"⏰ Water the plants.\n{line}"
        await harness.press(anna, "Undo")
        assert last(anna).text == "⏰ Water the plants."
        assert last(anna).labels == ("Done", "Skip next", "Change")
        assert "Mon 30 Nov" in await harness.hears(anna, "/jobs")
        await harness.press(anna, "Skip next")
    async with deployment.open() as harness:
        await harness.at_rest()
        assert "Mon 7 Dec" in await harness.hears(anna, "/jobs")
        count = len(anna.seen())
        clock.move(harness, days=7)
        await harness.at_rest()
        assert len(anna.seen()) == count
        clock.move(harness, days=7)
        await comes(harness, anna, count + 1)


@everywhere
async def test_a_repeated_reminder_moves_to_a_typed_time(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_weekly(harness, anna)
        clock.move(harness, days=2, hours=20)
        await harness.asks(anna, "Change")
        await harness.press(anna, "Change")
        assert last(anna).text.startswith("Move it to when?")
        count = len(anna.seen())
        deployment.plan("Sunny.")
        assert await harness.hears(anna, "how is the weather?") == "Sunny."
        told = await harness.hears(anna, "at 10:30")
        assert "⏰ Changed: Water the plants." in told
        assert "Next: today, 10:30; Mon 30 Nov, 10:30" in told
        assert len(anna.seen()) == count + 1
        await harness.press(anna, "Undo")
        assert "Mon 30 Nov, 8:00" in await harness.hears(anna, "/jobs")
        await harness.hears(anna, "/jobs undo 4")
        count = len(anna.seen())
        clock.move(harness, hours=2)
        await harness.at_rest()
        assert len(anna.seen()) == count
        clock.move(harness, minutes=30)
        assert (await comes(harness, anna, count + 1)).text == "⏰ Water the plants."


async def test_only_the_person_can_answer_a_reminder(stage: Stage) -> None:
    anna, ben = stage.account("telegram", ANNA), stage.account("telegram", BEN)
    clock = Clock(*NOON)
    stage.now = clock
    async with stage.open() as harness:
        await ask_for(harness, anna, "today 15:00")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await comes(harness, anna, count + 1)
        run = await harness.gateway.database.read(
            lambda c: c.execute("SELECT MAX(id) FROM job_runs").fetchone()[0]
        )
        told = await harness.hears(ben, f"/jobs sent {run} done")
        assert "somebody else's reminder" in told
        assert last(anna).labels == ("Done", "+10 min", "+1 h", "Tomorrow")


@everywhere
async def test_a_missed_reminder_says_when_it_was_due(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_for(harness, anna, "today 15:00")
    clock.pass_unseen(hours=5)
    async with deployment.open() as harness:
        await harness.until(
            lambda: texts(anna)[-1] == "⏰ Call Ben. (was due 15:00; I was switched off)"
        )
        await harness.at_rest()
        await harness.press(anna, "Tomorrow")
        shown = "⏰ Call Ben. (was due 15:00; I was switched off)\n⏰ again tomorrow, 15:00"
        assert texts(anna)[-1] == shown


@everywhere
async def test_what_a_person_runs_now_comes_in_quiet_hours(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await ask_weekly(harness, anna)
        await harness.hears(anna, "/settings quiet_hours 10:00-20:00")
        await harness.hears(anna, "/reminders")
        count = len(anna.seen())
        await harness.press(anna, "Water the plants.")
        await harness.press(anna, "Run now")
        reminder = await comes(harness, anna, count + 1)
        assert reminder.text == "⏰ Water the plants."
        assert "Waiting for your quiet time" not in await harness.hears(anna, "/reminders")


async def test_reminders_that_waited_have_a_button_each(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*NOON)
    stage.now = clock
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        for text in ("Call Ben.", "Buy milk."):
            await ask_for(harness, anna, "today 15:00", text)
        await harness.gateway.database.write(
            "test", lambda c: c.execute("UPDATE jobs SET is_urgent = 0")
        )
        await harness.hears(anna, "/settings quiet_hours 14:00-20:00")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await harness.at_rest()
        assert len(anna.seen()) == count
        clock.move(harness, hours=5)
        shown = await comes(harness, anna, count + 1)
        due = "(was due 15:00; you had quiet hours)"
        assert f"⏰ Call Ben. {due}" in shown.text
        assert f"⏰ Buy milk. {due}" in shown.text
        assert shown.labels == ("✓ Call Ben.", "✓ Buy milk.")
        await harness.press(anna, "✓ Buy milk.")
        assert last(anna).text.endswith("\n✓ Done: Buy milk.")
        assert last(anna).labels == ("✓ Call Ben.", "↩ Buy milk.")
        await harness.press(anna, "↩ Buy milk.")
        assert "✓ Done" not in last(anna).text
        assert last(anna).labels == ("✓ Call Ben.", "✓ Buy milk.")
        await harness.press(anna, "✓ Buy milk.")
        assert last(anna).text.endswith("\n✓ Done: Buy milk.")
        await harness.press(anna, "✓ Call Ben.")
        assert last(anna).labels == ("↩ Buy milk.", "↩ Call Ben.")
        assert len(anna.seen()) == count + 1


async def test_a_groups_reminder_is_answered_by_its_members(stage: Stage) -> None:
    anna, ben = stage.account("telegram", ANNA), stage.account("telegram", BEN)
    room, clock = str(SUPERGROUP), Clock(*NOON)
    stage.now = clock
    async with stage.open() as harness:
        await harness.hears(anna, "/whoami")
        await harness.hears(ben, "/whoami")
        await harness.gateway.database.write(
            "test", lambda c: c.execute("UPDATE people SET role = 'owner' WHERE name = 'Anna'")
        )
        harness.gateway.forget_known()
        cake = {"action": "create", "kind": "message", "text": "Bring cake."}
        wish = call("schedule", cron="0 15 * * *", **cake)
        stage.plan(calls(wish), "Every day.")
        await harness.notes(anna.says("remind us every day at 3 pm", room=room))
        await harness.at_rest()
        count = len(anna.seen(room))
        clock.move(harness, hours=3)
        await harness.until(lambda: len(anna.seen(room)) == count + 1)
        await harness.at_rest()
        assert anna.seen(room)[-1].labels == ("Done", "Skip next", "Change")
        await harness.press(ben, "Skip next", room)
        assert "somebody else's reminder" in anna.seen(room)[-1].text
        await harness.press(ben, "Done", room)
        assert any(one.text.endswith("\n✓ Done") for one in anna.seen(room))


async def test_a_german_reminder_is_german(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*NOON)
    stage.now = clock
    async with stage.open() as harness:
        await harness.hears(anna, "/settings language de")
        await ask_for(harness, anna, "today 15:00", "Ben anrufen.")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        reminder = await comes(harness, anna, count + 1)
        assert reminder.labels == ("Erledigt", "+10 Min.", "+1 Std.", "Morgen")
        await harness.press(anna, "Morgen")
        assert last(anna).text == "⏰ Ben anrufen.\n⏰ wieder morgen, 15:00"
