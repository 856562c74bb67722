"""A skill that the agent wrote is a draft until its test with the person's own turns passes."""

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.models.contract import Usage
from agent_core.state.engine.database import Connection
from agent_core.state.queues import skill_tests
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.harness import running
from tests.integration.jobs_support import greeted
from tests.integration.processes import be_killed
from tests.integration.skills.own_skills import SOON, changes, list_runs, own
from tests.integration.skills.tally import (
    READ,
    ROUNDS,
    TEXT,
    state_of,
    use_it,
    uses,
    working,
    write_it,
    write_skill_play,
)
from tests.patience import PATIENCE


def patch_play(old: str, new: str) -> Play:
    given = {"action": "patch", "name": "tally", "old": old, "text": new}
    return ask(call("skill_manage", json.dumps(given)))


def replays(without: Sequence[str], having: Sequence[str]) -> list[Play]:
    """Return the plays of a test: newest turn first, each without and with the skill."""
    pairs = zip(reversed(without), reversed(having), strict=True)
    return [say(answer) for pair in pairs for answer in pair]


TOTALS = [f"It is {total}." for _, total in ROUNDS]
GAIN = replays(["No idea."] * 3, TOTALS) * 2
"""Six pairs that only the skill wins are the fewest that prove it."""
RUNS = len(GAIN)


def list_tests(connection: Connection) -> list[str]:
    """Return what the tests found out, the last one at the end."""
    query = "SELECT payload FROM tasks WHERE kind = :kind AND payload LIKE '%worse%'"
    return [row[0] for row in connection.execute(query, {"kind": skill_tests.KIND})]


async def test_a_draft_is_started_by_name_only_until_its_test_passes(tmp_path: Path) -> None:
    model = working(*GAIN, say("A new day."))
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        assert "It is a draft: `/tally` starts it" in str(model.requests[2].messages[-1])
        assert await state_of(harness) == "draft"
        await use_it(harness)
        assert "[A draft: no test has proved it yet." in str(model.requests[4].messages[-1])
        await harness.chat.sees_text("The skill “tally” passed its test")
        assert await state_of(harness) == "trial"
        assert not (tmp_path / "skills/tally/evals").exists()
        assert (await harness.read(list_runs)).count("skill_test") == RUNS
        evidence = [row[3] for row in await harness.read(changes)]
        assert evidence[-1].startswith("state draft -> trial: its test passed: success 0 to 6 of 6")
        await harness.chat.says("/usage")
        await harness.chat.sees_text("Testing skills")
        await harness.chat.says("/new")
        await harness.at_rest()
        assert "tally" not in model.requests[0].system
        await harness.chat.says("good morning")
        await harness.chat.sees_text("A new day.")
        assert "- tally: Adds up prices." in model.requests[-1].system
        replayed = model.requests[9 : 9 + RUNS]
        assert ["Add them up with care." in one.system for one in replayed] == [False, True] * 6
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
@pytest.mark.parametrize("number", [0, 1, 4, 11])
async def test_a_test_goes_on_after_a_kill_and_repeats_one_replay_at_most(
    tmp_path: Path, number: int
) -> None:
    await be_killed(be_killed_at_call, tmp_path, number)
    async with running(tmp_path, FakeModel(*GAIN[number:]), timings=SOON) as harness:
        await harness.chat.sees_text("The skill “tally” passed its test")
        assert await state_of(harness) == "trial"
        assert (await harness.read(list_runs)).count("skill_test") == RUNS


async def test_a_skill_that_makes_an_answer_worse_stays_a_draft(tmp_path: Path) -> None:
    newest, middle, oldest = (say(total) for total in reversed(TOTALS))
    # A judge compares good answers until one run is worse; then saved tokens can't count any more.
    compared = [newest, newest, say("Neither."), middle, middle, say("`neither`")]
    worse = replays(TOTALS, ["No idea.", *TOTALS[1:]])
    model = working(*compared, oldest, say("No idea."), *worse, *worse)
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await use_it(harness)
        told = await harness.chat.sees_text("The skill “tally” failed its test")
        assert (
            "I did 3 of your earlier requests again. With the skill, 6 of 9 attempts" in told.text
        )
        assert await state_of(harness) == "draft"
        payload = json.loads((await harness.read(list_tests))[-1])
        assert payload["reason"].startswith("worse in turn-")
        assert {run["answer"] for run in payload["runs"]} == {""}, "no words stay in the record"
        # The same text is not tested again, whatever uses it.
        assert (await harness.read(list_runs)).count("skill_test") == 18 + 2


async def test_saved_tokens_count_only_if_a_blind_judge_misses_nothing(tmp_path: Path) -> None:
    def pair(total: str, verdict: str) -> list[Play]:
        spent = [Usage(input_tokens=100, output_tokens=n) for n in (300, 60)]
        answers = [f"It is {total}, from 7 shops.", f"It is {total}."]
        replayed = [say(answer, usage=used) for answer, used in zip(answers, spent, strict=True)]
        return [*replayed, say(verdict)]

    terse = [play for _, total in reversed(ROUNDS) for play in pair(total, "both")]
    # The first answer lacks something: the test waits for a gain in success, which never comes.
    plays = [*terse[:3], *(play for at in range(1, 10) for play in terse[3 * (at % 3) :][:2])]
    async with running(tmp_path, working(*plays), timings=SOON) as harness:
        await write_it(harness)
        await use_it(harness)
        told = await harness.chat.sees_text("The skill “tally” failed its test")
        assert "With the skill, 10 of 10 attempts went well; without it, 10 of 10 did" in told.text
        assert await state_of(harness) == "draft"


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
        told = await harness.chat.sees_text("I returned the skill “tally” to version 1")
        assert "take this back with /undo skill tally" in told.text
        assert (place / "SKILL.md").read_text() == TEXT
        assert await state_of(harness) == "active"
        evidence = [row[3] for row in await harness.read(changes)]
        assert any(one.startswith("rolled back to version 1: its test failed") for one in evidence)


async def test_a_patch_whose_requests_succeed_anyway_stays_on_trial(tmp_path: Path) -> None:
    place = tmp_path / "skills" / "tally"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(TEXT)
    patch = patch_play("with care", "with great care")
    pairs = [[say(total)] * 2 for total in [*reversed(TOTALS)] * 4][:10]
    # Six pairs show that no tokens are saved either; no judge is asked from then on.
    plays = [play for at, pair in enumerate(pairs) for play in (*pair, *[say("neither")][at > 5 :])]
    model = greeted(*uses(), patch, say("Patched."), *plays)
    async with running(tmp_path, model, timings=SOON) as harness:
        await own(harness)
        await use_it(harness)
        await harness.chat.says("patch it")
        await harness.chat.sees_text("Patched.")
        query = "SELECT payload FROM tasks WHERE payload LIKE '%no difference%'"
        while not await harness.read(lambda c: c.execute(query).fetchall()):
            await harness.until(lambda: True)
        assert await state_of(harness) == "trial"
        assert "great care" in (place / "SKILL.md").read_text()


async def test_a_skill_that_goes_badly_is_reported_even_if_learning_is_off(tmp_path: Path) -> None:
    more = [(week, f"{40 + week}.") for week in (4, 5, 6)]
    model = working(*(play for _, total in more for play in (READ, say(f"Total: {total}"))))
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await harness.chat.says("/learned off")
        await use_it(harness)
        for week, total in more:
            await harness.chat.says(f"/tally the receipts of week {week}")
            await harness.chat.sees_text(f"Total: {total}")
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
        told = await harness.chat.sees_text("The skill “tally” is a draft again")
        assert "it went wrong 6 of 6 times" in told.text
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


OWN_CASES = json.dumps(
    {
        "evals": [
            {"id": number, "prompt": "hi", "checks": [{"kind": "contains", "value": ""}]}
            for number in range(4)
        ]
    }
)


def add_cases_play(cases: str = OWN_CASES) -> Play:
    given = {"action": "add_file", "name": "tally", "file": "evals/evals.json", "text": cases}
    return ask(call("skill_manage", json.dumps(given), "c2"))


async def test_cases_that_the_agent_wrote_prove_nothing_before_an_owner_approves_them(
    tmp_path: Path,
) -> None:
    hello = [say("Hello.", usage=Usage(output_tokens=n)) for n in (90, 9)]
    passing = [*hello, say("neither")] * 16
    model = greeted(write_skill_play(), add_cases_play(), say("Kept."), *passing)
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await harness.chat.sees_text("send /skills try tally and what to do")
        assert await state_of(harness) == "draft"
        assert "skill_test" not in await harness.read(list_runs)
        await harness.chat.says("/skills cases tally")
        told = await harness.chat.sees_text("I wrote these test cases for the skill “tally” myself")
        assert "- hi → contains ''" in told.text
        await harness.chat.says("/skills agree tally")
        await harness.chat.sees_text("These test cases count from now on")
        told = await harness.chat.sees_text("The skill “tally” passed its test")
        assert "I tried 4 examples that a person wrote or approved." in told.text
        assert "earlier requests" not in told.text


async def test_a_draft_is_offered_once_and_runs_only_for_the_person_who_starts_it(
    tmp_path: Path,
) -> None:
    model = greeted(write_skill_play(), say("Kept."), READ, say("Without it."), *uses(), *GAIN)
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await harness.chat.sees_text("I wrote the skill “tally” as a draft")
        await harness.chat.says("good morning")  # the model takes the draft by itself
        await harness.chat.sees_text("Without it.")
        assert "is a draft that no test has proved yet" in str(model.requests[-1].messages[-1])
        await harness.chat.says("/skills try tally")
        await harness.chat.sees_text(
            "Add what I should do, for example: /skills try tally sum up my notes"
        )
        await harness.chat.says("/skills try talli the receipts")
        await harness.chat.sees_text("There's no skill “talli”.")
        for number, total in ROUNDS:
            await harness.chat.says(f"/skills try tally the receipts of week {number}")
            await harness.chat.sees_text(f"Total: {total}")
            await harness.at_rest()
        await harness.chat.sees_text("I did 3 of your earlier requests again.")
        assert await state_of(harness) == "trial"
        offers = [one for one in harness.chat.shown if "as a draft" in one.text]
        assert len(offers) == 1


async def test_a_passed_test_stays_passed_over_archive_and_return(tmp_path: Path) -> None:
    model = working(*GAIN)
    async with running(tmp_path, model, timings=SOON) as harness:
        await write_it(harness)
        await use_it(harness)
        await harness.chat.sees_text("The skill “tally” passed its test")
        for told in ("I've removed the skill “tally”.", "The skill “tally” is back."):
            await harness.chat.says("/undo skill tally")
            await harness.chat.sees_text(told)
        assert await state_of(harness) == "trial"
        assert (await harness.read(list_runs)).count("skill_test") == RUNS
