"""How long is waited between attempts, and how long another poller is put up with."""

import asyncio
import random

from adapters.errors import AdapterError, RateLimited
from adapters.telegram.mishaps import AnotherPoller

_FIRST_PAUSE = 0.5


class Pauses:
    """Waits between attempts: twice as long each time, up to a bound, never in step with others."""

    def __init__(self, longest: float) -> None:
        """No pause is longer than `longest` seconds, unless Telegram asks for it."""
        self._longest = longest
        self._next = _FIRST_PAUSE

    def reset(self) -> None:
        """It worked: the next pause is a short one."""
        self._next = _FIRST_PAUSE

    async def wait(self, error: AdapterError) -> None:
        """Wait after this error."""
        pause = min(self._next, self._longest) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        if isinstance(error, RateLimited):
            pause = max(pause, error.retry_after)
        self._next = min(self._next * 2, self._longest)
        await asyncio.sleep(pause)


class Conflict:
    """Decides when another poller is there to stay.

    The last request of a killed process stays open at Telegram for a while. But two programs
    that both try again get through in turn, so a success does not end a conflict: quiet does.
    """

    def __init__(self, patience: float) -> None:
        """`patience` is in seconds."""
        self._patience = patience
        self._since = self._last = float("-inf")

    def weigh(self, error: AnotherPoller, now: float) -> None:
        """Raise the error once conflicts have gone on for longer than our patience."""
        if now - self._last > 2 * self._patience:
            self._since = now
        self._last = now
        if now - self._since >= self._patience:
            raise error
