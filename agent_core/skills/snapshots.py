"""Snapshots of SKILL.md for the ledger: the whole text, or a note that explains its absence."""

import hashlib
import os
import re
import stat
from pathlib import Path

from agent_core.errors import SkillConflict
from agent_core.skills.catalog import MOST_BYTES, SKILL_FILE

_NOTE = re.compile(r"\[not kept: ([^\n]*)\]")


class _NotRegular(Exception):
    """The SKILL.md is not a regular file within its folder."""


def read_snapshot(place: Path) -> str:
    """Read the text of a skill; "" if it has none, or a note on why the text is not kept.

    Never reads outside the folder. Blocks; raises nothing.
    """
    try:
        file = _find_file(place)
        if file is None:
            return ""
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            content = opened.read(MOST_BYTES + 1)
    except _NotRegular as error:
        return _note(str(error))
    except OSError as error:
        return _note(f"it is unreadable, {error.strerror or error}")
    digest = hashlib.sha256(content).hexdigest()
    if len(content) > MOST_BYTES:
        return _note(f"{size} bytes, of which the first {len(content)} have SHA-256 {digest}")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return _note(f"not in UTF-8, SHA-256 {digest}")
    return text if is_whole(text) else _note(f"it reads like this note, SHA-256 {digest}")


def is_whole(text: str) -> bool:
    """False for a note that replaces a text."""
    return _NOTE.fullmatch(text) is None


def explain_omission(note: str) -> str:
    """Return the reason that a note gives."""
    found = _NOTE.fullmatch(note)
    return found[1] if found else ""


def check_regular(place: Path) -> None:
    """Check that the text of a skill may be overwritten. Blocks. Raises `SkillConflict`."""
    try:
        _find_file(place)
    except _NotRegular as error:
        raise SkillConflict(f"{place / SKILL_FILE} is not overwritten: {error}.") from error


def _find_file(place: Path) -> Path | None:
    """Find the SKILL.md of a folder; None if there is none.

    Raises `_NotRegular` if it is not a regular file within the folder, and `OSError`.
    """
    real = os.path.realpath(place)
    if place.is_symlink():
        raise _NotRegular("the folder is a link")
    file = Path(os.path.realpath(place / SKILL_FILE))
    if not file.is_relative_to(real):
        raise _NotRegular(f"its {SKILL_FILE} is a link that leads out of its folder")
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise _NotRegular(f"its {SKILL_FILE} is not a regular file")
    return file


def _note(why: str) -> str:
    return f"[not kept: {' '.join(why.split())}]"
