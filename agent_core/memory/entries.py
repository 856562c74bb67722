"""Entries of memory as Markdown: read leniently, written in one form, checked and counted."""

import re
import unicodedata

from agent_core.tools.quoting import is_bidi, is_hidden

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
