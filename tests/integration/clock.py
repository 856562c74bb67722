"""Clocks that a test moves forward and back."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from agent_core.schedule.triggers import milliseconds
from gateway.app.gateway import Gateway
from tests.integration.harness import Harness


class _Rig(Protocol):
    """What runs a gateway in a test."""

    @property
    def gateway(self) -> Gateway:
        """The gateway whose clock this is."""


class Clock:
    """A clock that stands still until moved; times are in UTC."""

    def __init__(self, *start: int) -> None:
        year, month, day, *rest = start
        self._moment = datetime(year, month, day, *rest, tzinfo=UTC)

    def __call__(self) -> int:
        return milliseconds(self._moment)

    def move(self, harness: _Rig, **span: float) -> None:
        """Move it by a `timedelta` span, and tell the gateway."""
        self.pass_unseen(**span)
        harness.gateway.wake_jobs()

    def pass_unseen(self, **span: float) -> None:
        """Move it without telling the gateway, like a machine that slept."""
        self._moment += timedelta(**span)


class GoingClock(Clock):
    """A clock that also runs by itself, like a machine's."""

    def __init__(self, *start: int) -> None:
        super().__init__(*start)
        self._began = time.monotonic()

    def __call__(self) -> int:
        return super().__call__() + round((time.monotonic() - self._began) * 1000)


async def asleep(harness: Harness) -> None:
    """Return once the scheduler waits for its alarm."""
    await harness.until(harness.gateway.scheduler.is_idle)
