"""A dictionary that forgets what was put into it longest ago."""

from collections.abc import Hashable
from typing import Generic, TypeVar

_MOST = 10_000

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A dictionary of the last `most` things that were put into it."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: dict[K, V] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def put(self, key: K, value: V) -> None:
        """Remember, as the newest."""
        self._kept.pop(key, None)
        self._kept[key] = value
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]

    def get(self, key: K) -> V | None:
        """What was put there, None if it is not known any more."""
        return self._kept.get(key)

    def drop(self, key: K) -> None:
        """Forget it, if it is known."""
        self._kept.pop(key, None)
