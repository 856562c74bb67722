"""A full list makes room for what was learned, and the person is told what moved."""

from pathlib import Path

import pytest

from agent_core.memory.files import size
from agent_core.state.engine.database import Connection
from tests.fakes.chat import FakeChat
from tests.fakes.model import ask, call, doubt, say
from tests.integration.clock import GoingClock
from tests.integration.harness import Harness
from tests.integration.memory.learning import (
    KEPT,
    SAID,
    Learner,
    converse,
    learning,
    read_profile,
    remember,
    reviewed,
)

LIMIT = {"TALARIA_MEMORY__USER_LIMIT": "200"}
OLD = ("Collects stamps from Norway", "Plays the cello on Sundays", "Has a garden with roses")
FILLER = (
    "Keeps four old bicycles in the cellar of the house in the Lindengasse, one for each season"
)


def list_archived(connection: Connection) -> list[str]:
    """List the texts in the archive of the only person."""
    return [row[0] for row in connection.execute("SELECT text FROM archive ORDER BY id")]


def fill(home: Path, *entries: str) -> None:
    """Write the person's USER.md by hand."""
    path = next(home.glob("memories/people/*/USER.md"))
    path.write_text("".join(f"- {one}\n" for one in entries))


async def prepare(harness: Harness, home: Path, *entries: str) -> None:
    """Let a person have these entries, written by hand, before any review."""
    await harness.chat.says("/memory")
    await harness.chat.until(lambda: len(harness.chat.shown) == 1)
    await harness.at_rest()
    (home / "memories/people/ana").mkdir(parents=True, exist_ok=True)
    (home / "memories/people/ana/USER.md").touch()
    fill(home, *entries)
    await harness.chat.says("/memory")
    await harness.chat.sees_text(entries[0])


async def test_a_full_list_moves_what_was_never_used_and_undo_brings_it_back(
    tmp_path: Path,
) -> None:
    clock, chat = GoingClock(2026, 1, 5, 12), FakeChat()
    review = ask(call("memory", remember(KEPT, SAID, 5)))
    async with learning(
        tmp_path,
        model=Learner(say("nothing"), say("nothing"), review),
        chat=chat,
        clock=clock,
        settings=LIMIT,
    ) as harness:
        await prepare(harness, tmp_path, *OLD, FILLER)
        clock.move(harness, days=60)
        await converse(harness, "my cello needs new strings, and the roses are in bloom")
        clock.move(harness, days=60)
        await converse(harness, "the cellar is wet, poor bicycles", first=2)
        await converse(harness, SAID, first=3)
        notice = await harness.chat.sees_text("There is no more room in my notes about you.")
        assert OLD[0] in notice.text
        assert KEPT in notice.text
        assert not any(one in notice.text for one in (*OLD[1:], FILLER))
        profile = read_profile(tmp_path)
        assert KEPT in profile
        assert OLD[0] not in profile
        assert all(one in profile for one in (*OLD[1:], FILLER))
        assert await harness.read(list_archived) == [OLD[0]]
        await harness.chat.press(next(one for one in notice.labels if one.startswith("Bring")))
        await harness.chat.sees_text("Taken back")
        assert OLD[0] in read_profile(tmp_path)
        assert KEPT in read_profile(tmp_path)


async def test_what_is_over_makes_room_first_and_stays_once_it_is_brought_back(
    tmp_path: Path,
) -> None:
    over = "Has a broken arm (until 2025-12-01)"
    clock, chat = GoingClock(2026, 1, 5, 12), FakeChat()
    review = ask(call("memory", remember(KEPT, SAID, 3)))
    async with learning(
        tmp_path,
        model=Learner(say("nothing"), review, say("nothing")),
        chat=chat,
        clock=clock,
        settings=LIMIT,
    ) as harness:
        await prepare(harness, tmp_path, *OLD, over, FILLER[:60])
        await converse(harness, "hello")
        notice = await harness.chat.sees_text("This is over")
        assert over in notice.text
        assert over not in read_profile(tmp_path)
        assert await harness.read(list_archived) == [over]
        await converse(harness, SAID, first=2)
        assert all(one in read_profile(tmp_path) for one in (*OLD, KEPT))
        await harness.chat.press(next(one for one in notice.labels if one.startswith("Bring")))
        await harness.chat.sees_text("Taken back")
        await converse(harness, "hello again", first=3)
        assert over in read_profile(tmp_path)


async def test_a_list_edited_to_twice_its_limit_loses_nothing(tmp_path: Path) -> None:
    lines = [f"Owns the {color} {thing}" for color in ("red", "blue") for thing in THINGS]
    review = ask(call("memory", remember(KEPT, SAID)))
    async with learning(tmp_path, say("Fine."), review, turns=1, settings=LIMIT) as harness:
        await prepare(harness, tmp_path, *lines)
        assert size(tuple(lines)) > 400
        await harness.chat.says(SAID)
        await reviewed(harness)
        notice = await harness.chat.sees_text("There is no more room in my notes about you.")
        profile = read_profile(tmp_path)
        archived = await harness.read(list_archived)
        assert KEPT in profile
        assert 1 <= len(archived) <= 2
        assert all((one in profile) != (one in archived) for one in lines)
        assert all(one in notice.text for one in archived)


THINGS = (
    "boat",
    "bicycle",
    "armchair",
    "teapot",
    "lantern",
    "umbrella",
    "violin",
    "hammer",
    "kite",
)


@pytest.mark.parametrize("text", ["Prefers metric units " + "and long walks " * 13])
async def test_a_fact_that_is_longer_than_its_list_goes_to_the_archive(
    tmp_path: Path, text: str
) -> None:
    said = "I prefer metric units " + "and long walks " * 13
    review = ask(call("memory", remember(text.strip(), said.strip())))
    async with learning(tmp_path, say("Fine."), review, turns=1, settings=LIMIT) as harness:
        await harness.chat.says(said)
        await reviewed(harness)
        await harness.chat.sees_text("Learned")
        assert await harness.read(list_archived) == [text.strip()]


async def test_a_note_that_the_person_accepts_gets_room_too(tmp_path: Path) -> None:
    note = "Prefers imperial units"
    review = ask(call("memory", remember(note, SAID)))
    async with learning(tmp_path, say("Fine."), review, settings=LIMIT, judge=doubt) as harness:
        await prepare(harness, tmp_path, *OLD, FILLER)
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Should I remember this?")
        await harness.chat.press("Accept")
        told = await harness.chat.sees_text("There is no more room in my notes about you.")
        assert OLD[0] in told.text
        await harness.chat.sees_text("Done:")
        assert note in read_profile(tmp_path)
        assert OLD[0] not in read_profile(tmp_path)
        await harness.chat.press(next(one for one in told.labels if OLD[0] in one))
        await harness.chat.sees_text("Taken back")
        assert OLD[0] in read_profile(tmp_path)
