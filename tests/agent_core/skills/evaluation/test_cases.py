"""The file with a skill's cases: read strictly, and never the author's own proof."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from agent_core.errors import SkillBroken
from agent_core.ids import TurnId
from agent_core.skills.changes import check_file, plan
from agent_core.skills.evaluation.cases import (
    agree_to_cases,
    find_drawn,
    may_test,
    name_drawn,
    read_cases,
)
from agent_core.skills.intents import write_planned
from agent_core.skills.states import describe_added
from tests.agent_core.skills.ledger_home import ORIGIN, archive_skill, opened, restore_skill
from tests.agent_core.skills.skill_folders import write_skill

EVALS = "evals/evals.json"


def write(place: Path, text: str) -> Path:
    (place / EVALS).parent.mkdir(parents=True, exist_ok=True)
    (place / EVALS).write_text(text)
    return place


def test_cases_of_a_file_are_prompts_or_turns(tmp_path: Path) -> None:
    mine = {"id": 1, "prompt": "add up", "checks": [{"kind": "calls", "value": "x"}]}
    drawn = {"id": "turn-5", "turn": 5}
    place = write(tmp_path, json.dumps({"evals": [mine, drawn], "author": "Ada"}))
    cases = read_cases(place)
    assert [case.turn_id for case in cases] == [None, 5]
    assert cases[0].checks[0].value == "x"
    assert cases[1] == find_drawn(name_drawn(TurnId(5)))
    assert find_drawn("1") is find_drawn("turn-") is find_drawn("turn-5x") is None


async def test_cases_that_the_agent_added_count_once_an_owner_agrees_and_until_they_change(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as home:
        write_skill(home.folder, "tally")
        write(home.folder / "tally", '{"evals": []}')

        async def counts() -> bool:
            return await home.database.read(may_test, home.folder, "tally")

        assert await counts()  # a person wrote the file
        (home.folder / "tally" / EVALS).unlink()
        change = check_file(home.catalog, "tally", EVALS, '{"evals": []}')
        origin = replace(ORIGIN, evidence=describe_added(EVALS, "add up"))
        await home.database.write("p", lambda c: plan(c, home.folder, change, origin))
        await home.database.write("w", lambda c: write_planned(c, home.folder))
        assert not await counts()
        agree_to_cases(home.folder, "tally")
        assert await counts()
        write(home.folder / "tally", '{"evals": [{"id": 1, "prompt": "p"}]}')
        assert not await counts()
        for move in (archive_skill, restore_skill):
            again = replace(ORIGIN, call_key=None)
            await home.database.write("m", move, home.folder, "tally", again)
        assert not await counts()


def test_a_skill_without_the_file_has_no_cases(tmp_path: Path) -> None:
    assert read_cases(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "can't be read as JSON"),
        ("[]", 'must be an object with a list "evals"'),
        ('{"evals": {}}', 'must be an object with a list "evals"'),
        ('{"evals": [1]}', 'must be an object with an "id"'),
        ('{"evals": [{"id": 1}]}', 'needs a "prompt" or a "turn"'),
        ('{"evals": [{"id": 1, "turn": true}]}', 'needs a "prompt" or a "turn"'),
        ('{"evals": [{"id": 1, "prompt": "p", "files": "a"}]}', "must be lists"),
        ('{"evals": [{"id": "turn-5", "prompt": "p"}]}', "names another turn"),
        ('{"evals": [{"id": "turn-5", "turn": 6}]}', "names another turn"),
        ('{"evals": [{"id": 1, "prompt": "p", "checks": [{"kind": "smells"}]}]}', "one of exact"),
        (
            '{"evals": [{"id": 1, "prompt": "p", "checks": [{"kind": "matches", "value": "("}]}]}',
            "invalid pattern",
        ),
        ("[" * 100_000, "can't be read as JSON"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(tmp_path: Path, text: str, reason: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SkillBroken, match=EVALS) as caught:
        read_cases(tmp_path)
    assert reason in str(caught.value)
    assert (tmp_path / EVALS).read_text() == text


def test_the_cases_of_every_bundled_skill_are_read() -> None:
    folder = Path(str(files("skills_bundled")))
    places = [place.parent.parent for place in folder.glob(f"*/{EVALS}")]
    assert len(places) >= 10
    assert all(len(read_cases(place)) >= 3 for place in places)
