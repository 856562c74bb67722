"""Entries of memory as Markdown: read leniently, written in one form, checked and counted."""

import codecs
import errno
import hashlib
import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from agent_core.tools.untrusted_text import is_bidi, is_hidden

_ITEM = re.compile(r"^(?P<indent> *)[-*+•](?: +(?P<text>.*))?$")
_SEPARATOR = re.compile(r"^(?:-{3,}|={3,}|\*{3,}|_{3,}|§)$")
_NESTED = 2
"""Spaces by which a line is indented that belongs to the item above it."""
_HEADING = re.compile(r"^#{1,6} +(?P<text>.*?)(?: +#+)?$")


def parse(text: str) -> tuple[str, ...]:
    """The entries of a file that may have been written by hand.

    Each list item is an entry, with what is indented below it; so is each paragraph and
    each heading outside of a list. Characters that no entry may hold are left out.
    """
    blocks: list[list[str]] = []
    indent: int | None = None
    is_open = False
    for line in _unify(text.removeprefix("\ufeff")).split("\n"):
        item, heading = _ITEM.match(line), _HEADING.match(line)
        depth = len(line) - len(line.lstrip(" "))
        if not line:
            is_open = False
        elif _SEPARATOR.match(line):
            indent, is_open = None, False
        elif heading:
            blocks.append([heading["text"]])
            indent, is_open = None, False
        elif item and (indent is None or depth < indent + _NESTED):
            blocks.append([item["text"] or ""])
            indent, is_open = depth, True
        elif indent is not None and depth >= indent + _NESTED:
            blocks[-1].append(line[indent + _NESTED :])
            is_open = True
        elif is_open:
            blocks[-1].append(line if indent is None else line.lstrip(" "))
        else:
            blocks.append([line])
            indent, is_open = None, True
    entries = (normalise(clean("\n".join(lines))) for lines in blocks)
    return tuple(entry for entry in entries if entry)


def render(entries: tuple[str, ...]) -> str:
    """The file that holds these entries: one list item each."""
    return "".join(f"- {entry.replace(chr(10), chr(10) + '  ')}\n" for entry in entries)


def size(entries: tuple[str, ...]) -> int:
    """Characters that entries take in their file; what the limits count."""
    return len(render(entries))


def normalise(text: str) -> str:
    """The one form in which an entry is kept: trimmed, without empty lines or tabs."""
    lines = [line for line in _unify(text).split("\n") if line]
    return "\n".join(lines).strip()


def find_flaw(text: str) -> str | None:
    """Why a text can't be an entry, or None: hidden characters could mislead its readers."""
    for character in text:
        if _is_forbidden(character):
            kind = _name_kind(character)
            return f"it holds {kind} (U+{ord(character):04X}); write it without"
    return None


def clean(text: str) -> str:
    """The text without the characters that `find_flaw` objects to."""
    return "".join(character for character in text if not _is_forbidden(character))


def _unify(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return "\n".join(line.rstrip(" ") for line in text.split("\n"))


def _is_forbidden(character: str) -> bool:
    return character != "\n" and is_hidden(character)


def _name_kind(character: str) -> str:
    if is_bidi(character):
        return "a character that turns the direction of text"
    if unicodedata.category(character) == "Cf":
        return "an invisible tag character"
    return "a control character"


MAX_BYTES = 262_144
"""A hand-made file beyond this is not read: it is no memory but a mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """What a file holds. `hash` is SHA-256, in hex, of its bytes; "" if there is no file.

    `is_torn` says that it holds what nobody writes: zeros, which a disk leaves after a failure.
    """

    text: str
    hash: str
    is_torn: bool = False


ABSENT = FileText(text="", hash="")


def digest(text: str) -> str:
    """The hash of a file that holds this text."""
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path) -> FileText:
    """The file as it is now, or `ABSENT`. UTF-16 is known by its mark; else text that is not
    UTF-8 is taken for Latin-1.

    Blocks. Raises `OSError` if it is there and can't be read, or is larger than `MAX_BYTES`.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "no ordinary file", str(path))
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ABSENT
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MAX_BYTES // 1024} KiB", str(path))
    text = _decode(content)
    is_torn = "\0" in text
    return FileText(
        text="" if is_torn else text,
        hash=hashlib.sha256(content).hexdigest(),
        is_torn=is_torn,
    )


def _open(path: str, flags: int) -> int:
    """Open without waiting: a pipe that nobody writes into would be waited for for ever."""
    return os.open(path, flags | os.O_NONBLOCK)


def _decode(content: bytes) -> str:
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16", "latin-1") if is_wide else ("utf-8", "latin-1"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError("Latin-1 knows every byte")


def write(path: Path, text: str, seen: str) -> bool:
    """Replace the file durably, if it is still the one whose hash was `seen`.

    Blocks. False if someone has changed it since; then it is left as it is. A crash leaves
    either file whole. Raises `OSError`.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    if read(path).hash != seen:
        draft.unlink()
        return False
    draft.replace(path)
    sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    """A rename is on the disk only once its folder is. Blocks. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
