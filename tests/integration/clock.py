"""A clock that a test puts forward and back."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

from agent_core.schedule.triggers import milliseconds
from tests.integration.harness import Harness

_READS = 20


class Clock:
    """Stands still until it is moved; times are in UTC."""

    def __init__(self, *start: int) -> None:
        year, month, day, *rest = start
        self._moment = datetime(year, month, day, *rest, tzinfo=UTC)

    def __call__(self) -> int:
        return milliseconds(self._moment)

    def move(self, harness: Harness, **span: float) -> None:
        """Move it forward or back by a span as `timedelta` takes it; the gateway sees it."""
        self.pass_unseen(**span)
        harness.gateway.scheduling.wake()

    def pass_unseen(self, **span: float) -> None:
        """Put it forward, or back, as it happens to a machine that sleeps: nobody is told."""
        self._moment += timedelta(**span)


class GoingClock(Clock):
    """Goes on by itself besides, as the clock of a machine does."""

    def __init__(self, *start: int) -> None:
        super().__init__(*start)
        self._began = time.monotonic()

    def __call__(self) -> int:
        return super().__call__() + round((time.monotonic() - self._began) * 1000)


async def asleep(harness: Harness) -> None:
    """Return once the scheduler waits for its alarm: one look asks the store less often than we.

    Only of a gateway in which nothing is due and nobody talks.
    """
    for _ in range(_READS):
        await harness.read(lambda connection: None)
        await asyncio.sleep(0)
