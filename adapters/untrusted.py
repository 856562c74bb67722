"""Reads untrusted JSON field by field: what is not as it should be is a `ValueError`; pure."""

from typing import Any

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
