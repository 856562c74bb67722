"""A SKILL.md as the ledger keeps it: its whole text, or a note of why not; and written back."""

import hashlib
import os
import re
import stat
from pathlib import Path

from agent_core.errors import SkillStays
from agent_core.memory import files
from agent_core.skills.catalog import FILE, MOST_BYTES

_NOTE = re.compile(r"\[not kept: ([^\n]*)\]")


class _Odd(Exception):
    """What lies in a folder is no text of its own."""


def read_snapshot(place: Path) -> str:
    """The text of the skill in a folder, `""` where there is none, else a note of why it is not
    kept. Nothing outside of the folder is read. Blocks; raises nothing.
    """
    try:
        file = _find_file(place)
        if file is None:
            return ""
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            content = opened.read(MOST_BYTES + 1)
    except _Odd as error:
        return _note(str(error))
    except OSError as error:
        return _note(f"it can't be read, {error.strerror or error}")
    digest = hashlib.sha256(content).hexdigest()
    if len(content) > MOST_BYTES:
        return _note(f"{size} bytes, of which the first {len(content)} have SHA-256 {digest}")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return _note(f"not in UTF-8, SHA-256 {digest}")
    return text if is_whole(text) else _note(f"it reads like this note, SHA-256 {digest}")


def is_whole(text: str) -> bool:
    """False for a note that stands for a text."""
    return _NOTE.fullmatch(text) is None


def explain_omission(note: str) -> str:
    """Why a text is not kept, by the note that stands for it."""
    found = _NOTE.fullmatch(note)
    return found[1] if found else ""


def write_back(place: Path, text: str, seen: str) -> None:
    """Let a skill read so again, if it still reads as was `seen`; durably, whole or not at all.

    Blocks. Raises `SkillStays`, and `OSError` if it can't be written.
    """
    path = place / FILE
    try:
        _find_file(place)
    except _Odd as error:
        raise SkillStays(f"{path} is not written over: {error}.") from error
    was = files.read(path).hash
    if read_snapshot(place) != seen or not files.write(path, text, was):
        raise SkillStays(f"{path} was changed just now; look at it again.")


def _find_file(place: Path) -> Path | None:
    """The SKILL.md of a folder, None if there is none. Raises `_Odd` where that is no plain
    file within the folder, and `OSError`.
    """
    real = os.path.realpath(place)
    if place.is_symlink():
        raise _Odd("the folder is a link")
    file = Path(os.path.realpath(place / FILE))
    if not file.is_relative_to(real):
        raise _Odd(f"its {FILE} is a link that leads out of its folder")
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise _Odd(f"its {FILE} is no file")
    return file


def _note(why: str) -> str:
    return f"[not kept: {' '.join(why.split())}]"
