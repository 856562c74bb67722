"""Lines of what was gathered: quoted, since others wrote it, and no more than there is room for."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from agent_core.tools.untrusted_text import is_hidden


class SourceFailed(Exception):
    """A source gave nothing; the text says why, as the end of a sentence."""


class FetchFailed(SourceFailed):
    """Nothing was fetched. `status` is what the server answered, 0 if it did not come to that."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class ReaderFailed(SourceFailed):
    """The program that was to read or draw something ended without it."""


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


_LONGEST_LINK = 500


def fit(head: str, lines: Sequence[str], room: int) -> str:
    """A head and as many lines as there is room for, and how many are left out. Pure."""
    kept = [head]
    room -= len(head) + 40
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"… {len(lines) - number} more do not fit here."])
        kept.append(line)
    return "\n".join(kept)


def count(number: int, noun: str) -> str:
    """`1 event`, `2 events`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_link(url: str) -> str:
    """A link from outside as it may stand in a line, with a space before; "" if it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    if not is_plain or len(url) > _LONGEST_LINK:
        return ""
    if any(sign.isspace() or is_hidden(sign) or sign in '<>"\\`' for sign in url):
        return ""
    return f" {url}"
