"""The skills that come with Talaria: valid, scanned, with cases, and about tools that exist."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_core.skills.catalog import read_skill_folder
from agent_core.skills.install.scan import scan_skill
from agent_core.tools.selection.built_in import PROMPT_TOOLS, RARE_TOOLS
from agent_core.tools.selection.catalog import SEARCH_TOOL, USE_TOOL
from tests.agent_core.skills.bundled.scripts import FOLDER, SCRIPTS

NAMES = sorted(place.parent.name for place in FOLDER.glob("*/SKILL.md"))
TOOLS = {*PROMPT_TOOLS, *RARE_TOOLS, SEARCH_TOOL, USE_TOOL}
CHECKS = {"contains", "lacks", "matches", "calls", "does_not_call"}
_SNAKE = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")

every_skill = pytest.mark.parametrize("name", NAMES)


def cases(name: str) -> list[dict[str, Any]]:
    found = json.loads((FOLDER / name / "evals/evals.json").read_text())
    assert found["skill_name"] == name
    return found["evals"]  # type: ignore[no-any-return]


def test_ten_skills_come_with_talaria() -> None:
    expected = "csv-report diff-review digest github-triage meeting-summary"
    expected += " nginx-logs routine-planner skill-author web-research writing-style"
    assert expected.split() == NAMES


@every_skill
def test_its_scan_finds_nothing(name: str) -> None:
    assert scan_skill(FOLDER / name).findings == []


@every_skill
def test_it_names_only_tools_that_exist(name: str) -> None:
    body = read_skill_folder(FOLDER / name).body
    other = {"expected_output", "add_file"}
    assert set(_SNAKE.findall(body)) - TOOLS <= other
    assert {*re.findall(r"`(\w+)`", body)} & TOOLS


@every_skill
def test_its_description_says_what_and_when_and_its_body_is_short(name: str) -> None:
    skill = read_skill_folder(FOLDER / name)
    assert 60 <= len(skill.description) <= 300
    assert len(skill.body.splitlines()) <= 65
    assert skill.license == "MIT"


@every_skill
def test_its_cases_can_be_checked(name: str) -> None:
    found = cases(name)
    assert len(found) >= 3
    assert [one["id"] for one in found] == list(range(1, len(found) + 1))
    for one in found:
        assert all(one[key] for key in ("prompt", "expected_output", "assertions", "checks"))
        for file in one["files"]:
            assert (FOLDER / name / file).is_file()
        for check in one["checks"]:
            assert check["kind"] in CHECKS
            if check["kind"] == "matches":
                re.compile(check["value"])
            elif check["kind"] in ("calls", "does_not_call"):
                assert check["value"] in TOOLS


def test_every_script_is_known_to_these_tests_and_named_in_its_skill() -> None:
    found = {path.relative_to(FOLDER) for path in FOLDER.glob("*/scripts/*")}
    found = {path for path in found if path.suffix == ".py"}
    assert found == {Path(one.skill, one.path) for one in SCRIPTS}
    for one in SCRIPTS:
        body = read_skill_folder(FOLDER / one.skill).body
        assert f"python3 .skills/{one.skill}/{one.path}" in body
