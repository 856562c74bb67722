"""Reads untrusted JSON and text of Discord: typed access, mentions as names, plain names."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

LONGEST_NAME = 80
"""Discord allows 32 letters for a person and 100 for a channel; a prompt needs no more."""

_EPOCH = 1_420_070_400_000
"""Milliseconds of Unix time at which Discord's snowflakes begin to count."""
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling in Persian and of many emoji."""
_MARK = re.compile(r"<(?:(?P<kind>@[!&]?|#)(?P<id>\d{1,20})|a?:(?P<emoji>\w+):\d{1,20})>")


def part(source: Json, key: str) -> Json | None:
    """An object within an object, None if it is not there. Raises `ValueError`."""
    value = source.get(key)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f'"{key}" should be an object')
    return value


def parts(source: Json, key: str) -> list[Json]:
    """A list of objects, empty if it is not there. Raises `ValueError`."""
    value = source.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f'"{key}" should be a list of objects')
    return value


def id_in(source: Json, key: str) -> str:
    """A snowflake, as text. Raises `ValueError`."""
    value = source.get(key)
    if not isinstance(value, str) or not (value.isascii() and value.isdecimal()):
        raise ValueError(f'"{key}" should be a snowflake')
    return value


def text_in(source: Json, key: str) -> str:
    """A text, empty if it is not there. Raises `ValueError`."""
    value = source.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f'"{key}" should be a text')
    return value


def number_in(source: Json, key: str) -> int:
    """A whole number, 0 if it is not there. Raises `ValueError`."""
    value = source.get(key)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f'"{key}" should be a whole number')
    return value


def time_of(snowflake: str) -> int:
    """When a snowflake was made: milliseconds since the epoch, UTC."""
    return (int(snowflake) >> 22) + _EPOCH


def snowflake_at(moment: float) -> int:
    """The least snowflake of a moment, given in seconds since the epoch."""
    return max(int(moment * 1000) - _EPOCH, 0) << 22


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


def name_of(user: Json, member: Json | None = None) -> str:
    """What a user is called there, or their number if that leaves nothing to read."""
    own = text_in(member, "nick") if member else ""
    for name in (own, text_in(user, "global_name"), text_in(user, "username")):
        if plain := plain_name(name):
            return plain
    return f"user {user.get('id', 'unknown')}"


def marked_ids(text: str) -> set[str]:
    """The ids of roles and channels that a text names."""
    return {m["id"] for m in _MARK.finditer(text) if m["kind"] in ("@&", "#")}


def spell(text: str, names: Mapping[str, str], ours: frozenset[str]) -> str:
    """Text as people see it: names for ids, and nothing where the bot itself is named."""
    pieces: list[str] = []
    at = 0
    for mark in _MARK.finditer(text):
        before = text[at : mark.start()]
        at = mark.end()
        if mark["id"] in ours and mark["kind"] != "#":
            pieces.append(before)
            following = text[at : at + 1]
            if not "".join(pieces).strip():
                pieces.clear()
                at += len(text[at:]) - len(text[at:].lstrip(" \t,:"))
            elif before.endswith(" ") and (not following or following in " .,:;!?\n"):
                pieces[-1] = before[:-1]
        else:
            pieces += (before, _spell_mark(mark, names))
    return plain_text("".join((*pieces, text[at:]))).strip()


def _spell_mark(mark: re.Match[str], names: Mapping[str, str]) -> str:
    if mark["emoji"]:
        return f":{mark['emoji']}:"
    name = names.get(mark["id"])
    if name is None:
        return mark[0]
    return f"#{name}" if mark["kind"] == "#" else f"@{name}"
