"""What became of a question on WhatsApp, which can't edit it: a message of its own, and once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.texts import general
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, Seen, texts
from tests.journeys.reviews import Teacher, learning
from tests.journeys.stage import Harness, Stage, call, calls

NOON = (2026, 11, 20, 12, 0, 20)
"""A Friday."""
TEA = call("memory", action="add", target="user", text="Likes tea")
KEPT = "I'll remember these 2 notes. /memory shows them, and /undo takes back the newest."


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path / "home", ("telegram", "whatsapp")) as made:
        yield made


@pytest.fixture
def anna(stage: Stage) -> Account:
    return stage.account("whatsapp", ANNA)


async def adds(harness: Harness, anna: Account, label: str, *wanted: str) -> list[Seen]:
    """Press a button, and return what comes: exactly these messages."""
    before = len(anna.seen())
    await harness.press(anna, label)
    await harness.until(lambda: len(anna.seen()) >= before + len(wanted))
    await harness.at_rest()
    assert texts(anna)[before:] == [*wanted]
    return anna.seen()[before:]


async def test_a_new_time_for_a_reminder_is_confirmed_and_undone(
    stage: Stage, anna: Account
) -> None:
    stage.now = clock = Clock(*NOON)
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        stage.plan(calls(call("remind", text="Water.", when="every day at 15:00")), "Set.")
        await harness.hears(anna, "remind me every day at 15:00 to Water.")
        clock.move(harness, hours=3)
        await harness.until(lambda: texts(anna)[-1] == "⏰ Water.")
        await harness.at_rest()
        await harness.press(anna, "Change")
        assert await harness.hears(anna, "never mind") == "The reminder stays as it is."
        await harness.press(anna, "Change")
        told = await harness.hears(anna, "at 16:30")
        assert told.startswith("⏰ Changed: Water.")
        assert "Next: today, 16:30" in told
        assert "Move it to when?" not in told
        assert anna.seen()[-1].labels == ("Undo",)
        await harness.press(anna, "Undo")
        assert "16:30" not in await harness.hears(anna, "/reminders")
    async with stage.open() as harness:
        count = len(anna.seen())
        await harness.at_rest()
        assert len(anna.seen()) == count


async def test_forget_says_what_was_kept_and_reports_once(stage: Stage, anna: Account) -> None:
    async with stage.open() as harness:
        stage.plan(calls(TEA), "Ok.")
        await harness.hears(anna, "remember that I like tea")
        await harness.hears(anna, "/forget tea")
        (kept,) = await adds(harness, anna, "Nothing", "I've deleted nothing.")
        assert not kept.labels
        await adds(harness, anna, "Nothing", general.QUESTION_OVER())
        await harness.hears(anna, "/forget tea")
        count = len(anna.seen())
        await harness.press(anna, "Notes and messages")
        await harness.until(lambda: len(anna.seen()) > count)
        await harness.at_rest()
        (report,) = texts(anna)[count:]
        assert report.startswith("Deleted:")


async def test_erase_tells_what_happens_after_the_second_yes(stage: Stage, anna: Account) -> None:
    async with stage.open() as harness:
        await harness.hears(anna, "hello")
        await harness.hears(anna, "/erase me")
        count = len(anna.seen())
        await harness.press(anna, "Delete")
        (sure,) = anna.seen()[count:]
        assert sure.labels == ("Delete permanently", "Keep everything")
        await harness.press(anna, "Delete permanently")
        await harness.until(lambda: len(anna.seen()) == count + 2)
        await harness.at_rest()
        assert texts(anna)[-1].startswith("I'm deleting your data now.")


async def test_an_accepted_proposal_says_what_it_changed(stage: Stage, anna: Account) -> None:
    async with learning(stage) as (harness, teacher):
        plan_notes(teacher)
        await harness.takes(anna.says("I saw a boat, my aunt bakes"))
        await harness.until(lambda: "Keep all" in anna.seen()[-1].labels)
        await harness.press(anna, "One by one")
        await harness.until(lambda: "Dismiss" in anna.seen()[-1].labels)
        count = len(anna.seen())
        await harness.press(anna, anna.seen()[-1].labels[0])
        await harness.until(lambda: any("Dismiss" in one.labels for one in anna.seen()[count:]))
        await harness.until(lambda: any(one.startswith("Done:") for one in texts(anna)[count:]))
        await harness.press(anna, "Dismiss")
        await harness.until(lambda: any(one.startswith("Dismissed.") for one in texts(anna)))
        await harness.at_rest()
        assert sum(one.startswith("Done:") for one in texts(anna)) == 1


async def test_keep_all_says_how_many(stage: Stage, anna: Account) -> None:
    async with learning(stage) as (harness, teacher):
        plan_notes(teacher)
        await harness.takes(anna.says("I saw a boat, my aunt bakes"))
        await harness.until(lambda: "Keep all" in anna.seen()[-1].labels)
        await adds(harness, anna, "Keep all", KEPT)


def plan_notes(teacher: Teacher) -> None:
    """Let a review find two notes that wait for a yes."""
    said = "I saw a boat, my aunt bakes"
    teacher.planned, teacher.more = {said: ("Owns a boat", "")}, {said: "Bakes bread for a living"}


@needs_bubblewrap
async def test_an_approval_is_followed_by_the_answer_alone(stage: Stage, anna: Account) -> None:
    stage.home.mkdir(mode=0o700, exist_ok=True)
    path = stage.home / "secrets.toml"
    path.write_text('[github]\nvalue = "canary-5tR8wQ2zX7pL"\npeople = ["anna"]\n')
    path.chmod(0o600)
    used = call("terminal", command='echo "$SECRET_GITHUB" | wc -c', secrets=["github"])
    async with stage.open(TALARIA_TOOLS__BACKEND="local") as harness:
        await harness.hears(anna, "hello")
        stage.plan(calls(used), "It has twenty letters.")
        await harness.notes(anna.says("how long is it?"))
        await harness.asks(anna, "Once")
        await adds(harness, anna, "Once", "It has twenty letters.")


async def test_a_press_that_comes_too_late_is_told(stage: Stage, anna: Account) -> None:
    stage.now = clock = Clock(*NOON)
    async with stage.open() as harness:
        stage.plan(calls(TEA), "Ok.")
        await harness.hears(anna, "remember that I like tea")
        await harness.hears(anna, "/forget tea")
        clock.move(harness, days=30)
        late = general.PRESSED_LATE()
        await adds(harness, anna, "Nothing", late)
