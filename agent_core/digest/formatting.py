"""Formatting of gathered lines, and the folders of local sources."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

SOURCES = "sources"
"""The folder of calendar files in the home."""


def own_folder(sources: Path, kind: Literal["people", "rooms"], slug: str) -> Path:
    """The folder whose files only jobs of one person or room read."""
    return sources / kind / slug


def list_files(folder: Path) -> Iterator[Path]:
    """List all files below a folder, sorted; ignores links. Blocks."""
    if folder.is_symlink():
        return
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path


def fit(head: str, lines: Sequence[str], room: int) -> str:
    """Join a head with as many lines as fit, and state how many are left out. Pure."""
    kept = [head]
    room -= len(head) + 40
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"… {len(lines) - number} more don't fit here."])
        kept.append(line)
    return "\n".join(kept)


def count(number: int, noun: str) -> str:
    """Format a count: `1 event`, `2 events`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
