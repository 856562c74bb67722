"""Reminders on WhatsApp, which can't edit a message, and on Signal, which has no buttons."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, Seen
from tests.journeys.stage import Harness, Stage, call, calls

NOON = (2026, 11, 20, 12, 0, 20)
"""A Friday."""


@pytest.fixture
async def stage_of_apps(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path / "home", ("telegram", "whatsapp")) as made:
        yield made


def last(anna: Account) -> Seen:
    return anna.seen()[-1]


async def comes(harness: Harness, anna: Account, text: str) -> Seen:
    """Return the newest message once it says this."""
    await harness.until(lambda: last(anna).text == text)
    await harness.at_rest()
    return last(anna)


async def test_a_pressed_reminder_on_whatsapp_comes_again_with_what_counts(
    stage_of_apps: Stage,
) -> None:
    stage, clock = stage_of_apps, Clock(*NOON)
    anna = stage.account("whatsapp", ANNA)
    stage.now = clock
    open_labels = ("Done", "+10 min", "+1 h", "Tomorrow")
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        stage.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        await harness.hears(anna, "remind me today 15:00 to Call Ben.")
        clock.move(harness, hours=3)
        assert (await comes(harness, anna, "⏰ Call Ben.")).labels == open_labels
        await harness.press(anna, "+10 min")
        shown = await comes(harness, anna, "⏰ Call Ben.\n⏰ again at 15:10")
        assert shown.labels == ("Done", "Undo")
    async with stage.open() as harness:
        clock.move(harness, minutes=10)
        assert (await comes(harness, anna, "⏰ Call Ben.")).labels == open_labels
        old = anna.holds("Done")
        await harness.press(anna, "Done")
        assert (await comes(harness, anna, "⏰ Call Ben.\n✓ Done")).labels == ("Undo",)
        await harness.takes(old())
        assert last(anna).text == "You've answered that reminder already."
        await harness.takes(anna.says("/undo"))
        shown = {one.text: one.labels for one in anna.seen()[-2:]}
        assert shown.get("⏰ Call Ben.") == open_labels, shown


async def test_a_repeated_reminder_on_whatsapp_skips_and_moves(stage_of_apps: Stage) -> None:
    stage, clock = stage_of_apps, Clock(*NOON)
    anna = stage.account("whatsapp", ANNA)
    stage.now = clock
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        stage.plan(calls(call("remind", text="Water.", when="every day at 15:00")), "Set.")
        await harness.hears(anna, "remind me every day at 15:00 to Water.")
        clock.move(harness, hours=3)
        assert (await comes(harness, anna, "⏰ Water.")).labels == ("Done", "Skip next", "Change")
        await harness.press(anna, "Skip next")
        skipped = "⏰ Water.\n⏭ Skipped: tomorrow, 15:00. Next: Sun 22 Nov, 15:00."
        assert (await comes(harness, anna, skipped)).labels == ("Undo",)
    async with stage.open() as harness:
        await harness.press(anna, "Undo")
        assert (await comes(harness, anna, "⏰ Water.")).labels == ("Done", "Skip next", "Change")
        await harness.press(anna, "Change")
        assert "Move it to when?" in last(anna).text
        assert "⏰ Changed: Water." in await harness.hears(anna, "at 16:30")
        assert "16:30" in await harness.hears(anna, "/reminders")


@pytest.fixture
async def signal(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path / "home", ("telegram", "signal")) as made:
        yield made


async def test_a_reminder_on_signal_is_answered_with_the_words_below_it(signal: Stage) -> None:
    clock, anna = Clock(*NOON), signal.account("signal", ANNA)
    signal.now = clock
    is_open = "⏰ Call Ben.\n\n✎ Done · +10 min · +1 h · Tomorrow"
    async with signal.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        signal.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        set_up = await harness.hears(anna, "remind me today 15:00 to Call Ben.")
        assert set_up == "Set.\n\n⏰ today, 15:00: Call Ben.\n\n✎ Undo"
        clock.move(harness, hours=3)
        await comes(harness, anna, is_open)
        count = len(anna.seen())
        for words, shown in (
            ("+10 min", "⏰ Call Ben.\n⏰ again at 15:10\n\n✎ Done · Undo"),
            ("undo", is_open),
            ("Tomorrow!", "⏰ Call Ben.\n⏰ again tomorrow, 15:00\n\n✎ Done · Undo"),
            ("Undo", is_open),
            ("10 min", "⏰ Call Ben.\n⏰ again at 15:10\n\n✎ Done · Undo"),
        ):
            assert await harness.hears(anna, words) == shown
        assert len(anna.seen()) == count
    async with signal.open() as harness:
        clock.move(harness, minutes=10)
        await harness.until(lambda: len(anna.seen()) == count + 1)
        await comes(harness, anna, is_open)
        done = "⏰ Call Ben.\n✓ Done\n\n✎ Undo"
        assert await harness.hears(anna, "done") == done
        assert await harness.hears(anna, "done") == "echo: done"
        old = anna.seen()[-2]
        assert await harness.hears(anna, "undo", reply_to=old.id) == is_open
        assert await harness.hears(anna, "tomorrow") == "echo: tomorrow"


async def test_a_repeated_reminder_on_signal_skips_and_moves(signal: Stage) -> None:
    clock, anna = Clock(*NOON), signal.account("signal", ANNA)
    signal.now = clock
    is_open = "⏰ Water.\n\n✎ Done · Skip next · Change"
    async with signal.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        signal.plan(calls(call("remind", text="Water.", when="every day at 15:00")), "Set.")
        await harness.hears(anna, "remind me every day at 15:00 to Water.")
        clock.move(harness, hours=3)
        await comes(harness, anna, is_open)
        skipped = "⏰ Water.\n⏭ Skipped: tomorrow, 15:00. Next: Sun 22 Nov, 15:00.\n\n✎ Undo"
        assert await harness.hears(anna, "skip next") == skipped
        assert await harness.hears(anna, "undo") == is_open
        assert "Move it to when?" in await harness.hears(anna, "change")
        told = await harness.hears(anna, "at 16:30")
        assert "⏰ Changed: Water." in told
        assert told.endswith("✎ Undo")
        assert "16:30" in await harness.hears(anna, "/reminders")
