"""What a SKILL.md holds, read and held against its format; pure.

The format is that of Agent Skills: https://agentskills.io/specification
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_core.errors import SkillBroken
from agent_core.skills.frontmatter import Value, read_front_matter

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FORM = re.compile(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n(.*))?", re.DOTALL)
_TEXTS = ("name", "description", "license", "compatibility", "allowed-tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill: what it is for, and what it says to do.

    `allowed_tools` are those that its maker thought of; nobody is given any by that. `unknown`
    are fields that the format does not have; they mean nothing.
    """

    name: str
    description: str
    body: str
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def is_name(text: str) -> bool:
    """True for what a skill can be called."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def read_skill(folder: str, text: str) -> Skill:
    """A SKILL.md as it stands in a folder. Raises `SkillBroken` with what is wrong."""
    found = _FORM.fullmatch(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if found is None:
        raise SkillBroken(f"skill {folder} does not begin with its front matter between two ---")
    try:
        given = read_front_matter(found[1] or "")
        texts = {key: _text_of(given, key) for key in _TEXTS}
        metadata = _mapping_of(given, "metadata")
    except ValueError as error:
        raise SkillBroken(f"the front matter of skill {folder} can't be read: {error}") from error
    _check(folder, texts)
    body = (found[2] or "").strip()
    if not body:
        raise SkillBroken(f"skill {folder} says nothing below its front matter")
    return Skill(
        name=texts["name"],
        description=texts["description"],
        body=body,
        license=texts["license"],
        compatibility=texts["compatibility"],
        metadata=metadata,
        allowed_tools=tuple(texts["allowed-tools"].split()),
        unknown=tuple(key for key in given if key not in (*_TEXTS, "metadata")),
    )


def _check(folder: str, texts: Mapping[str, str]) -> None:
    if texts["name"] != folder or not is_name(folder):
        raise SkillBroken(
            f"skill {folder} must be named like its folder, in at most {LONGEST_NAME} of a-z, 0-9"
            f" and single hyphens; its `name` is {texts['name'][:LONGEST_NAME] or 'missing'}"
        )
    if not 0 < len(texts["description"]) <= LONGEST_DESCRIPTION:
        raise SkillBroken(
            f"skill {folder} needs a `description` of 1 to {LONGEST_DESCRIPTION} letters"
        )
    if len(texts["compatibility"]) > LONGEST_COMPATIBILITY:
        raise SkillBroken(
            f"the `compatibility` of skill {folder} has more than {LONGEST_COMPATIBILITY} letters"
        )


def _text_of(given: Mapping[str, Value], key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"`{key}` has to be a text")
    return value.strip()


def _mapping_of(given: Mapping[str, Value], key: str) -> Mapping[str, str]:
    value = given.get(key) or {}
    if isinstance(value, str):
        raise ValueError(f"below `{key}` stand lines of `name: text`, indented")
    return value
