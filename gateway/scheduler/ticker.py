"""The alarm clock: takes each slot of each job once when it has come, and has it run."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger

from agent_core.errors import StoreDamaged, StoreError
from agent_core.schedule.misfires import Late, Plan, plan, resume
from agent_core.schedule.occurrences import Slot, find_zone
from agent_core.schedule.triggers import Once, load_timing
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, Late
from agent_core.state.queues import deferred_messages
from agent_core.state.queues.outbox import OutboxRow
from gateway.jobs.outcomes import LONGEST_PAUSE, Outcomes
from gateway.jobs.recipients import Recipients
from gateway.outbound.quiet_hours import LONGEST_QUIET

_log = logging.getLogger(__name__)

HEARTBEAT = 15.0
"""Seconds after which the clock is looked at in any case: a laptop that slept, or a clock that
was put forward, tells no alarm."""
_DRIFT = 2_000
"""Milliseconds by which the clock and the time that passed may differ."""
_BATCH = 400
"""Jobs that are taken in one transaction while nobody is being answered."""
_BREATH = 0.01
"""Seconds between two such transactions, in which others go on."""
_SMALL_BATCH, _LONG_BREATH = 25, 0.05
"""The same while somebody is, or was within `_SPARED` seconds: a turn writes some three times, and
may wait each time.
"""
_SPARED = 2.0
_RECKONED = 4096
"""Answers that are kept of what comes of a moment: many jobs share their times."""
_STORE_PAUSE = 5.0
_ALARM = "alarm"


class Runner(Protocol):
    """Whoever does what jobs are for."""

    def count_free_slots(self) -> int:
        """How many more runs may be begun."""

    def is_answering(self) -> bool:
        """True while a turn is under way."""

    async def begin(self, runs: Sequence[Run]) -> None:
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
        enqueue: Callable[[Sequence[OutboxRow]], None],
        bell: asyncio.Event,
        now: Callable[[], int],
    ) -> None:
        """`bell` is rung by whoever makes something due earlier than was known."""
        self._database = database
        self._runner = runner
        self._outcomes = outcomes
        self._enqueue = enqueue
        self._now = now
        self._bell = bell
        self._clock: AsyncIOScheduler | None = None
        self._seen: tuple[int, float] | None = None
        self._spared_until = 0.0

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
                        await self._outcomes.prepare()
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

    async def align(self) -> None:
        """Wait for what comes next by the clock as it stands: it may have been put back.

        What has come due stays due; what waits to be tried again, or for the end of a quiet time,
        waits no longer than such waits are. Raises `StoreError`.
        """
        now = self._now()

        def work(connection: Connection) -> tuple[int, list[OutboxRow]]:
            moved = 0
            rows: list[OutboxRow] = []
            for job in jobs.list_waiting(connection, after=now):
                if not job.is_whole:
                    rows += self._outcomes.set_aside(connection, job, now)
                    continue
                slot = _find_nearer(job, now)
                if slot is None or slot == job.next_slot:
                    continue
                jobs.await_slot(connection, job_id=job.id, slot=slot, is_over=False)
                moved += 1
            job_runs.hasten(connection, after=now + LONGEST_PAUSE, at=now)
            deferred_messages.hasten(connection, after=now + LONGEST_QUIET, at=now)
            return moved, rows

        moved, rows = await self._database.write("jobs.align", work)
        self._enqueue(rows)
        if moved:
            _log.warning(
                "%d jobs wait for another moment than before: the clock was put back", moved
            )

    async def look(self) -> None:
        """Take what has come due, begin what waits, let go what was held. Raises `StoreError`."""
        now = self._now()
        while await self._take(now):
            continue
        await self._runner.recover()
        while await self._begin():
            continue
        await self._release()

    async def _release(self) -> None:
        """Let go what was held until now."""
        now = self._now()
        while (
            await self._database.read(lambda c: deferred_messages.find_next_at(c) or now + 1) <= now
        ):
            self._enqueue(
                await self._database.write("held.release", lambda c: self._outcomes.release(c, now))
            )
            await asyncio.sleep(0)  # many quiet times end at the same moment

    async def _take(self, now: int) -> bool:
        """Take the slots of some jobs that are due; True if there may be more."""
        if (await self._database.read(jobs.find_next_at) or now + 1) > now:
            return False

        batch, breath = self._find_pace()

        def work(connection: Connection) -> tuple[list[OutboxRow], int]:
            known = self._outcomes.look(connection, now)
            due = jobs.list_due(connection, now=now, limit=batch)
            rows: list[OutboxRow] = []
            for job in due:
                rows += self._claim(known, job)
            return rows, len(due)

        rows, count = await self._database.write("jobs.take", work)
        self._enqueue(rows)
        is_more = count == batch
        await asyncio.sleep(breath if is_more else 0)
        return is_more

    def _find_pace(self) -> tuple[int, float]:
        """How many jobs are taken at a time, and for how many seconds others then go on."""
        ticks = time.monotonic()
        if self._runner.is_answering():
            self._spared_until = ticks + _SPARED
        return (_SMALL_BATCH, _LONG_BREATH) if ticks < self._spared_until else (_BATCH, _BREATH)

    def _claim(self, known: Recipients, job: Job) -> Sequence[OutboxRow]:
        """Take the due slots of one job, each once, and wait for its next.

        One whose zone or times this version does not know is paused, and so is a damaged one:
        it may not hold up others.
        """
        connection, now = known.connection, known.now
        waited = job.next_slot
        if not job.is_whole or waited is None:
            return self._outcomes.set_aside(connection, job, now)
        try:
            found = _reckon(job.timing, job.zone, job.late, waited, now)
        except (ValueError, OverflowError) as error:
            return self._outcomes.pause(connection, job, str(error), now)
        rows: list[OutboxRow] = []
        missed = found.missed
        for slot in found.run:
            is_taken, told = self._take_slot(known, job, slot, missed)
            missed = 0 if is_taken else missed
            rows += told
        coming = (found.next.name, found.next.at) if found.next else None
        is_over = found.next is None
        jobs.await_slot(connection, job_id=job.id, slot=coming, is_over=is_over)
        if found.passed:
            rows += self._pass_over(connection, job, found.passed, missed, now)
        return rows

    def _take_slot(
        self, known: Recipients, job: Job, slot: Slot, missed: int
    ) -> tuple[bool, Sequence[OutboxRow]]:
        """Take one slot: of a message at once with all that comes of it. False if it was taken."""
        connection, named = known.connection, (slot.name, slot.at)
        if job.kind == "message":
            run = job_runs.take(connection, job_id=job.id, slot=named, missed=missed, now=known.now)
            return run is not None, self._outcomes.say(known, job, run) if run else ()
        taken = job_runs.claim(connection, job_id=job.id, slot=named, due_at=slot.at, missed=missed)
        return taken is not None, ()

    def _pass_over(
        self, connection: Connection, job: Job, slot: Slot, missed: int, now: int
    ) -> Sequence[OutboxRow]:
        """Note that a slot is left out, as its job is set to."""
        is_fresh = job_runs.pass_over(
            connection,
            job_id=job.id,
            slot=(slot.name, slot.at),
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
        free = min(self._runner.count_free_slots(), _BATCH)
        if free <= 0:
            return False
        now = self._now()

        waiting = await self._database.read(lambda c: job_runs.list_waiting(c, now=now, limit=free))
        first = {run.job_id: run for run in reversed(waiting)}
        if first:
            await self._runner.begin(list(first.values()))
        return len(first) < len(waiting) or len(waiting) == free

    async def _wait(self) -> None:
        """Sleep until the next moment in the database, a wake, or the heartbeat."""
        coming = await self._database.read(_find_next)
        clock = self._clock
        assert clock is not None  # noqa: S101 - `run` has made it
        if coming is None or self._runner.count_free_slots() <= 0:
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


@lru_cache(maxsize=_RECKONED)
def _reckon(timing: str, zone: str, late: Late, waited: tuple[str, int], now: int) -> Plan:
    """What comes of a moment for jobs with these times. Raises `ValueError`, `OverflowError`."""
    read = load_timing(timing)
    found = plan(read, find_zone(zone), late, Slot(name=waited[0], at=waited[1]), now)
    return replace(found, passed=None) if isinstance(read, Once) else found


@lru_cache(maxsize=_RECKONED)
def _reckon_nearer(
    timing: str, zone: str, waited: tuple[str, int], now: int
) -> tuple[str, int] | None:
    slot = Slot(name=waited[0], at=waited[1])
    found = resume(load_timing(timing), find_zone(zone), slot, now)
    return (found.name, found.at) if found else None


def _find_nearer(job: Job, now: int) -> tuple[str, int] | None:
    """The slot that a job is to wait for by the clock as it stands; None if nobody knows."""
    assert job.next_slot is not None  # noqa: S101 - it waits for one
    try:
        return _reckon_nearer(job.timing, job.zone, job.next_slot, now)
    except (ValueError, OverflowError):
        return None  # it is paused once it is due


def _find_next(connection: Connection) -> int | None:
    """When something is to be done next."""
    found = (
        find(connection)
        for find in (jobs.find_next_at, job_runs.find_next_at, deferred_messages.find_next_at)
    )
    return min((at for at in found if at is not None), default=None)
