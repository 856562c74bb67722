"""The state of a platform's connection, logged whenever it changes."""

import asyncio
import logging
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from adapters.contract import Health, HealthState
from adapters.errors import AdapterError, AdapterStopped, RateLimited

_log = logging.getLogger(__name__)


class ConnectionHealth:
    """Tracks the state of one connection and its last sign of life."""

    def __init__(self, platform: str, *, silence: float | None = None) -> None:
        """Take the platform's name for sentences; `silence` is in seconds.

        A connection without a sign of life for `silence` seconds counts as dead, whatever its last
        state.
        """
        self._platform = platform
        self._silence = silence
        self._state: HealthState = "starting"
        self._alive_at: float | None = None
        self.detail = ""
        """The last noted detail, a sentence."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Note the start and the end of a run, even if it fails."""
        self.note("starting")
        try:
            yield
        except AdapterStopped as stop:
            self.note("stopped", str(stop))
            raise
        finally:
            if self._state != "stopped":
                self.note("stopped", f"{self._platform} was shut down.")

    @property
    def is_connected(self) -> bool:
        """Whether the last noted state is connected."""
        return self._state == "connected"

    def note(self, state: HealthState, detail: str = "") -> None:
        """Store the state; logs changes only."""
        if (state, detail) != (self._state, self.detail):
            level = logging.WARNING if state == "disconnected" else logging.INFO
            _log.log(level, "%s is %s.%s", self._platform, state, detail and f" {detail}")
        self._state, self.detail = state, detail

    def note_alive(self) -> None:
        """Record that the connection delivered something."""
        self._alive_at = time.monotonic()

    def health(self) -> Health:
        """Return the current state."""
        state, detail = self._state, self.detail
        if self.is_connected and self._alive_at is not None and self._silence is not None:
            silence = time.monotonic() - self._alive_at
            if silence > self._silence:
                state, detail = (
                    "disconnected",
                    f"{self._platform} has been silent for {silence:.0f} s.",
                )
        return Health(state=state, detail=detail, alive_at=self._alive_at)


class Backoff:
    """Exponential backoff with jitter, up to a bound. All times are in seconds."""

    def __init__(self, longest: float, *, first: float = 0.5) -> None:
        """Never wait longer than `longest`, unless the platform asks for a longer wait."""
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
