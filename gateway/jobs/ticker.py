"""Claims each due slot of each job once, and has the runner begin its run."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Protocol

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.date import DateTrigger

from agent_core.errors import StoreError
from agent_core.schedule.misfires import GRACE, MisfirePlan, choose_next_slot, plan_runs
from agent_core.schedule.quiet_times import LONGEST_QUIET
from agent_core.schedule.triggers import load_timing
from agent_core.schedule.wall_clock import Slot, find_zone
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs, waiting_jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.jobs.missed_slots import Late
from agent_core.state.queues import deferred_messages
from agent_core.state.queues.outbox import OutboxRow
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import LONGEST_PAUSE, Outcomes
from gateway.jobs.recipients import Recipients

_log = logging.getLogger(__name__)

HEARTBEAT = 15.0
"""Seconds between two looks at the clock. No alarm rings for a machine that slept, or for a clock
that was put forward."""
_DRIFT = 2_000
"""Milliseconds by which the wall clock may differ from the monotonic one."""
_BATCH = 400
"""Jobs claimed in one transaction while no turn runs."""
_BREATH = 0.01
"""Seconds between two such transactions, so that other writers get their turn."""
_SMALL_BATCH, _LONG_BREATH = 25, 0.05
"""The same while a turn runs, and for `_SPARED` seconds after it: a turn writes about three times,
and each write may wait for a batch of jobs."""
_SPARED = 2.0
_CACHED_PLANS = 4096
"""Cached plans of due moments: many jobs share a timing and a zone."""

_ALARM = "alarm"


class Runner(Protocol):
    """Begins the runs of jobs."""

    def count_free_slots(self) -> int:
        """Return the number of further runs that may begin now."""

    def is_answering(self) -> bool:
        """Return whether a turn runs or waits."""

    async def begin(self, runs: Sequence[Run]) -> None:
        """Begin runs in the background. Raises `StoreError`."""

    async def recover(self) -> None:
        """Continue running runs that no task works on. Raises `StoreError`."""


@dataclass(slots=True, kw_only=True)
class Scheduler:
    """The scheduler of a gateway.

    The database is the source of truth: a slot is claimed by inserting its `job_runs` row, which
    is unique. APScheduler only wakes the scheduler: one alarm for people's jobs, runs and deferred
    messages, and one trigger for each system job.
    """

    database: Database
    runner: Runner
    outcomes: Outcomes
    notifier: Notifier
    enqueue: Callable[[Sequence[OutboxRow]], None]
    wakeup: asyncio.Event
    """Set after a write that may make a job or a run due earlier."""
    triggers: Mapping[str, BaseTrigger]
    """Those of the system jobs, by the names of the jobs."""
    now: Callable[[], int]
    _is_aligned: bool = field(default=False, init=False)
    _is_looking: bool = field(default=True, init=False)
    """Whether it looks for due work, or is yet to do so for the first time."""
    _seen: tuple[int, float] | None = field(default=None, init=False)
    _spared_until: float = field(default=0.0, init=False)

    async def run(self) -> None:
        """Claim slots and begin runs, until cancelled. Raises `StoreDamaged`."""
        clock = AsyncIOScheduler(timezone=UTC)
        for name, trigger in self.triggers.items():
            # A late trigger still fires, once: the slot's own late rule decides what it does.
            clock.add_job(
                self.claim_system_job, trigger, [name], misfire_grace_time=None, coalesce=True
            )
        clock.start()
        try:
            while True:
                await self.database.retry_while_unavailable(
                    partial(self._run_once, clock), "the scheduler"
                )
        finally:
            clock.shutdown(wait=False)

    def is_idle(self) -> bool:
        """Return whether it waits for its next moment, and nothing has woken it."""
        return not (self._is_looking or self.wakeup.is_set())

    async def _run_once(self, clock: AsyncIOScheduler) -> None:
        self._is_looking = True
        try:
            await self._look_once(clock)
        finally:
            self._is_looking = False
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT):
                await self.wakeup.wait()

    async def _look_once(self, clock: AsyncIOScheduler) -> None:
        self.wakeup.clear()
        self._is_aligned = self._is_aligned and not self._was_put_back()
        if not self._is_aligned:
            await self.notifier.history.prepare()
            await self.align()
            self._is_aligned = True
        await self.look()
        await self._set_alarm(clock)

    async def claim_system_job(self, name: str) -> None:
        """Claim the due slots of a system job, and wake the loop that begins its runs.

        If the store is unavailable, the loop claims them at its next look.
        """
        now = self.now()

        def work(connection: Connection) -> list[OutboxRow]:
            known = self.notifier.load_recipients(connection, now)
            return [
                row
                for job in jobs.list_system(connection)
                if job.body == name and job.state == "active"
                if job.next_slot and job.next_slot[1] <= now
                for row in self._claim(known, job)
            ]

        try:
            self.enqueue(await self.database.write("jobs.trigger", work))
        except StoreError as error:
            _log.error("system job %s waits for the store: %s", name, error)
        self.wakeup.set()

    async def align(self) -> None:
        """Choose each job's next slot again, because the clock may have been put back.

        Due slots stay due. Retries and deferred messages wait no longer than such waits may
        last. Raises `StoreError`.
        """
        now = self.now()

        def work(connection: Connection) -> tuple[int, list[OutboxRow]]:
            moved = 0
            rows: list[OutboxRow] = []
            for job in waiting_jobs.list_waiting(connection, after=now):
                if not job.is_whole:
                    rows += self.outcomes.pause_damaged(connection, job, now)
                    continue
                slot = _find_nearer(job, now)
                if slot is None or job_runs.is_unwanted(connection, job_id=job.id, slot=slot[0]):
                    continue
                jobs.await_slot(connection, job_id=job.id, slot=slot, is_over=False)
                moved += 1
            job_runs.expedite(connection, after=now + LONGEST_PAUSE, at=now)
            deferred_messages.expedite(connection, after=now + LONGEST_QUIET, at=now)
            return moved, rows

        moved, rows = await self.database.write("jobs.align", work)
        self.enqueue(rows)
        if moved:
            _log.warning(
                "the next slot of %d jobs has changed because the clock was put back", moved
            )

    async def look(self) -> None:
        """Claim due slots, begin waiting runs, release deferred messages. Raises `StoreError`."""
        now = self.now()
        while await self._take(now):
            continue
        await self.runner.recover()
        while await self._begin():
            continue
        await self._release()

    async def _release(self) -> None:
        """Release the deferred messages that are due."""
        now = self.now()
        while (
            await self.database.read(lambda c: deferred_messages.find_next_at(c) or now + 1) <= now
        ):
            self.enqueue(await self.database.write("held.release", self.notifier.release, now))
            await asyncio.sleep(0)  # many quiet hours end at the same moment

    async def _take(self, now: int) -> bool:
        """Claim the slots of a batch of due jobs; return True if there may be more."""
        if (await self.database.read(waiting_jobs.find_next_at) or now + 1) > now:
            return False

        batch, breath = self._find_pace()

        def work(connection: Connection) -> tuple[list[OutboxRow], int]:
            known = self.notifier.load_recipients(connection, now)
            due = waiting_jobs.list_due(connection, now=now, limit=batch)
            rows: list[OutboxRow] = []
            for job in due:
                rows += self._claim(known, job)
            return rows, len(due)

        rows, count = await self.database.write("jobs.take", work)
        self.enqueue(rows)
        is_more = count == batch
        await asyncio.sleep(breath if is_more else 0)
        return is_more

    def _find_pace(self) -> tuple[int, float]:
        """Return the batch size, and the pause after a batch in seconds."""
        ticks = time.monotonic()
        if self.runner.is_answering():
            self._spared_until = ticks + _SPARED
        return (_SMALL_BATCH, _LONG_BREATH) if ticks < self._spared_until else (_BATCH, _BREATH)

    def _claim(self, known: Recipients, job: Job) -> Sequence[OutboxRow]:
        """Claim the due slots of a job, each once, and store its next slot.

        A damaged job, or one whose zone or timing this version does not know, is paused: it must
        not hold up other jobs.
        """
        connection, now = known.connection, known.now
        waited = job.next_slot
        if not job.is_whole or waited is None:
            return self.outcomes.pause_damaged(connection, job, now)
        try:
            found = _plan(job.timing, job.zone, job.late, waited, now)
        except (ValueError, OverflowError) as error:
            return self.outcomes.pause(connection, job, str(error), now)
        slots = [(slot.name, slot.at) for slot in found.missed]
        missed = job_runs.skip(connection, job_id=job.id, slots=slots, now=now)
        rows = self._claim_slots(known, job, found.run, missed)
        coming = (found.next.name, found.next.at) if found.next else None
        is_over = found.next is None
        jobs.await_slot(connection, job_id=job.id, slot=coming, is_over=is_over)
        waiting = jobs.find(connection, job_id=job.id) if missed and not found.run else None
        if waiting:
            rows += self.outcomes.skip(connection, waiting, missed, now)
        return rows

    def _claim_slots(
        self, known: Recipients, job: Job, slots: Sequence[Slot], missed: int
    ) -> list[OutboxRow]:
        """Claim slots, each once. A message job is sent at once; its late slots share a message."""
        connection, late = known.connection, list[Run]()
        rows: list[OutboxRow] = []
        for slot in slots:
            named = (slot.name, slot.at)
            if job.kind == "message":
                run = job_runs.claim_finished(
                    connection, job_id=job.id, slot=named, missed=missed, now=known.now
                )
                is_fresh = run is not None
                if run and known.now - slot.at > GRACE:
                    late.append(run)
                elif run:
                    rows += self.outcomes.send_message(known, job, [*late, run])
                    late.clear()
            else:
                taken = job_runs.claim(
                    connection,
                    job_id=job.id,
                    slot=named,
                    due_at=slot.at,
                    missed=missed,
                    now=known.now,
                )
                is_fresh = taken is not None
            missed = 0 if is_fresh else missed
        if late:
            rows += self.outcomes.send_message(known, job, late)
        return rows

    async def _begin(self) -> bool:
        """Begin waiting runs, one for each job; return True if there may be more."""
        free = min(self.runner.count_free_slots(), _BATCH)
        if free <= 0:
            return False
        now = self.now()

        waiting = await self.database.read(job_runs.list_waiting, now=now, limit=free)
        first = {run.job_id: run for run in reversed(waiting)}
        if first:
            await self.runner.begin(list(first.values()))
        return len(first) < len(waiting) or len(waiting) == free

    async def _set_alarm(self, clock: AsyncIOScheduler) -> None:
        """Have the clock wake the loop at the next moment in the database."""
        coming = await self.database.read(_find_next)
        if coming is None or self.runner.count_free_slots() <= 0:
            if clock.get_job(_ALARM):
                clock.remove_job(_ALARM)
        else:
            wait = timedelta(milliseconds=max(coming - self.now(), 0))
            clock.add_job(
                self.wakeup.set,
                DateTrigger(datetime.now(UTC) + wait),
                id=_ALARM,
                replace_existing=True,
                misfire_grace_time=None,
            )

    def _was_put_back(self) -> bool:
        """Return whether the clock went back since the last call; call it once per look."""
        now, ticks = self.now(), time.monotonic()
        before, self._seen = self._seen, (now, ticks)
        if before is None:
            return False
        drift = (now - before[0]) - (ticks - before[1]) * 1000
        if abs(drift) > _DRIFT:
            _log.warning("the clock has jumped by %.1f s, or this machine slept", drift / 1000)
        return drift < -_DRIFT


@lru_cache(maxsize=_CACHED_PLANS)
def _plan(timing: str, zone: str, late: Late, waited: tuple[str, int], now: int) -> MisfirePlan:
    """Plan the slots of jobs with this timing. Raises `ValueError`, `OverflowError`."""
    slot = Slot(name=waited[0], at=waited[1])
    return plan_runs(load_timing(timing), find_zone(zone), late, slot, now)


@lru_cache(maxsize=_CACHED_PLANS)
def _resume(timing: str, zone: str, waited: tuple[str, int], now: int) -> tuple[str, int] | None:
    slot = Slot(name=waited[0], at=waited[1])
    found = choose_next_slot(load_timing(timing), find_zone(zone), slot, now)
    return (found.name, found.at) if found else None


def _find_nearer(job: Job, now: int) -> tuple[str, int] | None:
    """Return the job's next slot by the current clock if it is at another moment than the stored.

    None also if this version does not know its timing.
    """
    assert job.next_slot is not None  # noqa: S101 - it waits for one
    try:
        nearer = _resume(job.timing, job.zone, job.next_slot, now)
    except (ValueError, OverflowError):
        return None  # `_claim` pauses it when it is due
    return None if nearer and nearer[1] == job.next_slot[1] else nearer


def _find_next(connection: Connection) -> int | None:
    """Return the next due moment; system jobs have triggers of their own."""
    found = (
        find(connection)
        for find in (
            waiting_jobs.find_next_personal_at,
            job_runs.find_next_at,
            deferred_messages.find_next_at,
        )
    )
    return min((at for at in found if at is not None), default=None)
