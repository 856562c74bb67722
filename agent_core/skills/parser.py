"""What a SKILL.md holds, read and held against its format; pure.

The format is that of Agent Skills: https://agentskills.io/specification
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from agent_core.errors import SkillBroken

Value = str | dict[str, str]

_LONGEST = 16_384
"""Letters; the texts that the format bounds come to a tenth of that."""


def read_front_matter(text: str) -> dict[str, Value]:
    """The fields between the two lines `---`. Raises `ValueError` with what can't be read."""
    if len(text) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST:,} letters")
    try:
        found = YAML(typ="base", pure=True).load(text)
    except MarkedYAMLError as error:
        raise ValueError(_tell(error)) from error
    except YAMLError as error:
        raise ValueError("it holds a sign that no text may hold") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("it has to be lines of `name: text`")
    return {_text(key, "a name"): _value(key, value) for key, value in found.items()}


def _tell(error: MarkedYAMLError) -> str:
    """What is wrong, in the reader's words, and where; line 1 is the `---` above."""
    what = (error.problem or error.context or "it is no YAML").split(" (original value")[0]
    where = error.problem_mark or error.context_mark
    hint = '; a text with a colon has to stand in "quotes"' if "mapping values" in what else ""
    return f"line {where.line + 2}: {what}{hint}" if where else what


def _value(key: Any, value: Any) -> Value:
    if isinstance(value, dict):
        return {_text(one, "a name"): _text(told, f"`{key}`") for one, told in value.items()}
    return _text(value, f"`{key}`")


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        hint = "; write the words of a list as one text, with spaces between"
        raise ValueError(f"{what} has to be a text{hint if isinstance(value, list) else ''}")
    if any(0xD800 <= ord(sign) < 0xE000 for sign in value):
        raise ValueError(f"{what} names a letter that there is not")
    return value


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
