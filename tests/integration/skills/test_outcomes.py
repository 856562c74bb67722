"""What became of the skills that a turn used, as its end and the person's next words say."""

import json
from pathlib import Path

import pytest

from agent_core.models.contract import Usage
from agent_core.skills.usage import list_records
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses
from agent_core.state.queues import inbox
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import give_job, give_skills, greet, greeted, over
from tests.integration.skills.curator import START, ZONE

READ = ask(call("skill_view", '{"name": "tidy"}'))
LEFT = "SELECT state, reason, payload FROM inbox WHERE event_id = 'left'"
TWICE = ask(
    call("skill_view", '{"name": "tidy"}'),
    call("skill_view", '{"name": "tidy"}', "c2"),
    usage=Usage(input_tokens=1000, output_tokens=1),
)


def outcomes(connection: Connection) -> list[str | None]:
    """Return the outcomes of the uses of `tidy`, oldest first."""
    rows = connection.execute(
        "SELECT outcome FROM skill_uses JOIN skills ON skills.id = skill_id"
        " WHERE name = 'tidy' ORDER BY skill_uses.id"
    )
    return [row[0] for row in rows]


async def talk(harness: Harness, *said: str) -> None:
    for number, words in enumerate(said):
        await harness.chat.says(words)
        await harness.chat.sees_text(f"Answer {number}.")
        await harness.at_rest()


def answering(*uses_skill: bool) -> FakeModel:
    plays: list[Play] = []
    for number, is_use in enumerate(uses_skill):
        plays += [READ, say(f"Answer {number}.")] if is_use else [say(f"Answer {number}.")]
    return greeted(*plays)


@pytest.mark.parametrize(
    ("next_words", "expected"),
    [
        ("and now the garden", ["done"]),
        ("No, I meant the attic.", ["void"]),
        ("Ich meinte den Dachboden.", ["void"]),
        ("That's wrong.", ["corrected"]),
        ("No, that's not what I asked for.", ["corrected"]),
        ("Nein, das stimmt nicht.", ["corrected"]),
        ("Eso está mal.", ["corrected"]),
        ("Me refería al desván.", ["void"]),
        ("Tidy up  the house", ["retried"]),
        ("/retry", ["retried"]),
        ("👍🏽", ["liked"]),
        ("👎", ["disliked"]),
        ("👍👎", ["done"]),
    ],
)
async def test_the_next_words_judge_the_use_before(
    tmp_path: Path, next_words: str, expected: list[str]
) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True, False)) as harness:
        await greet(harness)
        await talk(harness, "tidy up the house", next_words)
        assert await harness.read(outcomes) == expected


async def test_a_later_thumb_outweighs_a_correction_and_words_of_later_turns_count_for_them(
    tmp_path: Path,
) -> None:
    write_skill(tmp_path / "skills", "tidy")
    model = answering(True, True, False, False)
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await talk(harness, "tidy up", "That's wrong.", "👎", "👍")
        # The thumb up is about the answer to the thumb down, which used no skill.
        assert await harness.read(outcomes) == ["corrected", "disliked"]
        shown = {one.row.name: one for one in await harness.read(list_records)}
        assert shown["tidy"].row.uses == 2
        assert (shown["tidy"].tally.successes, shown["tidy"].tally.failures) == (0, 2)


async def test_a_second_correction_in_a_row_means_that_the_answer_missed_the_first(
    tmp_path: Path,
) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True, True, False)) as harness:
        await greet(harness)
        await talk(harness, "tidy up", "No, I meant the attic.", "No, I said the attic.")
        assert await harness.read(outcomes) == ["void", "corrected"]


async def test_a_thumb_judges_an_answer_after_which_somebody_changed_their_mind(
    tmp_path: Path,
) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True, False)) as harness:
        await greet(harness)
        await talk(harness, "tidy up", "No, I meant the attic.")
        await react(harness, "👎", "Answer 0.")
        assert await harness.read(outcomes) == ["disliked"]
        await react(harness, "👎", "Answer 0.", is_on=False)
        assert await harness.read(outcomes) == ["void"]


async def test_a_turn_counts_a_skill_once_and_its_limit_says_nothing(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy")
    model = greeted(TWICE, say("Stopped."))
    limit = {"TALARIA_TURNS__MAX_TOKENS": "1000"}
    async with running(tmp_path, model, **limit) as harness:
        await greet(harness)
        await harness.chat.says("tidy up")
        await harness.chat.sees_text("Stopped.")
        await harness.at_rest()
        assert await harness.read(outcomes) == ["void"]
        assert {one.row.uses for one in await harness.read(list_records)} == {1}


async def test_the_uses_are_shown_in_chat_and_mirrored_in_the_home(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    write_skill(folder, "tidy")
    async with running(tmp_path, answering(True, True)) as harness:
        await greet(harness)
        await talk(harness, "tidy up", "That's wrong.")
        await harness.chat.says("/skills")
        await harness.chat.sees_text("/tidy – Does tidy. (worked well in 1 of 2 uses)")
        entry = json.loads((folder / ".usage.json").read_text())["tidy"]
        counts = {key: entry[key] for key in ("uses", "successes", "failures", "version", "state")}
        assert counts == {
            "uses": 2,
            "successes": 1,
            "failures": 1,
            "version": 1,
            "state": "active",
        }
        assert entry["pinned"] is False
        assert entry["last_used"] is not None


async def test_the_turn_of_a_job_is_done_and_nobody_corrects_it(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy")
    clock = Clock(*START)
    model = greeted(say("Swept."), say("Swept again."))
    async with running(tmp_path, model, now=clock, **ZONE) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up.", "0 8 * * *", kind="prompt")
        await give_skills(harness, job, "tidy")
        for day in (1, 2):
            clock.move(harness, days=1)
            await over(harness, job, day)
        # The same words each day are the job's, and no retry.
        assert await harness.read(outcomes) == ["done", "done"]


async def test_another_person_judges_nothing(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True)) as harness:
        await greet(harness)
        await talk(harness, "tidy up")

        def revise(connection: Connection) -> int:
            (turn_id, person_id) = connection.execute(
                "SELECT turn_id, person_id FROM skill_uses JOIN turns ON turns.id = turn_id"
            ).fetchone()
            return skill_uses.revise(
                connection, turn_id=turn_id, person_id=person_id + 1, outcome="liked", now=1
            )

        assert await harness.gateway.database.write("test", revise) == 0
        assert await harness.read(outcomes) == ["done"]


async def react(harness: Harness, sign: str, answer: str, **fields: object) -> None:
    """React to the message with this text, and wait until that was taken."""
    shown = await harness.chat.sees_text(answer)
    await harness.chat.reacts(sign, shown.id, **fields)
    await harness.at_rest()


async def test_a_reaction_to_the_answer_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True)) as harness:
        await greet(harness)
        await talk(harness, "tidy up")
        seen = []
        for sign, is_on in (
            ("👎🏽", True),
            ("🤔", True),
            ("👍", True),
            ("👍", False),
            ("👎", False),
        ):
            await react(harness, sign, "Answer 0.", is_on=is_on)
            seen += await harness.read(outcomes)
        assert seen == ["disliked", "disliked", "liked", "disliked", "done"]


async def test_words_after_a_reaction_count_once_it_is_taken_back(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True, False)) as harness:
        await greet(harness)
        await talk(harness, "tidy up")
        await react(harness, "👍", "Answer 0.")
        await harness.chat.says("That's wrong.")
        await harness.chat.sees_text("Answer 1.")
        await harness.at_rest()
        assert await harness.read(outcomes) == ["liked"]
        await react(harness, "👍", "Answer 0.", is_on=False)
        assert await harness.read(outcomes) == ["corrected"]


async def test_only_the_person_who_was_answered_judges_by_a_reaction(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True)) as harness:
        await greet(harness)
        await harness.chat.says("tidy up", chat="r", direct=False, thread="t")
        await harness.chat.sees_text("Answer 0.")
        await harness.at_rest()
        room = {"chat": "r", "direct": False}
        await harness.chat.says("hello", user="2", name="Ben")  # a person, with an account
        await harness.at_rest()
        for stranger in ("2", "3"):
            await react(harness, "👎", "Answer 0.", user=stranger, **room)
            assert await harness.read(outcomes) == ["done"]
        await react(harness, "👎", "Answer 0.", chat="other", direct=False)
        assert await harness.read(outcomes) == ["done"]
        await react(harness, "👎", "Answer 0.", **room)
        assert await harness.read(outcomes) == ["disliked"]


async def test_a_reaction_that_a_crash_left_in_the_inbox_counts_after_the_start(
    tmp_path: Path,
) -> None:
    write_skill(tmp_path / "skills", "tidy")
    async with running(tmp_path, answering(True)) as harness:
        await greet(harness)
        await talk(harness, "tidy up")
        shown = await harness.chat.sees_text("Answer 0.")
        payload = json.dumps({"reacts": "👎", "message": shown.id, "is_on": True})
        await harness.gateway.database.write(
            "test", lambda c: inbox.store(c, platform="fake", events=[("left", payload)], now=1)
        )
    async with running(tmp_path, answering()) as harness:
        await harness.at_rest()
        assert await harness.read(outcomes) == ["disliked"]
        assert await harness.read(lambda c: c.execute(LEFT).fetchone()) == ("done", "reaction", "")
