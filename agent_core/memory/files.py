"""Memory entries as Markdown files: parse leniently, write canonically, validate and measure."""

import codecs
import errno
import hashlib
import os
import re
import stat
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.state.engine.backup import sync_folder
from agent_core.transcript import is_hidden

_ITEM = re.compile(r"^(?P<indent> *)[-*+•](?: +(?P<text>.*))?$")
_SEPARATOR = re.compile(r"^(?:-{3,}|={3,}|\*{3,}|_{3,}|§)$")
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NESTED = 2
"""Spaces of indentation that make a line part of the list item above it."""
_HEADING = re.compile(r"^#{1,6} +(?P<text>.*?)(?: +#+)?$")


def parse(text: str) -> tuple[str, ...]:
    """Parse the entries of a file that may have been written by hand.

    Each list item with its indented lines is an entry; so is each paragraph and each heading
    outside a list. Forbidden characters are dropped.
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
    """Format entries as a file, each as one list item."""
    return "".join(f"- {entry.replace(chr(10), chr(10) + '  ')}\n" for entry in entries)


def size(entries: tuple[str, ...]) -> int:
    """Count the characters that the entries take in their file; limits count in the same way."""
    return len(render(entries))


def fit(entries: tuple[str, ...], limit: int) -> tuple[str, ...]:
    """Return the first entries of a list, at most `limit` characters of its file.

    The last of them is cut to fit.
    """
    left = limit
    for count, entry in enumerate(entries):
        rendered = render((entry,))
        if len(rendered) > left:
            part = rendered[len("- ") : max(left - 1, 0)].replace("\n  ", "\n").strip()
            return (*entries[:count], part) if part else entries[:count]
        left -= len(rendered)
    return entries


def normalise(text: str) -> str:
    """Normalise an entry: trimmed, without empty lines or tabs."""
    lines = [line for line in _unify(text.removeprefix("\ufeff")).split("\n") if line]
    return "\n".join(lines).strip()


def find_flaw(text: str) -> str | None:
    """Describe the first forbidden character of a text, or return None.

    Hidden characters could mislead people who read the list.
    """
    for character in text:
        if _is_forbidden(character):
            kind = _name_kind(character)
            return f"it contains {kind} (U+{ord(character):04X}); remove that"
    return None


def clean(text: str) -> str:
    """Remove the characters that `find_flaw` rejects."""
    return "".join(character for character in text if not _is_forbidden(character))


def _unify(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return "\n".join(line.rstrip(" ") for line in text.split("\n"))


def _is_forbidden(character: str) -> bool:
    return character != "\n" and is_hidden(character)


def _name_kind(character: str) -> str:
    if character in _BIDI:
        return "a character that changes the text direction"
    if unicodedata.category(character) == "Cf":
        return "an invisible tag character"
    return "a control character"


_SECTOR = 512
"""The least number of bytes that a disk writes at once."""

MAX_BYTES = 262_144
"""The largest file that is read, in bytes; a larger one is a mistake, not a list of notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """The content of a file. `hash` is the SHA-256 of its bytes in hex, "" if there is no file.

    `is_torn` marks a file that lost its end, or all its content, to a power failure.
    """

    text: str
    hash: str
    is_torn: bool = False


ABSENT = FileText(text="", hash="")


def hash_text(text: str) -> str:
    """Compute the hash of a file with this text."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_file(path: Path) -> FileText:
    """Read a file, or return `ABSENT`. A byte-order mark selects UTF-16; bytes that are not UTF-8
    are read as Latin-1.

    Blocks. Raises `OSError` if the file is unreadable or larger than `MAX_BYTES`.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", str(path))
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ABSENT
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MAX_BYTES // 1024} KiB", str(path))
    is_torn = _is_torn(content)
    return FileText(
        text="" if is_torn else _decode(content).replace("\0", ""),
        hash=hashlib.sha256(content).hexdigest(),
        is_torn=is_torn,
    )


def _is_torn(content: bytes) -> bool:
    """Return whether whole sectors are zero; a person may have typed or pasted single zeros.

    After a power failure, a file may have its full length but lack its last sectors.
    """
    written = len(content.rstrip(b"\0"))
    return bytes(_SECTOR) in content or (written < len(content) and written % _SECTOR == 0)


def _open(path: str, flags: int) -> int:
    """Open a file without blocking; a named pipe without a writer would block forever."""
    return os.open(path, flags | os.O_NONBLOCK)


_LATIN = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}
"""The bytes that are not UTF-8, as `surrogateescape` decodes them, to Latin-1."""


def _decode(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return content.decode("utf-16")
    return content.decode("utf-8-sig", errors="surrogateescape").translate(_LATIN)


def write_file(path: Path, text: str, seen: str) -> bool:
    """Replace a file durably if its hash is still `seen`.

    Blocks. Returns False and leaves the file alone if someone changed it since. A crash leaves
    the old or the new file intact. Raises `OSError`.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    if read_file(path).hash != seen:
        draft.unlink()
        return False
    draft.replace(path)
    sync_folder(path.parent)
    return True
