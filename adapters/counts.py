"""Remembers for a short while how many people are in rooms with others in them."""

import time
from collections.abc import Awaitable, Callable

from adapters.recent import Recent


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
