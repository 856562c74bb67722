"""How a connection fares: noted by whoever holds it, logged when it changes, told when asked."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from adapters.contract import Health, HealthState
from adapters.errors import AdapterStopped

_log = logging.getLogger(__name__)


class Liveness:
    """The state of one platform's connection, and when it last gave a sign of life."""

    def __init__(self, platform: str, *, silence: float | None = None) -> None:
        """`platform` is its name in sentences.

        After `silence` seconds without a sign of life a connection counts as dead, whatever
        was noted.
        """
        self._platform = platform
        self._silence = silence
        self._state: HealthState = "starting"
        self._alive_at: float | None = None
        self.detail = ""
        """What was noted last, in a sentence."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around a run: notes its start and, however it ends, its end."""
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
        """Whether the last note says so."""
        return self._state == "connected"

    def note(self, state: HealthState, detail: str = "") -> None:
        """Keep how it fares; a change is logged, its repetitions are not."""
        if (state, detail) != (self._state, self.detail):
            level = logging.WARNING if state == "disconnected" else logging.INFO
            _log.log(level, "%s is %s. %s", self._platform, state, detail)
        self._state, self.detail = state, detail

    def note_alive(self) -> None:
        """Something was heard on the connection."""
        self._alive_at = time.monotonic()

    def health(self) -> Health:
        """How it fares now."""
        state, detail = self._state, self.detail
        if self.is_connected and self._alive_at is not None and self._silence is not None:
            silence = time.monotonic() - self._alive_at
            if silence > self._silence:
                state, detail = (
                    "disconnected",
                    f"{self._platform} has been silent for {silence:.0f} s.",
                )
        return Health(state=state, detail=detail, alive_at=self._alive_at)
