"""Talaria's skills and its strict reader, judged by the reference validator of Agent Skills."""

from pathlib import Path

import pytest

import skills_bundled
from agent_core.errors import SkillBroken
from agent_core.skills.parser import read_skill

# Imported so because mypy has to pass before `make setup` brings the package to a checkout.
validate = pytest.importorskip("skills_ref").validate
BUNDLED = sorted(Path(skills_bundled.__file__).parent.glob("*/SKILL.md"))


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.parent.name)
def test_bundled_skills_are_strictly_valid(file: Path) -> None:
    assert validate(file.parent) == []
    skill = read_skill(file.parent.name, file.read_text())
    assert (skill.unknown, skill.note) == ((), "")


@pytest.mark.parametrize(
    ("front", "is_valid"),
    [
        ("name: tidy\ndescription: Tidies.", True),
        ("name: tidy\ndescription: 'Use when: asked.'\nlicense: MIT", True),
        ("name: tidy\ndescription: Tidies.\nmetadata:\n  author: ann", True),
        ("name: tidy\ndescription: Tidies.\ncompatibility: Needs git", True),
        ("name: tidy\ndescription: Tidies.\nallowed-tools: Read Write", True),
        ("name: Tidy\ndescription: Tidies.", False),
        ("name: other\ndescription: Tidies.", False),
        ("name: tidy", False),
        ("name: tidy\ndescription: ''", False),
        (f"name: tidy\ndescription: {'x' * 1025}", False),
        (f"name: tidy\ndescription: x\ncompatibility: {'x' * 501}", False),
        ("name: tidy\ndescription: Use when: asked.", False),
    ],
)
def test_the_strict_reader_agrees_with_the_validator(
    tmp_path: Path, front: str, is_valid: bool
) -> None:
    place = tmp_path / "tidy"
    place.mkdir()
    text = f"---\n{front}\n---\nSweep.\n"
    (place / "SKILL.md").write_text(text)
    assert (validate(place) == []) is is_valid
    try:
        read_skill("tidy", text)
    except SkillBroken:
        assert not is_valid
    else:
        assert is_valid
