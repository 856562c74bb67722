"""The states of skills, and what happens to one that goes badly."""

from pathlib import Path

import pytest

from agent_core.errors import SkillConflict
from agent_core.skills.catalog import SKILL_FILE
from agent_core.skills.changes import check_create, check_patch
from agent_core.skills.decline import Decline, check_uses, judge_uses
from agent_core.skills.intents import write_planned
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses, skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.memory.skill_uses import Outcome
from tests.agent_core.skills.ledger_home import (
    Home,
    archive_skill,
    compose,
    opened,
    restore_skill,
    undo,
)
from tests.agent_core.skills.skill_folders import write_skill
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn

TESTS = Origin(actor="tests", now=900)


async def state(home: Home) -> str:
    row = await home.database.read(lambda c: skills.find(c, name="tidy"))
    assert row
    return row.state


async def use(home: Home, *outcomes: Outcome, at: int = 500) -> None:
    """Let `tidy` be used in a turn each, with these outcomes."""

    def work(connection: Connection) -> None:
        person = add_person(connection, f"ann{at}")
        dialogue = add_dialogue(connection, person)
        for number, outcome in enumerate(outcomes):
            turn_id = add_turn(connection, dialogue)
            skill_uses.note(connection, name="tidy", turn_id=turn_id, now=at + number)
            skill_uses.end(connection, turn_id=turn_id, outcome=outcome, now=at + number)

    await home.database.write("use", work)


async def check(home: Home) -> Decline | None:
    def work(connection: Connection) -> Decline | None:
        done = check_uses(connection, home.catalog, "tidy", TESTS)
        write_planned(connection, home.folder)
        return done

    return await home.database.write("check", work)


async def set_trial(home: Home) -> None:
    await home.database.write("t", lambda c: skills.set_state(c, name="tidy", state="trial"))


def test_a_verdict_comes_as_soon_as_the_uses_tell() -> None:
    assert judge_uses([]) == "open"
    assert judge_uses([False] * 5) == "open"
    assert judge_uses([False] * 6) == "bad"
    assert judge_uses([True] * 5) == "open"
    assert judge_uses([True] * 6) == "good"
    # A good verdict is no credit: a later decline is noticed as soon as an early one.
    assert judge_uses([*[True] * 600, *[False] * 6]) == "bad"
    assert judge_uses([*[True] * 7, *[False] * 5]) == "good"
    assert judge_uses([False, False, *[True] * 8]) == "good"


async def test_what_the_agent_writes_is_a_draft_and_what_a_person_writes_is_not(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as home:
        await home.make(check_create(home.catalog, "tidy", compose("tidy")))
        assert await state(home) == "draft"
        await home.make(check_patch(home.catalog, "tidy", "Do it.", "Do it well."))
        assert await state(home) == "draft"
        (home.folder / "tidy" / SKILL_FILE).write_text(compose("tidy", "My own words."))
        await home.start()
        assert await state(home) == "active"
        await home.make(check_patch(home.catalog, "tidy", "My own", "Better"))
        assert await state(home) == "trial"


async def test_a_draft_stays_one_through_the_archive(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        await home.make(check_create(home.catalog, "tidy", compose("tidy")))
        house = Origin(actor="house", now=300)
        await home.database.write("a", lambda c: archive_skill(c, home.folder, "tidy", house))
        await home.database.write("r", lambda c: restore_skill(c, home.folder, "tidy", house))
        assert await state(home) == "draft"


async def test_a_use_leaves_a_draft_a_draft(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        await home.make(check_create(home.catalog, "tidy", compose("tidy")))
        await use(home, *["done"] * 9)
        assert await check(home) is None
        assert await state(home) == "draft"


async def test_good_uses_prove_a_skill_on_trial(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        await home.make(check_create(home.catalog, "tidy", compose("tidy")))
        await set_trial(home)
        await use(home, "done", "liked", "done", "void", "done", "done")
        assert await check(home) is None
        assert await state(home) == "trial"
        await use(home, "done", at=600)
        await check(home)
        assert await state(home) == "active"
        assert (await home.rows())[-1].origin.evidence == (
            "state trial -> active: 6 of 6 uses went well"
        )


async def test_a_bad_patch_is_rolled_back_and_its_undo_puts_it_on_trial_afresh(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as home:
        place = write_skill(home.folder, "tidy")
        await home.start()
        await use(home, *["disliked"] * 9)
        assert await check(home) is None, "a person's own text is not touched"
        await home.make(check_patch(home.catalog, "tidy", "Do it.", "Do it badly."))
        await use(home, "corrected", "retried", "disliked", *["stopped"] * 9, "void", at=600)
        await use(home, "failed", "failed", at=650)
        assert await check(home) is None
        await use(home, "disliked", at=700)
        done = await check(home)
        assert done
        assert (done.version, done.good, done.bad) == (1, 0, 6)
        assert done.row.origin.evidence == ("rolled back to version 1: 6 of 6 uses went badly")
        assert (place / SKILL_FILE).read_text() == compose("tidy")
        assert await state(home) == "active"
        row = done.row.id
        await home.database.write(
            "u", lambda c: undo(c, home.folder, row, Origin(actor="house", now=1_000))
        )
        assert "Do it badly." in (place / SKILL_FILE).read_text()
        assert await state(home) == "trial"
        assert await check(home) is None, "the earlier uses are not counted again"


async def test_a_skill_without_a_good_text_is_a_draft_again_and_this_can_be_undone(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as home:
        await home.make(check_create(home.catalog, "tidy", compose("tidy")))
        await set_trial(home)
        await use(home, *["failed"] * 6)
        done = await check(home)
        assert done
        assert (done.version, await state(home)) == (0, "draft")
        row = done.row.id

        def take_back(connection: Connection) -> None:
            undo(connection, home.folder, row, Origin(actor="house", now=2_000))

        await home.database.write("u", take_back)
        assert await state(home) == "trial"
        assert await check(home) is None
        with pytest.raises(SkillConflict, match="is not draft any more; it is trial"):
            await home.database.write("u", take_back)


async def test_a_hand_edit_during_the_check_wins(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        place = write_skill(home.folder, "tidy")
        await home.start()
        await home.make(check_patch(home.catalog, "tidy", "Do it.", "Do it badly."))
        await use(home, *["disliked"] * 6)
        (place / SKILL_FILE).write_text(compose("tidy", "By hand."))
        assert await check(home) is None
        assert (place / SKILL_FILE).read_text() == compose("tidy", "By hand.")
        assert await state(home) == "active"
