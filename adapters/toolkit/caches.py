"""Bounded caches."""

import time
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Generic, TypeVar

_MOST = 10_000

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedDict(Generic[K, V]):
    """A dictionary that keeps only the `most` newest entries."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: dict[K, V] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys, the oldest first."""
        return iter(self._kept)

    def put(self, key: K, value: V) -> None:
        """Store the value as the newest entry."""
        self._kept.pop(key, None)
        self._kept[key] = value
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]

    def get(self, key: K) -> V | None:
        """Return the stored value, or None."""
        return self._kept.get(key)

    def drop(self, key: K) -> None:
        """Remove the key if it is present."""
        self._kept.pop(key, None)


class ShownContents:
    """The contents that a platform certainly shows, to avoid edits that change nothing."""

    def __init__(self) -> None:
        self._shown: BoundedDict[tuple[str, str], int] = BoundedDict()

    def is_shown(self, place: tuple[str, str], content: object) -> bool:
        """Return whether a message shows this content; `place` is its chat and its id.

        If not, the caller will edit the message, so its content counts as unknown until `note`.
        """
        if self._shown.get(place) == hash(repr(content)):
            return True
        self._shown.drop(place)
        return False

    def note(self, place: tuple[str, str], content: object) -> None:
        """Record a content that the platform has accepted."""
        self._shown.put(place, hash(repr(content)))


class MemberCounts:
    """A cache of member counts.

    A count of one is never cached: a person who is alone is shown private content, so a newcomer
    must be noticed at once.
    """

    def __init__(self, keeps: float) -> None:
        """Keep counts above one, and unknown counts, for `keeps` seconds, at most a minute."""
        self._keeps = keeps
        self._counted: BoundedDict[str, tuple[int | None, float]] = BoundedDict()

    async def count(self, room: str, ask: Callable[[], Awaitable[int | None]]) -> int | None:
        """Return the people in a room besides the bot, from the cache or from `ask`.

        Raises what `ask` raises.
        """
        now = time.monotonic()
        known = self._counted.get(room)
        if known is not None and now - known[1] < self._keeps:
            return known[0]
        people = await ask()
        if people is None or people > 1:
            self._counted.put(room, (people, now))
        return people
