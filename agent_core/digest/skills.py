"""Reads the skills that come with the program: folders with a SKILL.md, by their names.

The format is that of Agent Skills: https://agentskills.io/specification
"""

import re
from dataclasses import dataclass
from importlib.resources import files

FOLDER = "skills_bundled"
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FORM = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_FIELD = re.compile(r"([a-z-]+):[ ]*(\S.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill: what it is for, and what it says to do."""

    name: str
    description: str
    body: str


def load_skill(name: str) -> Skill | None:
    """A bundled skill; None if there is none of that name. Raises `ValueError` for a broken one."""
    if not _NAME.fullmatch(name):
        return None
    file = files(FOLDER) / name / "SKILL.md"
    return read_skill(name, file.read_text(encoding="utf-8")) if file.is_file() else None


def read_skill(folder: str, text: str) -> Skill:
    """A SKILL.md as it stands in a folder. Pure. Raises `ValueError` with what is wrong."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"skill {folder} does not begin with its front matter between two ---")
    given: dict[str, str] = {}
    for line in found[1].split("\n"):
        pair = _FIELD.fullmatch(line)
        if pair is None or pair[1] in given:
            raise ValueError(f"skill {folder} has a line in its front matter that can't be: {line}")
        given[pair[1]] = pair[2].strip()
    skill = Skill(
        name=given.get("name", ""),
        description=given.get("description", ""),
        body=found[2].strip(),
    )
    if skill.name != folder or not _NAME.fullmatch(folder) or len(folder) > LONGEST_NAME:
        raise ValueError(f"skill {folder} must be named like its folder, in a-z, 0-9 and hyphens")
    if not 0 < len(skill.description) <= LONGEST_DESCRIPTION:
        raise ValueError(
            f"skill {folder} needs a description of 1 to {LONGEST_DESCRIPTION} letters"
        )
    if not skill.body:
        raise ValueError(f"skill {folder} says nothing")
    return skill
