"""The skills that come with the program are what Agent Skills allow, and found by their names."""

import pytest

from agent_core.digest.skills import FOLDER, load_skill, read_skill
from tests.house.source import ROOT

GOOD = "---\nname: tidy\ndescription: Tidies up. Use it when asked.\n---\n# Tidy\n\nDo it.\n"
BUNDLED = sorted(path.name for path in (ROOT / FOLDER).iterdir() if (path / "SKILL.md").is_file())


def test_the_digest_skill_is_there() -> None:
    assert "digest" in BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_skill_is_valid(name: str) -> None:
    skill = load_skill(name)
    assert skill
    assert skill.name == name
    assert "\n---\n" not in skill.body
    assert len(skill.body) < 8000  # it is part of a prompt


def test_the_digest_skill_says_what_the_program_relies_on() -> None:
    skill = load_skill("digest")
    assert skill
    for word in ("`gather`", "`chart`", "[SILENT]"):
        assert word in skill.body


@pytest.mark.parametrize(
    "name", ["nothing", "", "..", "../digest", "Digest", "digest/", "__init__"]
)
def test_a_name_without_a_skill_gives_none(name: str) -> None:
    assert load_skill(name) is None


def test_a_skill_is_read() -> None:
    skill = read_skill("tidy", GOOD)
    assert (skill.description, skill.body) == ("Tidies up. Use it when asked.", "# Tidy\n\nDo it.")


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("other", GOOD),
        ("tidy", GOOD.removeprefix("---\n")),
        ("tidy", GOOD.replace("name: tidy\n", "")),
        ("tidy", GOOD.replace("description", "purpose")),
        ("tidy", GOOD.replace("Tidies up.", "x" * 1025)),
        ("tidy", GOOD.replace("name: tidy", "name: tidy\nname: tidy")),
        ("tidy", GOOD.partition("# Tidy")[0]),
        ("Tidy", GOOD.replace("name: tidy", "name: Tidy")),
        ("a--b", GOOD.replace("name: tidy", "name: a--b")),
        ("x" * 65, GOOD.replace("name: tidy", f"name: {'x' * 65}")),
    ],
)
def test_a_skill_that_breaks_the_format_is_refused(folder: str, text: str) -> None:
    with pytest.raises(ValueError, match="skill "):
        read_skill(folder, text)
