"""The file in which `talaria chat` keeps the lines that were typed, for the arrow keys."""

import os
from collections.abc import Callable
from pathlib import Path

_HEAD = "\n# "
"""Begins an entry: the time of it, and then its lines with a `+` in front."""


def forget(path: Path, is_wanted: Callable[[str], bool]) -> None:
    """Take out the entries with certain words. Blocks. Raises `OSError`."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    first, *entries = text.split(_HEAD)
    kept = [entry for entry in entries if not is_wanted(_lines(entry))]
    if len(kept) == len(entries):
        return
    draft = path.with_name(f".{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_HEAD.join([first, *kept]))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _lines(entry: str) -> str:
    return "\n".join(line[1:] for line in entry.splitlines()[1:])
