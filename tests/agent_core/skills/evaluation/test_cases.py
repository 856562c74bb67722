"""The file with a skill's cases: read strictly, and changed without losing what a person wrote."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from agent_core.errors import SkillBroken
from agent_core.ids import TurnId
from agent_core.skills.evaluation.cases import EVALS, add_cases, read_cases


def write(place: Path, text: str) -> Path:
    (place / EVALS).parent.mkdir(parents=True, exist_ok=True)
    (place / EVALS).write_text(text)
    return place


def test_cases_are_added_beside_those_of_a_person_and_only_once(tmp_path: Path) -> None:
    mine = {
        "id": 1,
        "prompt": "add up",
        "note": "kept",
        "checks": [{"kind": "calls", "value": "x"}],
    }
    place = write(tmp_path, json.dumps({"evals": [mine], "author": "Ada"}))
    add_cases(place, "tally", [TurnId(5), TurnId(6)])
    add_cases(place, "tally", [TurnId(6), TurnId(7)])
    found = json.loads((place / EVALS).read_text())
    assert (found["skill_name"], found["author"], found["evals"][0]) == ("tally", "Ada", mine)
    assert [case.turn_id for case in read_cases(place)] == [None, 5, 6, 7]
    assert read_cases(place)[0].checks[0].value == "x"


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
