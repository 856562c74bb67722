"""Takes a frozen system text apart by what its sections are for; pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

PromptPart = Literal["identity", "memory", "files"]
"""Who the assistant is, its rules and how it uses tools and the platform; all that it
remembers; and context files."""

_RULES = "\n# Rules\n"
_HEADING = re.compile(r"^# .*$|^</?context-file>$", re.MULTILINE)
_MEMORY = ("# Memory of ", "# Shared memory", "# What this person lets ")
_FILE = "# Context file "


def divide(system: str) -> Mapping[PromptPart, str]:
    """The text of each part; together they are the whole of it, in another order.

    What a person wrote can't pass for a heading in memory (see `prompt.compose`); in a context
    file it stands between tags, and whatever stands in SOUL.md comes before the rules.
    """
    parts: dict[PromptPart, str] = {"identity": "", "memory": "", "files": ""}
    place = 0
    part: PromptPart = "identity"
    for start, following in _find_borders(system):
        parts[part] += system[place:start]
        place, part = start, following
    parts[part] += system[place:]
    return parts


def _find_borders(system: str) -> Iterator[tuple[int, PromptPart]]:
    """Where sections begin, and what they are for."""
    is_inside = False
    for heading in _HEADING.finditer(system, max(system.find(_RULES), 0)):
        line = heading.group()
        if line.endswith("context-file>"):
            is_inside = not line.startswith("</")
        elif not is_inside:
            yield heading.start(), _name(line)


def _name(heading: str) -> PromptPart:
    if heading.startswith(_MEMORY):
        return "memory"
    return "files" if heading.startswith(_FILE) else "identity"
