"""A question about a replacement shows what goes and what comes, and so does its reply."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.texts import approvals
from tests.fakes.chat import FakeChat, PrefixedChat
from tests.fakes.model import agree_and_change, ask, call, doubt, say
from tests.integration.harness import Harness
from tests.integration.memory.learning import learning, read_profile, remember, reviewed

OLD, NEW = "Is allergic to nuts", "Moved to Linz"
SAID = "I moved to Linz"
PADDING, MIDDLE, END = "word " * 90, "in the middle", "at the end"
LONG = "Is allergic to nuts. " + "Likes long notes. " * 60


@asynccontextmanager
async def replacing(
    home: Path, old: str = OLD, new: str = NEW, chat: FakeChat | None = None
) -> AsyncIterator[Harness]:
    """A person whose review wants to replace a note, and who was asked about it."""
    note = {"action": "add", "target": "user", "text": old}
    review = ask(call("memory", remember(new, SAID, message=1, old=old[:19])))
    plays = [ask(call("memory", json.dumps(note))), say("Noted."), review]
    async with learning(home, *plays, chat=chat, judge=doubt) as harness:
        await harness.chat.says(f"{SAID}, and remember my allergy")
        await reviewed(harness)
        await harness.chat.sees_text("Should I re")
        await harness.at_rest()  # a long question has several parts
        yield harness


def edit_profile(home: Path, old: str, new: str) -> None:
    """Change the person's USER.md by hand."""
    path = next(home.glob("memories/people/*/USER.md"))
    path.write_text(path.read_text().replace(old, new))


def join_shown(harness: Harness, first: int) -> str:
    """Join the words of the messages from the number `first` on, without the fences of parts."""
    shown = "".join(one.text for one in harness.chat.shown[first:]).replace("`", "")
    return "".join(shown.split())


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
        undone = await harness.chat.sees_text("Taken back")
        assert OLD in undone.text
        assert NEW in undone.text
        assert OLD in read_profile(tmp_path)


@pytest.mark.parametrize("before", [LONG, f"{OLD}. {PADDING}{MIDDLE} {PADDING}{END}"])
async def test_long_notes_are_shown_whole(tmp_path: Path, before: str) -> None:
    async with replacing(tmp_path, old=before, new=f"Moved. {'And so on. ' * 18}") as harness:
        first = len(harness.chat.shown)
        assert "".join(before.split()) in join_shown(harness, 0)
        await harness.chat.press(approvals.ACCEPT())
        await harness.chat.sees_text("Done:")
        await harness.at_rest()
        said = join_shown(harness, first)
        assert "".join(before.split()) in said
        assert "Andsoon." * 18 in said


@pytest.mark.parametrize("before", [f"{OLD}. {PADDING}{END}", f"{OLD} `not` **these**\n- [x] nor"])
async def test_an_undo_shows_whole_notes_without_reading_them_as_markup(
    tmp_path: Path, before: str
) -> None:
    async with replacing(tmp_path, old=before) as harness:
        await harness.chat.press(approvals.ACCEPT())
        done = await harness.chat.sees_text("Done:")
        await harness.chat.press(done.labels[0])
        undone = await harness.chat.sees_text("Taken back")
        assert before in undone.text
        assert NEW in undone.text


@pytest.mark.parametrize("change", ["Is allergic to nuts and soy", ""])
async def test_a_note_that_changed_after_the_question_stays(tmp_path: Path, change: str) -> None:
    async with replacing(tmp_path) as harness:
        edit_profile(tmp_path, OLD, change)
        await harness.chat.press(approvals.ACCEPT())
        told = await harness.chat.sees_text("things have changed since I suggested it")
        assert NEW in told.text
        assert NEW not in read_profile(tmp_path)
        assert change in read_profile(tmp_path)


async def test_without_the_old_note_the_question_says_that_it_adds(tmp_path: Path) -> None:
    note = {"action": "add", "target": "user", "text": OLD}
    review = ask(call("memory", remember(NEW, SAID, message=1, old="Eats no fish at all")))
    plays = [ask(call("memory", json.dumps(note))), say("Noted."), review]
    async with learning(tmp_path, *plays, judge=lambda _: say("42")) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        asked = await harness.chat.sees_text("is gone")
        assert "The old one" not in asked.text
        await harness.chat.press(approvals.ACCEPT())
        await harness.chat.sees_text("Done:")
        profile = read_profile(tmp_path)
        assert OLD in profile
        assert NEW in profile


async def test_the_notice_of_a_changed_fact_shows_what_went(tmp_path: Path) -> None:
    old, new, said = "Lives in Graz", "Lives in Linz", "I live in Linz"
    note = {"action": "add", "target": "user", "text": old}
    review = ask(call("memory", remember(new, said, message=1, old=old)))
    plays = [ask(call("memory", json.dumps(note))), say("Noted."), review]
    async with learning(tmp_path, *plays, judge=agree_and_change) as harness:
        await harness.chat.says(said)
        await reviewed(harness)
        notice = await harness.chat.sees_text("Learned from what you said:")
        assert f"`{new}` (before: `{old}`)" in notice.text
        assert old not in read_profile(tmp_path)
        await harness.chat.press(notice.labels[0])
        await harness.chat.sees_text("Taken back")
        assert old in read_profile(tmp_path)
