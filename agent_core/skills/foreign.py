"""The lenient reader of skills that other agents' authors wrote. Pure.

Other agents accept more than the format allows: lists, nested metadata, unquoted colons, or a
`name` unlike the folder. Such a skill is read anyway; its note is the first rule that it breaks.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from agent_core.errors import SkillBroken
from agent_core.skills.parser import (
    FIELDS,
    LONGEST_COMPATIBILITY,
    LONGEST_DESCRIPTION,
    LONGEST_FRONT,
    Skill,
    find_colon,
    is_name,
    make_skill,
    read_skill,
    split_text,
)

_LINE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):[ \t]*(.*)")
_WHEN = ("when_to_use", "when-to-use")
"""Fields in which other agents describe when a skill fits."""
_REQUIREMENTS = ("bins", "anyBins", "env")


def read_any_skill(folder: str, text: str) -> Skill:
    """Parse a SKILL.md leniently. Raises `SkillBroken` if it is useless without the owner's help:
    no name for its folder, no description, no text, or front matter that can't be read.
    """
    try:
        return read_skill(folder, text)
    except SkillBroken as error:
        broken = error
    if not is_name(folder):
        raise broken
    front, body = split_text(folder, text)
    if len(front) > LONGEST_FRONT:
        raise broken
    given = _load(front)
    description = _flatten(given.get("description", ""))
    when = next((_flatten(given[key]) for key in _WHEN if key in given), "")
    if not description:
        raise broken
    found = given.get("metadata") or {}
    metadata = found if isinstance(found, dict) else {"metadata": found}
    texts = {key: _flatten(given.get(key, "")) for key in FIELDS}
    texts["description"] = f"{description} {when}".strip()[:LONGEST_DESCRIPTION]
    needs = texts["compatibility"] or _list_needs(metadata)
    texts["compatibility"] = needs[:LONGEST_COMPATIBILITY]
    shown = {str(key): _flatten(value) for key, value in metadata.items()}
    skill = make_skill(folder, texts, shown, body, given)
    return replace(skill, note=str(broken))


def _load(front: str) -> Mapping[str, object]:
    """Parse front matter as YAML, else line by line with every value as text."""
    found: object
    if find_colon(front):
        found = _read_lines(front)
    else:
        yaml = YAML(typ="base", pure=True)
        yaml.allow_duplicate_keys = True
        try:
            found = yaml.load(front)
        except (YAMLError, RecursionError):
            found = _read_lines(front)
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _read_lines(front: str) -> dict[str, str]:
    """Read `key: text` lines; an indented line continues the text above it."""
    found: dict[str, str] = {}
    key = ""
    for line in front.splitlines():
        match = _LINE.fullmatch(line)
        if match:
            key = match[1]
            found.setdefault(key, match[2].strip().strip("\"'").removeprefix(">").strip("|- "))
        elif key and line[:1].isspace():
            found[key] = f"{found[key]} {line.strip()}".strip()
    return found


def _flatten(value: object) -> str:
    """Show any value as one text; a list of texts is separated by spaces."""
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        text = " ".join(value)
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return "".join(sign for sign in text if not 0xD800 <= ord(sign) < 0xE000)


def _list_needs(metadata: Mapping[str, object]) -> str:
    """Name the programs and variables that another agent's metadata requires."""
    names: list[str] = []
    for value in metadata.values():
        required = value.get("requires") if isinstance(value, dict) else None
        if not isinstance(required, dict):
            continue
        for key in _REQUIREMENTS:
            listed = required.get(key, ())
            names += [str(one) for one in listed] if isinstance(listed, list) else []
    return f"Needs {', '.join(dict.fromkeys(names))}" if names else ""
