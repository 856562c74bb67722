"""How long to wait between attempts, and how often a session may be begun at all."""

import asyncio
import random
from collections import deque

from adapters.errors import AdapterError, RateLimited, Unreachable

_FIRST_PAUSE = 0.5
_MOST_STARTS = 50
_WINDOW = 3600.0
"""Discord takes 1,000 starts of a session a day and then resets the bot's token, so that
somebody has to come and look (discord.com/developers/docs/events/gateway)."""


class Pauses:
    """Waits twice as long each time, up to a bound, never in step with others."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._next = _FIRST_PAUSE

    def reset(self) -> None:
        """Begin with short pauses again."""
        self._next = _FIRST_PAUSE

    async def wait(self, error: AdapterError | None = None) -> None:
        """Wait once, and no shorter than the error asks for."""
        pause = min(self._next, self._longest) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        if isinstance(error, RateLimited):
            pause = max(pause, error.retry_after)
        self._next = min(self._next * 2, self._longest)
        await asyncio.sleep(pause)


class TooManyStarts(Unreachable):
    """So many sessions were begun within an hour that the next one has to wait."""

    def __init__(self, wait: float) -> None:
        super().__init__(
            f"Discord ended {_MOST_STARTS} sessions within an hour; the next one is begun in "
            f"{wait:.0f} s."
        )
        self.wait = wait


class Starts:
    """Counts the sessions that were begun: 50 in any hour at most."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_MOST_STARTS)

    def check(self, now: float) -> None:
        """Raises `TooManyStarts` if none may be begun now; `now` is in monotonic seconds."""
        if len(self._times) == _MOST_STARTS and now - self._times[0] < _WINDOW:
            raise TooManyStarts(_WINDOW - (now - self._times[0]))

    def note(self, now: float) -> None:
        """One is begun. Raises `TooManyStarts`."""
        self.check(now)
        self._times.append(now)
