"""How long is waited between attempts: longer each time, never in step with others."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from adapters.errors import AdapterError, RateLimited

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


class Counts:
    """Counts that are still good. That nobody else is in a room is asked for every time: what
    is private is said there, and who comes must be noticed at once.
    """

    def __init__(self, keeps: float) -> None:
        """`keeps` is how many seconds others are taken to be there still; a minute at most."""
        self._keeps = keeps
        self._counted: Recent[str, tuple[int | None, float]] = Recent()

    async def count(self, room: str, ask: Callable[[], Awaitable[int | None]]) -> int | None:
        """The people of a room besides the bot, as `ask` tells or told. Raises what it raises."""
        now = time.monotonic()
        known = self._counted.get(room)
        if known is not None and now - known[1] < self._keeps:
            return known[0]
        people = await ask()
        if people is None or people > 1:
            self._counted.put(room, (people, now))
        return people


class Pauses:
    """Waits between attempts: twice as long each time, up to a bound. All in seconds."""

    def __init__(self, longest: float, *, first: float = 0.5) -> None:
        """No pause is longer than `longest`, unless the platform asks for it."""
        self._longest = longest
        self._first = self._next = min(first, longest)

    def reset(self) -> None:
        """It worked: the next pause is a short one."""
        self._next = self._first

    async def wait(self, error: AdapterError | None = None, *, least: float = 0.0) -> None:
        """Wait once, no shorter than `least` and than the error asks for."""
        pause = max(self._next * random.uniform(0.5, 1.0), least)  # noqa: S311 - no secret
        if isinstance(error, RateLimited):
            pause = max(pause, error.retry_after)
        self._next = min(self._next * 2, self._longest)
        await asyncio.sleep(pause)
