"""Reads untrusted JSON and text of Telegram: typed access, UTF-16 places, names without tricks."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

LONGEST_NAME = 80
"""Telegram allows 64 + 64 letters for a person and 128 for a chat; a prompt needs fewer."""

_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling in Persian and of many emoji."""
_AFTER_NAME = " \t,:"


def part(source: Json, key: str) -> Json | None:
    """An object within an object, None if it is not there. Raises `ValueError`."""
    value = source.get(key)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f'"{key}" should be an object')
    return value


def parts(source: Json, key: str) -> list[Json]:
    """A list of objects, empty if it is not there. Raises `ValueError`."""
    value = source.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f'"{key}" should be a list of objects')
    return value


def number_in(source: Json, key: str) -> int:
    """A whole number. Raises `ValueError`."""
    value = source.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f'"{key}" should be a whole number')
    return value


def text_in(source: Json, key: str, *, default: str | None = None) -> str:
    """A text. Raises `ValueError`, also when it is not there and has no default."""
    value = source.get(key, default)
    if not isinstance(value, str):
        raise ValueError(f'"{key}" should be a text')
    return value


def plain_text(text: str) -> str:
    """Text that every store and model takes: no NUL, no half of a surrogate pair."""
    return _UNREADABLE.sub("\ufffd", text)


def plain_name(text: str) -> str:
    """A name on one line that can't turn around, hide or imitate what stands beside it."""
    kept = "".join(
        letter
        if letter in _JOINERS or unicodedata.category(letter)[0] != "C"
        else " "
        if letter in "\t\n\r"
        else ""
        for letter in text
    )
    return " ".join(kept.split())[:LONGEST_NAME].strip(_JOINERS + " ")


def name_of(author: Json) -> str:
    """What a user or chat calls itself, or its number if that leaves nothing to read."""
    own = text_in(author, "first_name", default="") + " " + text_in(author, "last_name", default="")
    title = text_in(author, "title", default="")
    return plain_name(own) or plain_name(title) or f"user {author.get('id', 'unknown')}"


def slice_of(text: str, start: int, length: int) -> str:
    """A stretch of text by UTF-16 units, as Telegram's entities name it."""
    if start < 0 or length < 0:
        raise ValueError("an entity with a negative place")
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def cut(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    """The text without stretches given in UTF-16 units, and without the gaps they leave."""
    if not stretches:
        return plain_text(text)
    units = text.encode("utf-16-le", "surrogatepass")
    kept: list[str] = []
    at = 0
    for start, length in sorted(stretches):
        kept.append(units[2 * at : 2 * start].decode("utf-16-le", "surrogatepass"))
        at = max(at, start + length)
    kept.append(units[2 * at :].decode("utf-16-le", "surrogatepass"))
    result = kept[0]
    for piece in kept[1:]:
        if not result.strip():
            result = piece.lstrip(_AFTER_NAME)
        elif result[-1] == " " and (not piece or piece[0] in " .,:;!?\n"):
            result = result[:-1] + piece
        else:
            result += piece
    return plain_text(result).strip()
