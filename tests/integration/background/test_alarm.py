"""The scheduler's alarm rings by itself: nothing wakes these schedulers."""

import time
from pathlib import Path

from agent_core.schedule.triggers import moment
from agent_core.state.engine.database import now
from tests.integration.clock import asleep
from tests.integration.harness import running
from tests.integration.jobs_support import give_job, greet, greeted, over

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
MINUTE = 60_000
LEAD = 800
"""Milliseconds before the minute at which a clock is set to stand now."""
TOO_LATE = 10_000
"""Milliseconds after a moment; what only the heartbeat notices comes later."""


class Ticking:
    """A running clock that shows another time, shortly before a full minute."""

    def __init__(self) -> None:
        self._ahead = -now() % MINUTE
        self.set_before_minute()

    def __call__(self) -> int:
        return now() + self._ahead

    def set_before_minute(self) -> None:
        """Let the next minute be full in `LEAD`; no time is passed over that was not."""
        self._ahead += -self() % MINUTE - LEAD

    def name_next(self) -> str:
        """The next full minute, in UTC."""
        return f"{moment(self() + MINUTE):%Y-%m-%dT%H:%M}"


async def test_an_alarm_rings_at_its_moment_and_needs_no_heartbeat(tmp_path: Path) -> None:
    clock = Ticking()
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        clock.set_before_minute()
        job = await give_job(harness, "Now.", clock.name_next(), zone="UTC")
        (run,) = await over(harness, job, 1)
        assert run.started_at is not None
        assert 0 <= run.started_at - run.slot_at < TOO_LATE
        await harness.chat.sees_text("Now.")


async def test_an_alarm_rings_after_a_blocked_event_loop(tmp_path: Path) -> None:
    clock = Ticking()
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        clock.set_before_minute()
        job = await give_job(harness, "Now.", clock.name_next(), zone="UTC")
        await asleep(harness)
        time.sleep(LEAD / 1000 + 1.2)  # noqa: ASYNC251 - what holds the gateway up
        (run,) = await over(harness, job, 1)
        assert run.started_at is not None
        assert run.started_at - run.slot_at < TOO_LATE
        await harness.chat.sees_text("Now.")
