"""Skills that other agents' authors wrote are read all the same, with what they break."""

import pytest

from agent_core.errors import SkillBroken
from agent_core.skills.foreign import read_any_skill
from agent_core.skills.parser import LONGEST_DESCRIPTION

BODY = "---\n# Do it\n"


def test_a_skill_by_the_rules_has_no_note() -> None:
    skill = read_any_skill("tidy", f"---\nname: tidy\ndescription: 'Tidies: all.'\n{BODY}")
    assert (skill.description, skill.note) == ("Tidies: all.", "")


@pytest.mark.parametrize(
    ("front", "described", "note"),
    [
        ("name: Tidy Up\ndescription: Tidies.", "Tidies.", "its `name` is Tidy Up"),
        ("description: Tidies.", "Tidies.", "its `name` is missing"),
        ("name: tidy\ndescription: Use when: asked", "Use when: asked", "line 3"),
        ("name: tidy\ndescription: Use when: a\n  b is asked", "Use when: a b is asked", "line 3"),
        ("name: tidy\ndescription: Tidies.\nname: tidy", "Tidies.", "duplicate"),
        ("name: tidy\ndescription: Tidies.\ntags: [a, b]", "Tidies.", "`tags` must be a text"),
        (
            "name: a\ndescription: Tidies.\nwhen_to_use: When asked.",
            "Tidies. When asked.",
            "`name`",
        ),
    ],
)
def test_what_other_agents_accept_is_read_with_a_note(
    front: str, described: str, note: str
) -> None:
    skill = read_any_skill("tidy", f"---\n{front}\n{BODY}")
    assert (skill.name, skill.description) == ("tidy", described)
    assert note in skill.note


def test_tools_are_a_list_or_a_text() -> None:
    for given in ("Read, Bash(git:*)", "[Read, 'Bash(git:*)']", "\n  - Read\n  - Bash(git:*)"):
        front = f"name: tidy\ndescription: Tidies.\nallowed-tools: {given}"
        assert read_any_skill("tidy", f"---\n{front}\n{BODY}").allowed_tools == (
            "Read",
            "Bash(git:*)",
        )


def test_the_metadata_of_other_agents_is_kept_and_understood() -> None:
    front = (
        "name: tidy\ndescription: Tidies.\ndisable-model-invocation: true\nuser-invocable: false\n"
        'metadata: {"openclaw": {"emoji": "x", "requires": {"bins": ["gh"], "env": ["TOKEN"]}},'
        ' "author": "Ana"}'
    )
    skill = read_any_skill("tidy", f"---\n{front}\n{BODY}")
    assert skill.compatibility == "Needs gh, TOKEN"
    assert skill.metadata["author"] == "Ana"
    assert '"emoji": "x"' in skill.metadata["openclaw"]
    assert not skill.is_for_model
    assert not skill.is_command
    assert skill.unknown == ("disable-model-invocation", "user-invocable")


def test_a_description_that_is_too_long_is_cut() -> None:
    skill = read_any_skill("tidy", f"---\nname: tidy\ndescription: {'x' * 2000}\n{BODY}")
    assert len(skill.description) == LONGEST_DESCRIPTION
    assert "1 to 1024 characters" in skill.note


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("tidy", "# No front matter\n"),
        ("tidy", f"---\nname: tidy\n{BODY}"),
        ("tidy", f"---\nname: [tidy\n{BODY}"),
        ("tidy", "---\nname: tidy\ndescription: Tidies.\n---\n"),
        ("tidy", f"---\nname: tidy\ndescription: {'x' * 20_000}\n{BODY}"),
        ("Tidy", f"---\nname: Tidy\ndescription: Tidies.\n{BODY}"),
    ],
)
def test_a_skill_without_use_is_broken(folder: str, text: str) -> None:
    with pytest.raises(SkillBroken, match="skill "):
        read_any_skill(folder, text)
