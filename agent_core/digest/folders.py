"""Whose calendar files lie where in the home, and which there are."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

SOURCES = "sources"
"""The folder of the home that calendar files lie in."""


def own_folder(sources: Path, kind: Literal["people", "rooms"], slug: str) -> Path:
    """The folder of what only jobs of one person, or of one room, read."""
    return sources / kind / slug


def list_files(folder: Path) -> Iterator[Path]:
    """All files below a folder, in order; links are not followed, and no files here. Blocks."""
    if folder.is_symlink():
        return
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path
