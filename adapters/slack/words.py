"""Reads untrusted JSON of Slack: typed access, names without tricks."""

import re
import unicodedata
from typing import Any

Json = dict[str, Any]

LONGEST_NAME = 80
"""Slack allows 80 letters for names of people and channels."""

_TS = re.compile(r"\d{10}\.\d{6}")
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling in Persian and of many emoji."""


def part(source: Json, key: str) -> Json:
    """An object within an object, empty if it is not there. Raises `ValueError`."""
    value = source.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f'"{key}" should be an object')
    return value


def parts(source: Json, key: str) -> list[Json]:
    """A list of objects, empty if it is not there. Raises `ValueError`."""
    value = source.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f'"{key}" should be a list of objects')
    return value


def text_in(source: Json, *keys: str, default: str | None = None) -> str:
    """The text under the first of the keys that is there. Raises `ValueError`.

    Without a default it is also an error that none of them is there.
    """
    value = next((source[key] for key in keys if source.get(key) is not None), default)
    if not isinstance(value, str):
        raise ValueError(f'"{keys[0]}" should be a text')
    return value


def is_ts(text: str) -> bool:
    """True for the time stamps by which Slack names messages; they sort as text."""
    return _TS.fullmatch(text) is not None


def milliseconds(ts: str) -> int:
    """A time stamp as milliseconds since the epoch. Raises `ValueError`."""
    seconds, _, rest = ts.partition(".")
    return int(seconds) * 1000 + int((rest or "0")[:3].ljust(3, "0"))


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
