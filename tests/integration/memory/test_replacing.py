"""A question about a replacement shows what goes and what comes, and so does its reply."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.memory.differences import LONGEST, shorten_pair
from gateway.texts import approvals
from tests.fakes.chat import FakeChat, PrefixedChat
from tests.fakes.model import ask, call, say
from tests.integration.harness import Harness
from tests.integration.memory.test_learning import learning, read_profile, remember, reviewed

OLD, NEW = "Is allergic to nuts", "Moved to Linz"
SAID = "I moved to Linz"
LONG = "Is allergic to nuts. " + "Likes long notes. " * 60


@asynccontextmanager
async def replacing(
    home: Path, old: str = OLD, new: str = NEW, chat: FakeChat | None = None
) -> AsyncIterator[Harness]:
    """A person whose review wants to replace a note, and who was asked about it."""
    note = {"action": "add", "target": "user", "text": old}
    review = ask(call("memory", remember(new, SAID, message=1, old=old[:19])))
    plays = [ask(call("memory", json.dumps(note))), say("Noted."), review]
    async with learning(home, *plays, chat=chat) as harness:
        await harness.chat.says(f"{SAID}, and remember my allergy")
        await reviewed(harness)
        await harness.chat.says("/learned review")
        await harness.chat.sees_text("Should I re")
        yield harness


def edit_profile(home: Path, old: str, new: str) -> None:
    """Change the person's USER.md by hand."""
    path = next(home.glob("memories/people/*/USER.md"))
    path.write_text(path.read_text().replace(old, new))


def question_of(harness: Harness) -> str:
    return next(one.text for one in reversed(harness.chat.shown) if "Should I re" in one.text)


@pytest.mark.parametrize("chat", [FakeChat, PrefixedChat])
async def test_question_and_reply_show_both_notes_and_undo(
    tmp_path: Path, chat: type[FakeChat]
) -> None:
    async with replacing(tmp_path, chat=chat()) as harness:
        asked = question_of(harness)
        assert OLD in asked
        assert NEW in asked
        assert OLD in read_profile(tmp_path)
        await harness.chat.press(approvals.ACCEPT())
        done = await harness.chat.sees_text("Done:")
        assert f"- {OLD}" in done.text
        assert f"+ {NEW}" in done.text
        assert NEW in read_profile(tmp_path)
        await harness.chat.press(done.labels[0])
        undone = await harness.chat.sees_text("undone")
        assert OLD in undone.text
        assert NEW in undone.text
        assert OLD in read_profile(tmp_path)


async def test_of_long_notes_the_part_that_differs_is_shown(tmp_path: Path) -> None:
    async with replacing(tmp_path, old=LONG.strip()) as harness:
        asked = question_of(harness)
        assert "Is allergic to nuts" in asked
        assert "[… " in asked
        assert len(asked) < 2_000


@pytest.mark.parametrize("change", ["Is allergic to nuts and soy", ""])
async def test_a_note_that_changed_after_the_question_stays(tmp_path: Path, change: str) -> None:
    async with replacing(tmp_path) as harness:
        edit_profile(tmp_path, OLD, change)
        await harness.chat.press(approvals.ACCEPT())
        told = await harness.chat.sees_text("things have changed since")
        assert NEW in told.text
        assert NEW not in read_profile(tmp_path)
        assert change in read_profile(tmp_path)


async def test_without_the_old_note_the_question_says_that_it_adds(tmp_path: Path) -> None:
    note = {"action": "add", "target": "user", "text": OLD}
    review = ask(call("memory", remember(NEW, SAID, message=1, old="Eats no fish at all")))
    plays = [ask(call("memory", json.dumps(note))), say("Noted."), review]
    async with learning(tmp_path, *plays) as harness:
        await harness.chat.says(f"{SAID}, and remember my allergy")
        await reviewed(harness)
        await harness.chat.says("/learned review")
        asked = await harness.chat.sees_text("is gone")
        assert "This goes" not in asked.text
        await harness.chat.press(approvals.ACCEPT())
        await harness.chat.sees_text("Done:")
        profile = read_profile(tmp_path)
        assert OLD in profile
        assert NEW in profile


def test_a_shortened_exchange_shows_what_differs_within_bounds() -> None:
    common = "word " * 1_000
    cases = {
        "start": (f"old {common}", f"new {common}"),
        "middle": (f"{common}old{common}", f"{common}new{common}"),
        "end": (f"{common}old", f"{common}new"),
    }
    for before, after in cases.values():
        was, comes = shorten_pair(before, after)
        assert "old" in was
        assert "new" in comes
        assert "[… " in was
        assert max(len(was), len(comes)) < LONGEST + 60
    was, comes = shorten_pair("a" * 5_000, "b")
    assert (len(was) < LONGEST + 60, comes) == (True, "b")
    assert shorten_pair("It is\u202e x", "y") == ("It is x", "y")
