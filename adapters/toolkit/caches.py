"""Bounded caches, and the backoff between reconnection attempts."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from adapters.errors import AdapterError, RateLimited

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


class MemberCounts:
    """A cache of member counts.

    Zero is never cached: private content is shown to a person who is alone, so a newcomer must
    be noticed at once.
    """

    def __init__(self, keeps: float) -> None:
        """Keep counts above zero for `keeps` seconds, at most a minute."""
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


class Backoff:
    """Exponential backoff with jitter, up to a bound. All times are in seconds."""

    def __init__(self, longest: float, *, first: float = 0.5) -> None:
        """Never wait longer than `longest`, unless the platform asks for it."""
        self._longest = longest
        self._first = self._next = min(first, longest)

    def reset(self) -> None:
        """Start again with a short pause after a success."""
        self._next = self._first

    async def wait(self, error: AdapterError | None = None, *, least: float = 0.0) -> None:
        """Wait once, at least `least` seconds and at least as long as the error asks for."""
        pause = max(self._next * random.uniform(0.5, 1.0), least)  # noqa: S311 - no secret
        if isinstance(error, RateLimited):
            pause = max(pause, error.retry_after)
        self._next = min(self._next * 2, self._longest)
        await asyncio.sleep(pause)
