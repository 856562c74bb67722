"""A skill that the agent wrote is a draft until its test with the person's own turns passes."""

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection
from agent_core.state.memory import skills
from agent_core.state.queues import skill_tests
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import greeted
from tests.integration.processes import be_killed
from tests.integration.skills.own_skills import SOON, changes, list_runs, own
from tests.patience import PATIENCE

TEXT = "---\nname: tally\ndescription: Adds up prices.\n---\nAdd them up with care.\n"
READ = ask(call("skill_view", '{"name": "tally"}'))
ROUNDS = ((1, "41.50"), (2, "42.75"), (3, "43.25"))


def write_skill_play(text: str = TEXT) -> Play:
    return ask(
        call("skill_manage", json.dumps({"action": "create", "name": "tally", "text": text}))
    )


def patch_play(old: str, new: str) -> Play:
    given = {"action": "patch", "name": "tally", "old": old, "text": new}
    return ask(call("skill_manage", json.dumps(given)))


def uses() -> list[Play]:
    """Return the plays of three turns that use the skill."""
    return [play for _, total in ROUNDS for play in (READ, say(f"Total: {total}"))]


def replays(without: Sequence[str], having: Sequence[str]) -> list[Play]:
    """Return the plays of a test: newest turn first, each without and with the skill."""
    pairs = zip(reversed(without), reversed(having), strict=True)
    return [say(answer) for pair in pairs for answer in pair]


TOTALS = [f"It is {total}." for _, total in ROUNDS]
GAIN = replays(["No idea."] * 3, TOTALS)


def list_tests(connection: Connection) -> list[str]:
    """Return what the tests found out, the last one at the end."""
    query = "SELECT payload FROM tasks WHERE kind = :kind AND payload LIKE '%worse%'"
    return [row[0] for row in connection.execute(query, {"kind": skill_tests.KIND})]


async def state_of(harness: Harness, name: str = "tally") -> str:
    row = await harness.read(lambda c: skills.find(c, name=name))
    assert row
    return row.state


async def reaches(harness: Harness, state: str) -> None:
    """Return once the skill has a state."""
    while await state_of(harness) != state:
        await harness.until(lambda: True)


async def use_it(harness: Harness) -> None:
    for number, total in ROUNDS:
        await harness.chat.says(f"/tally the receipts of week {number}")
        await harness.chat.sees_text(f"Total: {total}")
        await harness.at_rest()


async def write_it(harness: Harness) -> None:
    await own(harness)
    await harness.chat.says("keep how we add up prices")
    await harness.chat.sees_text("Kept.")
    await harness.at_rest()


def working(*plays: Play) -> FakeModel:
    return greeted(write_skill_play(), say("Kept."), *uses(), *plays)


async def test_a_draft_is_started_by_name_only_until_its_test_passes(tmp_path: Path) -> None:
    model = working(*GAIN, say("A new day."))
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        assert "It is a draft: `/tally` starts it" in str(model.requests[2].messages[-1])
        assert await state_of(harness) == "draft"
        await use_it(harness)
        assert "[A draft: no test has proved it yet." in str(model.requests[4].messages[-1])
        await harness.chat.sees_text("The skill tally passed its test")
        assert await state_of(harness) == "trial"
        cases = json.loads((tmp_path / "skills/tally/evals/evals.json").read_text())
        assert [sorted(case) for case in cases["evals"]] == [["id", "turn"]] * 3
        assert (await harness.read(list_runs)).count("skill_test") == 6
        evidence = [row[3] for row in await harness.read(changes)]
        assert evidence[-1].startswith("state draft -> trial: its test passed: success 0 to 3 of 3")
        await harness.chat.says("/usage")
        await harness.chat.sees_text("Testing skills")
        await harness.chat.says("/new")
        await harness.at_rest()
        assert "tally" not in model.requests[0].system
        await harness.chat.says("good morning")
        await harness.chat.sees_text("A new day.")
        assert "- tally: Adds up prices." in model.requests[-1].system
        replayed = model.requests[9:15]
        assert ["Add them up with care." in one.system for one in replayed] == [False, True] * 3
        assert replayed[0].messages[-1].text == "the receipts of week 3"


async def be_killed_at_call(home: Path, number: int) -> None:
    """Test a skill, and be killed at a call of the model on the way."""

    async def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    plays: list[Play] = [*GAIN[:number], [die]]
    async with running(home, working(*plays), timings=SOON) as harness:
        await write_it(harness)
        await use_it(harness)
        await asyncio.sleep(PATIENCE)  # the kill comes before


@pytest.mark.thorough
@pytest.mark.process
@pytest.mark.parametrize("number", [0, 1, 4, 5])
async def test_a_test_goes_on_after_a_kill_and_repeats_one_replay_at_most(
    tmp_path: Path, number: int
) -> None:
    await be_killed(be_killed_at_call, tmp_path, number)
    async with running(tmp_path, FakeModel(*GAIN[number:]), timings=SOON) as harness:
        await harness.chat.sees_text("The skill tally passed its test")
        assert await state_of(harness) == "trial"
        assert (await harness.read(list_runs)).count("skill_test") == 6


async def test_a_skill_that_makes_an_answer_worse_stays_a_draft(tmp_path: Path) -> None:
    model = working(*replays(TOTALS, ["No idea.", *TOTALS[1:]]))
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await use_it(harness)
        told = await harness.chat.sees_text("The skill tally failed its test")
        assert "With it, 2 of 3 of your earlier requests came out right" in told.text
        assert await state_of(harness) == "draft"
        payload = (await harness.read(list_tests))[-1]
        assert json.loads(payload)["reason"].startswith("worse in turn-")
        # The same text is not tested again, whatever uses it.
        assert (await harness.read(list_runs)).count("skill_test") == 6


async def test_a_patch_of_a_proved_skill_that_fails_is_rolled_back_and_can_be_undone(
    tmp_path: Path,
) -> None:
    place = tmp_path / "skills" / "tally"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(TEXT)
    patch = patch_play("with care", "in a hurry")
    model = greeted(*uses(), patch, say("Patched."), *replays(TOTALS, ["No."] * 3))
    async with running(tmp_path, model, timings=SOON) as harness:
        await own(harness)
        await use_it(harness)
        assert await state_of(harness) == "active"
        await harness.chat.says("patch it")
        await harness.chat.sees_text("Patched.")
        told = await harness.chat.sees_text("I returned the skill tally to version 1")
        assert "talaria skills undo" in told.text
        assert (place / "SKILL.md").read_text() == TEXT
        assert await state_of(harness) == "active"
        evidence = [row[3] for row in await harness.read(changes)]
        assert any(one.startswith("rolled back to version 1: its test failed") for one in evidence)


async def test_a_skill_that_goes_badly_is_reported_even_if_learning_is_off(tmp_path: Path) -> None:
    model = working(READ, say("Total: 44."))
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await harness.chat.says("/learned off")
        await use_it(harness)
        await harness.chat.says("/tally the receipts of week 4")
        await harness.chat.sees_text("Total: 44.")
        await harness.at_rest()

        def spoil(connection: Connection) -> None:
            connection.execute("UPDATE skills SET state = 'active'")
            connection.execute("UPDATE skill_uses SET outcome = 'corrected'")
            turn_id, person_id = connection.execute(
                "SELECT turns.id, person_id FROM turns JOIN skill_uses ON turn_id = turns.id"
                " ORDER BY turns.id DESC LIMIT 1"
            ).fetchone()
            skill_tests.enqueue_checks(connection, turn_id=turn_id, person_id=person_id, now=0)

        await harness.gateway.database.write("spoil", spoil)
        told = await harness.chat.sees_text("The skill tally is a draft again")
        assert "4 of 4 uses went badly" in told.text
        assert await state_of(harness) == "draft"


async def test_a_draft_with_too_few_cases_waits_and_costs_nothing(tmp_path: Path) -> None:
    model = greeted(write_skill_play(), say("Kept."), READ, say("Total: 41.50"))
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await harness.chat.says("/tally the receipts of week 1")
        await harness.chat.sees_text("Total: 41.50")
        await harness.at_rest()

        def done(connection: Connection) -> list[str]:
            rows = connection.execute(
                "SELECT payload FROM tasks WHERE kind = :kind AND state = 'done'",
                {"kind": skill_tests.KIND},
            )
            return [json.loads(row[0])["result"] for row in rows]

        while len(results := await harness.read(done)) < 2:
            await harness.until(lambda: True)
        assert results == ["few", "few"]
        assert await state_of(harness) == "draft"
        assert "skill_test" not in await harness.read(list_runs)
        assert not (tmp_path / "skills/tally/evals").exists()
