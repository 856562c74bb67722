"""Reads untrusted JSON field by field: what is not as it should be is a `ValueError`; pure."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_LONGEST_NAME = 80
"""Letters. Platforms allow up to 128 for a chat; a prompt needs no more."""

_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling in Persian and of many emoji."""


def plain_text(text: str) -> str:
    """Text that every store and model takes: no NUL, no half of a surrogate pair."""
    return _UNREADABLE.sub("\ufffd", text)


def plain_name(text: str) -> str:
    """A name on one line that can't turn around, hide or imitate what stands beside it."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())[:_LONGEST_NAME].strip()
    kept = "".join(
        letter
        if letter in _JOINERS or unicodedata.category(letter)[0] != "C"
        else " "
        if letter in "\t\n\r"
        else ""
        for letter in text
    )
    return " ".join(kept.split())[:_LONGEST_NAME].strip(_JOINERS + " ")


def count_units(text: str) -> int:
    """The length of a text in UTF-16 units, as most platforms count."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_BEFORE_WORDS = " \t,:"
_BEHIND_NAME = " .,:;!?\n"


def join_around_name(pieces: Sequence[str]) -> str:
    """The pieces of a text that stood around the bot's name, without the gaps it leaves."""
    text, *rest = pieces
    for piece in rest:
        if not text.strip():
            text = piece.lstrip(_BEFORE_WORDS)
        elif text[-1] == " " and (not piece or piece[0] in _BEHIND_NAME):
            text = text[:-1] + piece
        else:
            text += piece
    return text


Json = dict[str, Any]


def part(source: Json, key: str) -> Json | None:
    """An object within an object, None if it is not there. Raises `ValueError`."""
    value = source.get(key)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f'"{key}" should be an object')
    return value


def inside(source: Json, key: str) -> Json:
    """An object within an object, an empty one if it is not there. Raises `ValueError`."""
    return part(source, key) or {}


def parts(source: Json, key: str) -> list[Json]:
    """A list of objects, empty if it is not there. Raises `ValueError`."""
    value = source.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f'"{key}" should be a list of objects')
    return value


def number_in(source: Json, key: str, *, default: int | None = None) -> int:
    """A whole number. Raises `ValueError`, also when it is not there and has no default."""
    value = source.get(key)
    if value is None:
        value = default
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f'"{key}" should be a whole number')
    return value


def text_in(source: Json, *keys: str) -> str:
    """The text under the first of the keys that is there. Raises `ValueError` without one."""
    value = _first(source, keys)
    if not isinstance(value, str):
        raise ValueError(f'"{keys[0]}" should be a text')
    return value


def words_in(source: Json, *keys: str) -> str:
    """The text under the first of the keys that is there, empty without one.

    Raises `ValueError` where something else stands.
    """
    return "" if _first(source, keys) is None else text_in(source, *keys)


def _first(source: Json, keys: tuple[str, ...]) -> Any:
    for key in keys:  # dozens of times an event: a generator would take longer than the look
        value = source.get(key)
        if value is not None:
            return value
    return None
