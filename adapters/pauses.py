"""How long is waited between attempts: longer each time, never in step with others."""

import asyncio
import random

from adapters.errors import AdapterError, RateLimited


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
