"""A SKILL.md is read as Agent Skills have it, and those that come along are valid."""

import pytest

from agent_core.errors import SkillBroken, SkillMissing
from agent_core.skills.catalog import BUNDLED as FOLDER
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.parser import read_skill
from tests.architecture.source import ROOT

SHELF = SkillCatalog(ROOT / "no-such-folder")

GOOD = "---\nname: tidy\ndescription: Tidies up. Use it when asked.\n---\n# Tidy\n\nDo it.\n"
BUNDLED = sorted(path.name for path in (ROOT / FOLDER).iterdir() if (path / "SKILL.md").is_file())


def test_the_digest_skill_is_there() -> None:
    assert "digest" in BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_skill_is_valid(name: str) -> None:
    skill = SHELF.load(name)
    assert skill.name == name
    assert skill.unknown == ()
    assert "\n---\n" not in skill.body
    assert len(skill.body) < 8000  # it is part of a prompt


def test_the_digest_skill_says_what_the_program_relies_on() -> None:
    skill = SHELF.load("digest")
    for word in ("`gather`", "`chart`", "[SILENT]"):
        assert word in skill.body


@pytest.mark.parametrize(
    "name", ["nothing", "", "..", "../digest", "Digest", "digest/", "__init__"]
)
def test_a_name_without_a_skill_is_said_to_be_missing(name: str) -> None:
    with pytest.raises(SkillMissing, match="there is no skill"):
        SHELF.load(name)


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
        ("tidy", GOOD.replace("Do it", "Do\0it")),
        ("Tidy", GOOD.replace("name: tidy", "name: Tidy")),
        ("a--b", GOOD.replace("name: tidy", "name: a--b")),
        ("x" * 65, GOOD.replace("name: tidy", f"name: {'x' * 65}")),
    ],
)
def test_a_skill_that_breaks_the_format_is_refused(folder: str, text: str) -> None:
    with pytest.raises(SkillBroken, match="skill "):
        read_skill(folder, text)


def test_all_fields_of_the_format_are_read() -> None:
    text = (
        "\ufeff---\r\nname: tidy\r\ndescription: >\r\n  Tidies up:\r\n  all of it.\r\n"
        'license: "MIT"\r\ncompatibility: Needs git\r\nallowed-tools: Bash(git:*) Read\r\n'
        "metadata:\r\n  author: Ana\r\nargument-hint: what\r\n---\r\n# Tidy\r\n"
    )
    skill = read_skill("tidy", text)
    assert skill.description == "Tidies up: all of it."
    assert (skill.license, skill.compatibility) == ("MIT", "Needs git")
    assert skill.allowed_tools == ("Bash(git:*)", "Read")
    assert skill.metadata == {"author": "Ana"}
    assert skill.unknown == ("argument-hint",)
    assert skill.body == "# Tidy"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("name: tidy", "name: other", "its `name` is other"),
        ("name: tidy\n", "", "its `name` is missing"),
        ("description: ", "description: a: ", "in "),
        ("description: ", "description:\n  for: ", "`description` must be a text"),
        ("---\n# Tidy", "metadata: x\n---\n# Tidy", "`metadata` must contain indented lines"),
        ("---\n# Tidy", f"compatibility: {'x' * 501}\n---\n# Tidy", "more than 500 characters"),
        ("# Tidy\n\nDo it.\n", "", "has no text below its front matter"),
    ],
)
def test_what_is_wrong_is_said(old: str, new: str, sentence: str) -> None:
    with pytest.raises(SkillBroken) as caught:
        read_skill("tidy", GOOD.replace(old, new))
    assert sentence in str(caught.value)


def test_a_line_of_dashes_in_the_text_ends_nothing() -> None:
    assert read_skill("tidy", f"{GOOD}\n---\nmore\n").body.endswith("Do it.\n\n---\nmore")
