"""The headings of a system prompt, and which of its sections change between conversations."""

import re

RULES = "# Rules"
SHARED_ROOM = "# This room"
SHARED_MEMORY = "# Shared memory"
MEMORY = "# Memory of "
BORROWED = "# What this person lets "
FILE = "# Context file "
TRUSTED_FILE = "# Trusted context file "
PLATFORM = "# Platform"

_CHANGING = re.compile(
    rf"^(?:{SHARED_ROOM}|{SHARED_MEMORY}|{MEMORY}|{BORROWED}|{FILE}|{TRUSTED_FILE}|{PLATFORM}\n)",
    re.MULTILINE,
)


def split_changing(system: str) -> tuple[str, str]:
    """Split a system prompt into what lasts, and what is of one person, place or day.

    What lasts comes first, so that two prompts share it. A text that is no such prompt lasts.
    """
    rules = system.find(f"\n{RULES}\n")
    found = _CHANGING.search(system, rules) if rules >= 0 else None
    if found is None:
        return system, ""
    return system[: found.start()].rstrip() + "\n", system[found.start() :].strip()
