"""The parser and validator of SKILL.md files. Pure.

The format is Agent Skills: https://agentskills.io/specification
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from agent_core.errors import SkillBroken

YamlValue = str | dict[str, str]

LONGEST_FRONT = 16_384
"""The most characters of the front matter; the fields that the format limits need a tenth of that.
"""
_PLAIN = re.compile(
    r"([a-z][a-z-]{0,63}): +([A-Za-z](?:(?! #|:(?: |$)).)*(?<! )|\"[^\"\\]*\"|'[^']*') *"
)
"""A line whose value YAML takes literally: without a comment, colon or indicator, or quoted without
an escape.
"""
_COLON = re.compile(r"[a-z][a-z-]{0,63}: +[A-Za-z](?:(?! #).)*?:(?: .*)?")
"""A line whose unquoted value has a colon, which YAML refuses. Many published skills have one."""


def read_front_matter(text: str) -> dict[str, YamlValue]:
    """Parse the front matter. Raises `ValueError` with the reason."""
    if len(text) > LONGEST_FRONT:
        raise ValueError(f"it has more than {LONGEST_FRONT:,} characters")
    if (plain := _read_plain(text)) is not None:
        return dict(plain)
    if line := find_colon(text):
        raise ValueError(f"line {line}: {_REFUSED}{_QUOTES}")
    try:
        found = YAML(typ="base", pure=True).load(text)
    except MarkedYAMLError as error:
        raise ValueError(_describe(error)) from error
    except YAMLError as error:
        raise ValueError("it contains a forbidden character") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("it must consist of lines like `name: text`")
    return {_text(key, "a name"): _value(key, value) for key, value in found.items()}


def _read_plain(text: str) -> dict[str, str] | None:
    """Parse front matter of unquoted one-line texts; None if any line needs the YAML parser.

    Most skills have only such texts, and the YAML parser takes ten times as long.
    """
    found: dict[str, str] = {}
    for line in text.removesuffix("\n").split("\n"):
        match = _PLAIN.fullmatch(line)
        if match is None or match[1] in found or not line.isprintable():
            return None
        value = match[2]
        found[match[1]] = value[1:-1] if value[0] in "\"'" else value
    return found


def find_colon(text: str) -> int:
    """Find the line that YAML refuses for a colon in its value; 0 if only the parser can tell.

    Line 1 is the opening `---`. The YAML parser takes milliseconds to find the same line.
    """
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=2):
        if not line.isprintable():
            return 0
        if _COLON.fullmatch(line):
            return number
        match = _PLAIN.fullmatch(line)
        if match is None or match[1] in seen:
            return 0
        seen.add(match[1])
    return 0


_REFUSED = "mapping values are not allowed here"
_QUOTES = '; put a text with a colon in "quotes"'


def _describe(error: MarkedYAMLError) -> str:
    """Describe a YAML error and its line; line 1 is the opening `---`."""
    what = (error.problem or error.context or "it is not YAML").split(" (original value")[0]
    where = error.problem_mark or error.context_mark
    hint = _QUOTES if "mapping values" in what else ""
    return f"line {where.line + 2}: {what}{hint}" if where else what


def _value(key: Any, value: Any) -> YamlValue:
    if isinstance(value, dict):
        return {
            _text(one, "a name"): _text(reported, f"`{key}`") for one, reported in value.items()
        }
    return _text(value, f"`{key}`")


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        hint = "; write the items of a list as one text, separated by spaces"
        raise ValueError(f"{what} must be a text{hint if isinstance(value, list) else ''}")
    if any(0xD800 <= ord(sign) < 0xE000 for sign in value):
        raise ValueError(f"{what} contains an invalid character")
    return value


LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FORM = re.compile(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n(.*))?", re.DOTALL)
FIELDS = ("name", "description", "license", "compatibility", "allowed-tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A parsed skill.

    `allowed_tools` is the author's suggestion and grants nothing. `unknown` are fields that the
    format does not define. `note` is the first broken rule of the format that does not make the
    skill useless. `is_for_model` is false if the author hides the skill from the model,
    `is_command` if the author hides it from people; other agents know these fields.
    """

    name: str
    description: str
    body: str
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    note: str = ""
    is_for_model: bool = True
    is_command: bool = True

    @property
    def backend(self) -> str:
        """The backend in its `metadata`, where its scripts and jobs work; "" for the usual one."""
        return self.metadata.get("backend", "").strip().lower()


def is_name(text: str) -> bool:
    """True for a valid skill name."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def read_skill(folder: str, text: str) -> Skill:
    """Parse the SKILL.md of a folder by the rules of the format.

    Raises `SkillBroken` with the reason.
    """
    front, body = split_text(folder, text)
    try:
        given = read_front_matter(front)
        texts = {key: _text_of(given, key) for key in FIELDS}
        metadata = _mapping_of(given, "metadata")
    except ValueError as error:
        raise SkillBroken(f"the front matter of skill {folder} is invalid: {error}") from error
    _check(folder, texts)
    return make_skill(folder, texts, metadata, body, given)


def split_text(folder: str, text: str) -> tuple[str, str]:
    """Split a SKILL.md into its front matter and its body. Raises `SkillBroken`."""
    if "\0" in text:
        raise SkillBroken(f"skill {folder} holds a NUL, which no text has")
    found = _FORM.fullmatch(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if found is None:
        raise SkillBroken(f"skill {folder} does not begin with front matter between two ---")
    body = (found[2] or "").strip()
    if not body:
        raise SkillBroken(f"skill {folder} has no text below its front matter")
    return found[1] or "", body


def make_skill(
    folder: str,
    texts: Mapping[str, str],
    metadata: Mapping[str, str],
    body: str,
    given: Mapping[str, object],
) -> Skill:
    """Make a skill from the fields that were read; `given` also holds fields of other agents."""
    return Skill(
        name=folder,
        description=texts["description"],
        body=body,
        license=texts["license"],
        compatibility=texts["compatibility"],
        metadata=metadata,
        allowed_tools=tuple(texts["allowed-tools"].replace(",", " ").split()),
        unknown=tuple(key for key in given if key not in (*FIELDS, "metadata")),
        is_for_model=given.get("disable-model-invocation") != "true",
        is_command=given.get("user-invocable") != "false",
    )


def _check(folder: str, texts: Mapping[str, str]) -> None:
    if texts["name"] != folder or not is_name(folder):
        raise SkillBroken(
            f"skill {folder} must have the name of its folder, at most {LONGEST_NAME} of a-z, 0-9"
            f" and single hyphens; its `name` is {texts['name'][:LONGEST_NAME] or 'missing'}"
        )
    if not 0 < len(texts["description"]) <= LONGEST_DESCRIPTION:
        raise SkillBroken(
            f"skill {folder} needs a `description` of 1 to {LONGEST_DESCRIPTION} characters"
        )
    if len(texts["compatibility"]) > LONGEST_COMPATIBILITY:
        raise SkillBroken(
            f"the `compatibility` of skill {folder} has more than {LONGEST_COMPATIBILITY}"
            " characters"
        )


def _text_of(given: Mapping[str, YamlValue], key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"`{key}` must be a text")
    return value.strip()


def _mapping_of(given: Mapping[str, YamlValue], key: str) -> Mapping[str, str]:
    value = given.get(key) or {}
    if isinstance(value, str):
        raise ValueError(f"`{key}` must contain indented lines like `name: text`")
    return value
