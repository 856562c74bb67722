"""Shapes of SKILL.md that the public repositories of Agent Skills have, in words of our own.

The 19 front matters stored of anthropics/skills were read on 2026-11-26. One of a fork had gone
through a formatter of Markdown, which makes front matter a heading; that is the refused one.
"""

import pytest

from agent_core.errors import SkillBroken
from agent_core.skills.foreign import read_any_skill
from agent_core.skills.parser import LONGEST_DESCRIPTION

BODY = "\n# Tidy\n\nSweep.\n\n---\n\nMop.\n"
LINE = "  Sweeps the floor, and mops it — when somebody asks for it: or says so.\n"


def read(front: str, body: str = BODY, folder: str = "tidy") -> tuple[str, str, str]:
    skill = read_any_skill(folder, f"---\n{front}\n---\n{body}")
    assert skill.name == folder
    return skill.description, skill.license, skill.note


@pytest.mark.parametrize(
    ("described", "text"),
    [
        (
            "Use it whenever a floor is dirty, e.g. a .floor/table, or if one asks (don't wait).",
            "Use it whenever a floor is dirty, e.g. a .floor/table, or if one asks (don't wait).",
        ),
        (
            "\"Use it: any 'dirty floor', '.mud', or the like. Do NOT use for walls.\"",
            "Use it: any 'dirty floor', '.mud', or the like. Do NOT use for walls.",
        ),
        ('"用于清洁地板——当用户提到\\"脏\\"时使用。"', '用于清洁地板——当用户提到"脏"时使用。'),
        ('用于清洁地板。例如"帮我擦地"。', '用于清洁地板。例如"帮我擦地"。'),
        (f"|-\n{LINE}{LINE}".rstrip("\n"), f"{LINE.strip()}\n{LINE.strip()}"),
        (f">\n{LINE}{LINE}".rstrip("\n"), f"{LINE.strip()} {LINE.strip()}"),
    ],
)
def test_descriptions_are_plain_quoted_in_other_scripts_or_blocks(
    described: str, text: str
) -> None:
    front = f"name: tidy\ndescription: {described}\nlicense: Proprietary. See LICENSE.txt."
    assert read(front) == (text, "Proprietary. See LICENSE.txt.", "")


@pytest.mark.parametrize("sign", ["|-", ">"])
def test_a_block_that_is_longer_than_the_format_allows_is_cut(sign: str) -> None:
    described, licence, note = read(
        f"name: tidy\ndescription: {sign}\n{LINE * 20}license: Complete terms in LICENSE.txt"
    )
    assert len(described) == LONGEST_DESCRIPTION
    assert licence == "Complete terms in LICENSE.txt"
    assert "1 to 1024 characters" in note


def test_a_template_with_a_comment_and_another_name_is_read() -> None:
    described, _, note = read(
        "name: tidy-skill # lower case only (e.g., my-skill)\ndescription: Replace this.",
        "\n# Insert instructions below\n",
        "template",
    )
    assert described == "Replace this."
    assert "its `name` is tidy-skill" in note


@pytest.mark.parametrize("body", ["\n\n\n# Tidy", "x" * 105_126, "- https://example.org/docs: a"])
def test_bodies_are_long_short_and_end_without_a_line_break(body: str) -> None:
    skill = read_any_skill("tidy", f"---\nname: tidy\ndescription: Sweeps.\n---\n{body}")
    assert (skill.body, skill.note) == (body.strip(), "")


def test_front_matter_that_a_formatter_made_a_heading_is_refused() -> None:
    text = f'{"_" * 70}\n\n## name: tidy description: "Sweeps: all." license: MIT\n\n# Tidy\n'
    with pytest.raises(SkillBroken, match="does not begin with front matter between two ---"):
        read_any_skill("tidy", text)
