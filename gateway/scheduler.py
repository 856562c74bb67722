"""The alarm clock: takes each slot of each job once when it has come, and has it run."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger

from agent_core.errors import StoreDamaged, StoreError
from agent_core.schedule.lateness import plan, resume
from agent_core.schedule.planner import waited_of
from agent_core.schedule.slots import find_zone
from agent_core.schedule.timing import Once, load_timing
from agent_core.state import held, job_runs, jobs
from agent_core.state.database import Connection, Database
from agent_core.state.job_runs import Run
from agent_core.state.jobs import Job
from agent_core.state.outbox import OutboxRow
from gateway.hours import LONGEST_QUIET
from gateway.outcomes import LONGEST_PAUSE, Outcomes

_log = logging.getLogger(__name__)

HEARTBEAT = 15.0
"""Seconds after which the clock is looked at in any case: a laptop that slept, or a clock that
was put forward, tells no alarm."""
_DRIFT = 2_000
"""Milliseconds by which the clock and the time that passed may differ."""
_BATCH = 50
"""Jobs that are taken in one transaction; turns are never held up by more than that."""
_STORE_PAUSE = 5.0
_ALARM = "alarm"


class Runner(Protocol):
    """Whoever does what jobs are for."""

    def count_free(self) -> int:
        """How many more runs may be begun."""

    async def begin(self, runs: Sequence[tuple[Run, Job]]) -> None:
        """Begin runs; each ends by itself. Raises `StoreError`."""

    async def recover(self) -> None:
        """Go on with runs that nobody works on. Raises `StoreError`."""


class Scheduler:
    """One per house. The database says what is due; APScheduler only rings."""

    def __init__(
        self,
        *,
        database: Database,
        runner: Runner,
        outcomes: Outcomes,
        owe: Callable[[Sequence[OutboxRow]], None],
        bell: asyncio.Event,
        now: Callable[[], int],
    ) -> None:
        """`bell` is rung by whoever makes something due earlier than was known."""
        self._database = database
        self._runner = runner
        self._outcomes = outcomes
        self._owe = owe
        self._now = now
        self._bell = bell
        self._clock: AsyncIOScheduler | None = None
        self._seen: tuple[int, float] | None = None

    async def run(self) -> None:
        """Ring until cancelled."""
        clock = self._clock = AsyncIOScheduler(timezone=UTC)
        clock.start()
        try:
            is_aligned = False
            while True:
                self._bell.clear()
                try:
                    is_aligned = is_aligned and not self._was_put_back()
                    if not is_aligned:
                        await self.align()
                        is_aligned = True
                    await self.look()
                    await self._wait()
                except StoreDamaged:
                    raise
                except StoreError as error:
                    _log.error("jobs wait for the store: %s", error)
                    await asyncio.sleep(_STORE_PAUSE)
        finally:
            clock.shutdown(wait=False)

    def is_woken(self) -> bool:
        """True while it has been woken and has not looked at the clock since."""
        return self._bell.is_set()

    async def align(self) -> None:
        """Wait for what comes next by the clock as it stands: it may have been put back.

        What has come due stays due; what waits to be tried again, or for the end of a quiet time,
        waits no longer than such waits are. Raises `StoreError`.
        """
        now = self._now()

        def work(connection: Connection) -> int:
            moved = 0
            for job in jobs.list_waiting(connection, after=now):
                try:
                    timing, zone = load_timing(job.timing), find_zone(job.zone)
                except ValueError:
                    continue  # it is paused once it is due
                slot = resume(timing, zone, waited_of(job), now)
                wanted = (slot.name, slot.at) if slot else None
                if wanted is None or wanted == job.next_slot:
                    continue
                jobs.await_slot(connection, job_id=job.id, slot=wanted, is_over=False)
                moved += 1
            job_runs.hasten(connection, after=now + LONGEST_PAUSE, at=now)
            held.hasten(connection, after=now + LONGEST_QUIET, at=now)
            return moved

        moved = await self._database.write("jobs.align", work)
        if moved:
            _log.warning(
                "%d jobs wait for another moment than before: the clock was put back", moved
            )

    async def look(self) -> None:
        """Take what has come due, begin what waits, let go what was held. Raises `StoreError`."""
        while await self._take():
            continue
        await self._runner.recover()
        while await self._begin():
            continue
        await self._release()

    async def _release(self) -> None:
        """Let go what was held until now."""
        now = self._now()
        if await self._database.read(lambda c: held.find_next_at(c) or now + 1) <= now:
            self._owe(
                await self._database.write("held.release", lambda c: self._outcomes.release(c, now))
            )

    async def _take(self) -> bool:
        """Take the slots of some jobs that are due; True if there may be more."""
        now = self._now()
        if (await self._database.read(jobs.find_next_at) or now + 1) > now:
            return False

        def work(connection: Connection) -> tuple[list[OutboxRow], int]:
            due = jobs.list_due(connection, now=now, limit=_BATCH)
            rows: list[OutboxRow] = []
            for job in due:
                rows += self._claim(connection, job, now)
            return rows, len(due)

        rows, count = await self._database.write("jobs.take", work)
        self._owe(rows)
        await asyncio.sleep(0)  # a crowd of jobs lets others go on in between
        return count == _BATCH

    def _claim(self, connection: Connection, job: Job, now: int) -> Sequence[OutboxRow]:
        """Take the due slots of one job, each once, and wait for its next.

        One whose zone or times this version does not know is paused: it may not hold up others.
        """
        try:
            timing, zone = load_timing(job.timing), find_zone(job.zone)
        except ValueError as error:
            return self._outcomes.pause(connection, job, str(error), now)
        waited = waited_of(job)
        assert waited is not None  # noqa: S101 - it is due
        found = plan(timing, zone, job.late, waited, now)
        missed = found.missed
        for slot in found.run:
            taken = job_runs.claim(
                connection,
                job_id=job.id,
                slot=(slot.name, slot.at),
                due_at=slot.at,
                missed=missed,
            )
            missed = 0 if taken else missed
        coming = (found.next.name, found.next.at) if found.next else None
        is_over = found.next is None
        jobs.await_slot(connection, job_id=job.id, slot=coming, is_over=is_over)
        passed = found.passed
        if passed is None or isinstance(timing, Once):
            return ()
        is_fresh = job_runs.pass_over(
            connection,
            job_id=job.id,
            slot=(passed.name, passed.at),
            missed=missed - 1,
            reason="missed",
            now=now,
        )
        waiting = jobs.find(connection, job_id=job.id)
        if not is_fresh or waiting is None:
            return ()
        return self._outcomes.skip(connection, waiting, missed, now)

    async def _begin(self) -> bool:
        """Begin some of the runs that wait, one of each job; True if there may be more."""
        free = min(self._runner.count_free(), _BATCH)
        if free <= 0:
            return False
        now = self._now()

        def look(connection: Connection) -> tuple[list[tuple[Run, Job]], int]:
            waiting = job_runs.list_waiting(connection, now=now, limit=free)
            first = {run.job_id: run for run in reversed(waiting)}.values()
            found = ((run, jobs.find(connection, job_id=run.job_id)) for run in first)
            return [(run, job) for run, job in found if job], len(waiting)

        due, count = await self._database.read(look)
        if due:
            await self._runner.begin(due)
        return len(due) < count or count == free

    async def _wait(self) -> None:
        """Sleep until the next moment in the database, a wake, or the heartbeat."""
        coming = await self._database.read(_find_next)
        clock = self._clock
        assert clock is not None  # noqa: S101 - `run` has made it
        if coming is None or self._runner.count_free() <= 0:
            if clock.get_job(_ALARM):
                clock.remove_job(_ALARM)
        else:
            wait = timedelta(milliseconds=max(coming - self._now(), 0))
            clock.add_job(
                self._bell.set,
                DateTrigger(datetime.now(UTC) + wait),
                id=_ALARM,
                replace_existing=True,
                misfire_grace_time=None,
            )
        try:
            async with asyncio.timeout(HEARTBEAT):
                await self._bell.wait()
        except TimeoutError:
            pass

    def _was_put_back(self) -> bool:
        """True if the clock goes wrong since the last look; to be asked once a look."""
        now, ticks = self._now(), time.monotonic()
        before, self._seen = self._seen, (now, ticks)
        if before is None:
            return False
        drift = (now - before[0]) - (ticks - before[1]) * 1000
        if abs(drift) > _DRIFT:
            _log.warning("the clock has jumped by %.1f s, or this machine slept", drift / 1000)
        return drift < -_DRIFT


def _find_next(connection: Connection) -> int | None:
    """When something is to be done next."""
    found = (
        find(connection) for find in (jobs.find_next_at, job_runs.find_next_at, held.find_next_at)
    )
    return min((at for at in found if at is not None), default=None)
