"""Parse the arguments of a call, which a model may have written in any way; pure."""

import json
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


def _is_deep(value: dict[str, Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        inner = chain.from_iterable(one.values() if isinstance(one, dict) else one for one in level)
        level = [one for one in inner if isinstance(one, dict | list)]
    return bool(level)
