"""Parse the arguments of a call, which a model may have written in any way; pure."""

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

_DEEPEST = 200
"""Levels of an object. Python's own limit counts the frames of the caller too, so the same text
would be an object here and none there.
"""


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a text; None for any other text, and if it is nested too deeply."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not _is_deep(value) else None


def join_arguments(pieces: Sequence[str]) -> str:
    """Return a call's arguments from the pieces in which they came.

    Some servers send an empty object first, repeat all that came before in each piece, or encode
    the object twice.
    """
    joined = "".join(pieces)
    if joined.strip() in ("", "null"):
        return "{}"
    if read_object(joined) is not None:
        return joined
    last = pieces[-1]
    if all(last.startswith(piece) or piece.strip() == "{}" for piece in pieces):
        guesses = [last, _decode_text(last)]
    else:
        guesses = [joined.strip().removeprefix("{}"), _decode_text(joined)]
    return next((guess for guess in guesses if read_object(guess) is not None), joined)


def _decode_text(text: str) -> str:
    """Return the text that a JSON string holds; "" for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def _is_deep(value: dict[str, Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        inner = chain.from_iterable(one.values() if isinstance(one, dict) else one for one in level)
        level = [one for one in inner if isinstance(one, dict | list)]
    return bool(level)
