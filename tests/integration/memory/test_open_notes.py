"""One message asks about all notes that wait, seldom, and a typed yes or no answers it."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection
from gateway.texts import learning as notices
from tests.fakes.chat import FakeChat, Shown
from tests.fakes.model import Play, ask, call, doubt, say
from tests.integration.clock import GoingClock
from tests.integration.harness import Harness
from tests.integration.memory.learning import (
    SAID,
    Learner,
    converse,
    learning,
    read_profile,
    remember,
    reviewed,
)
from tests.patience import PATIENCE

LIES = ("Prefers imperial units", "Owns three boats", "Grew up in Norway")


def doubts(*texts: str, said: str = SAID, first: int = 1) -> Play:
    """Play a review whose notes the person's words don't prove."""
    calls = [
        call("memory", remember(text, said, message=first), f"c{number}")
        for number, text in enumerate(texts)
    ]
    return ask(*calls)


@asynccontextmanager
async def asked(home: Path, lies: Sequence[str] = LIES) -> AsyncIterator[tuple[Harness, Shown]]:
    """A person who is asked about notes after one answer."""
    async with learning(home, say("Fine."), doubts(*lies), judge=doubt) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        yield harness, await harness.chat.sees_text("Should I remember")


async def written(harness: Harness, home: Path, *texts: str) -> None:
    """Return once the profile has these lines."""
    async with asyncio.timeout(PATIENCE):
        while not all(text in read(home) for text in texts):
            await asyncio.sleep(0.01)
    await harness.at_rest()


def read(home: Path) -> str:
    return read_profile(home) if [*home.glob("memories/people/*/USER.md")] else ""


def edit(home: Path, old: str, new: str) -> None:
    """Change USER.md by hand."""
    path = next(home.glob("memories/people/*/USER.md"))
    path.write_text(path.read_text().replace(old, new))


async def test_one_message_asks_about_all_notes_and_keeps_them(tmp_path: Path) -> None:
    async with asked(tmp_path) as (harness, question):
        assert question.labels == ["Keep all", "None", "One by one"]
        assert all(lie in question.text for lie in LIES)
        await harness.chat.press("Keep all")
        await harness.chat.sees_text("I'll remember these 3 notes.")
        await written(harness, tmp_path, *LIES)
        await harness.chat.says("/undo")
        await harness.chat.sees_text("Taken back")
        assert sum(lie in read(tmp_path) for lie in LIES) == 2


async def test_a_note_that_changed_since_is_shown_before_it_is_replaced(tmp_path: Path) -> None:
    old, new = "Lives in a tent", "Lives in a red house"
    add = call("memory", json.dumps({"action": "add", "target": "user", "text": old}))
    review = ask(
        call("memory", remember(LIES[0], SAID), "c1"),
        call("memory", remember(new, SAID, action="replace", old="in a tent"), "c2"),
    )
    async with learning(tmp_path, ask(add), say("Fine."), review, judge=doubt) as harness:
        await harness.chat.says(SAID)
        question = await harness.chat.sees_text("Should I remember these notes?")
        assert f"`{new}` (before: `{old}`)" in question.text
        edit(tmp_path, old, f"{old} with a cat")
        await harness.chat.says("/memory")
        await harness.chat.sees_text("with a cat")
        await harness.chat.press("Keep all")
        await written(harness, tmp_path, LIES[0])
        asked = await harness.chat.sees_text("The old one:")
        assert f"{old} with a cat" in asked.text
        assert new not in read(tmp_path)


async def test_none_dismisses_all_and_they_can_come_back(tmp_path: Path) -> None:
    async with asked(tmp_path) as (harness, _):
        await harness.chat.press("None")
        await harness.chat.sees_text("I won't remember these 3 notes")
        await harness.chat.says("/learned dismissed")
        listed = await harness.chat.sees_text("Dismissed, or not answered in time")
        assert all(lie in listed.text for lie in LIES)
        assert read(tmp_path) == ""


async def test_one_by_one_shows_each_with_its_reason(tmp_path: Path) -> None:
    async with asked(tmp_path) as (harness, _):
        await harness.chat.press("One by one")
        for number, lie in enumerate(LIES):
            shown = await harness.chat.sees_text(f"meant it to last.\n\n```\n{lie}")
            assert SAID in shown.text
            await harness.chat.press("Accept" if number else "Dismiss")
        await written(harness, tmp_path, *LIES[1:])
        assert LIES[0] not in read(tmp_path)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("Yes!", "I'll remember these 3 notes."),
        ("keep all", "I'll remember these 3 notes."),
        ("no", "I won't remember these 3 notes"),
        ("None.", "I won't remember these 3 notes"),
        ("one by one", "I'll ask about each note."),
    ],
)
async def test_typed_words_answer_what_is_shown_last(
    tmp_path: Path, words: str, answer: str
) -> None:
    async with asked(tmp_path) as (harness, _):
        requests = len(harness.model.requests)
        await harness.chat.says(words)
        await harness.chat.sees_text(answer)
        await harness.at_rest()
        assert len(harness.model.requests) == requests


@pytest.mark.parametrize("words", ["yes", "Keep all", "1"])
async def test_a_chat_without_buttons_takes_words_and_numbers(tmp_path: Path, words: str) -> None:
    chat = FakeChat(most_buttons=0)
    async with learning(tmp_path, say("Fine."), doubts(*LIES), chat=chat, judge=doubt) as harness:
        await harness.chat.says(SAID)
        await harness.chat.sees_text("1. Keep all")
        await harness.chat.says(words)
        await harness.chat.sees_text("I'll remember these 3 notes.")


@pytest.mark.parametrize("words", ["yes, but tell me why", "1", "all the best"])
async def test_other_words_go_to_the_model(tmp_path: Path, words: str) -> None:
    plays = (say("Fine."), doubts(*LIES), say("Sure."), say("nothing"))
    async with learning(tmp_path, *plays, judge=doubt) as harness:
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Should I remember")
        await harness.chat.says(words)
        await harness.chat.sees_text("Sure.")
        await harness.at_rest()
        assert read(tmp_path) == ""


async def test_a_yes_that_may_answer_the_assistant_goes_to_the_model(tmp_path: Path) -> None:
    model = Learner(doubts(*LIES), answer="Shall I book it?")
    async with learning(tmp_path, model=model, judge=doubt) as harness:
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Should I remember")
        for number, words in ((2, "yes"), (3, "keep all")):  # then it is not shown last any more
            await harness.chat.says(words)
            await harness.chat.until(lambda n=number: count(harness, "Shall I book it?") == n)
        await harness.at_rest()
        assert read(tmp_path) == ""


async def test_a_person_who_never_answers_is_asked_less_and_less_often(tmp_path: Path) -> None:
    clock, chat = GoingClock(2026, 3, 2, 12), FakeChat()
    topics = ("Sails every May", "Plays chess well", "Bakes dark bread", "Keeps bees", "Runs far")
    others = ("Owns a loom", "Climbs in winter", "Reads old maps", "Paints doors", "Speaks Finnish")
    model = Learner(*(doubts(*pair) for pair in zip(topics, others, strict=True)))
    async with learning(tmp_path, model=model, chat=chat, clock=clock, judge=doubt) as harness:
        for number in range(1, len(topics) + 1):
            await converse(harness, SAID, first=number)
            await asked_times(harness, 1)
            clock.move(harness, days=4)
        asked_at = await asked_times(harness, 2)
    weeks = [later - earlier for earlier, later in pairwise(asked_at)]
    assert len(asked_at) == 2
    assert all(one >= 14 * 86_400_000 for one in weeks)


async def asked_times(harness: Harness, least: int) -> list[int]:
    """Return when the person was asked, once that was so often."""
    async with asyncio.timeout(PATIENCE):
        while len(found := await harness.read(list_asked)) < least:
            await asyncio.sleep(0.01)
    await harness.at_rest()
    return found


def list_asked(connection: Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT asked_at FROM questions ORDER BY id")]


async def test_nothing_waits_and_nothing_is_asked(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), say("nothing"), judge=doubt) as harness:
        await harness.chat.says("/learned review")
        await harness.chat.sees_text(notices.NOTHING_HELD())


async def test_a_dismissed_note_stays_dismissed_until_it_is_said_in_new_words_twice(
    tmp_path: Path,
) -> None:
    lie = "Owns three boats"
    said = ("My brother has boats", "boats again, three of them")
    again = [doubts(lie, said=words, first=3 + 2 * place) for place, words in enumerate(said)]
    async with learning(tmp_path, model=Learner(doubts(lie), *again), judge=doubt) as harness:
        await harness.chat.says("/learned ask")
        await harness.chat.sees_text("ask before")
        await converse(harness, SAID)
        await harness.chat.sees_text("Should I remember")
        await harness.chat.press("Dismiss")
        await harness.chat.sees_text("Nothing has changed.")
        await converse(harness, said[0], first=2)
        assert len(await harness.read(list_asked)) == 1
        await converse(harness, said[1], first=3)
        await harness.chat.until(lambda: count(harness, "Should I remember") == 2)


async def test_an_undone_entry_returns_only_with_a_yes(tmp_path: Path) -> None:
    kept = "Prefers metric units"
    again = "I prefer metric units, you know"
    plays = (say("Fine."), doubts(kept), say("Yes."), doubts(kept, said=SAID, first=3))
    async with learning(tmp_path, *plays) as harness:
        await converse(harness, SAID)
        notice = await harness.chat.sees_text("Learned")
        await harness.chat.press(notice.labels[0])
        await harness.chat.sees_text("Taken back")
        await converse(harness, again, first=2)
        await harness.chat.sees_text("You removed a note like this before.")
        assert kept not in read(tmp_path)
        await harness.chat.press("Accept")
        await written(harness, tmp_path, kept)


def count(harness: Harness, words: str) -> int:
    return sum(words in one.text for one in harness.chat.shown)
