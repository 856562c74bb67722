"""Triggers of system jobs: each claims its own job's slots, once."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.interval import IntervalTrigger

from agent_core.agent.id_allocator import IdAllocator
from agent_core.ids import SessionId, TurnId
from agent_core.schedule.occurrences import first_slot
from agent_core.schedule.triggers import milliseconds, read_cron
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from gateway.jobs import system_jobs
from gateway.jobs.history import JobHistory
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import Outcomes
from gateway.jobs.ticker import HEARTBEAT, Scheduler
from tests.databases import open_database

NAMES = tuple(system_jobs.SCHEDULES)
START = milliseconds(datetime(2026, 11, 20, 11, 0, tzinfo=ZoneInfo("UTC")))
WEEK = 7 * 86_400_000


class Recorder:
    """A runner that records the runs it should begin, and begins none."""

    def __init__(self) -> None:
        self.offered: list[Run] = []

    def count_free_slots(self) -> int:
        return 100

    def is_answering(self) -> bool:
        return False

    async def begin(self, runs: Sequence[Run]) -> None:
        self.offered += runs

    async def recover(self) -> None:
        return None


async def load_no_ids() -> IdAllocator:
    return IdAllocator(TurnId(0), SessionId(0))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(tmp_path / "state.db")
    await database.write("test", lambda c: system_jobs.ensure_system_jobs(c, NAMES, "UTC", START))
    yield database
    await database.close()


def make_scheduler(
    database: Database, triggers: Mapping[str, BaseTrigger], now: list[int]
) -> tuple[Scheduler, Recorder]:
    runner = Recorder()
    notifier = Notifier({}, JobHistory(load_no_ids), zone_of=lambda person: "UTC")
    scheduler = Scheduler(
        database=database,
        runner=runner,
        outcomes=Outcomes(notifier, zone_of=lambda person: "UTC"),
        notifier=notifier,
        enqueue=lambda rows: None,
        wakeup=asyncio.Event(),
        triggers=triggers,
        now=lambda: now[0],
    )
    return scheduler, runner


async def read_job(database: Database, name: str) -> tuple[Job, list[Run]]:
    def look(connection: Connection) -> tuple[Job, list[Run]]:
        job = next(one for one in jobs.list_system(connection) if one.body == name)
        return job, job_runs.list_of_job(connection, job_id=job.id, limit=9)

    return await database.read(look)


@pytest.mark.parametrize("name", NAMES)
async def test_a_trigger_claims_the_slot_of_its_own_job_once(database: Database, name: str) -> None:
    job, _ = await read_job(database, name)
    assert job.next_slot
    now = [job.next_slot[1]]
    scheduler, runner = make_scheduler(database, {}, now)
    for _ in range(3):
        await scheduler.claim_system_job(name)
    claimed, runs = await read_job(database, name)
    assert [(run.slot_at, run.state) for run in runs] == [(job.next_slot[1], "waiting")]
    assert claimed.next_slot
    assert claimed.next_slot[1] > now[0]
    for other in set(NAMES) - {name}:
        assert (await read_job(database, other))[1] == []
    await scheduler.look()
    assert job.id in {run.job_id for run in runner.offered}
    assert [run.id for run in (await read_job(database, name))[1]] == [runs[0].id]


@pytest.mark.parametrize("name", NAMES)
async def test_a_trigger_rings_without_an_alarm_or_a_heartbeat(
    database: Database, name: str
) -> None:
    now = [START]
    triggers = {name: IntervalTrigger(seconds=1)}
    scheduler, runner = make_scheduler(database, triggers, now)
    job, _ = await read_job(database, name)
    task = asyncio.create_task(scheduler.run())
    async with asyncio.timeout(HEARTBEAT / 2):
        while now[0] == START or not runner.offered:
            await asyncio.sleep(0.02)
            assert job.next_slot
            now[0] = job.next_slot[1]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert job.id in {run.job_id for run in runner.offered}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
def test_a_trigger_fires_at_the_slots_of_its_job(name: str, zone: str) -> None:
    trigger = system_jobs.make_triggers(zone)[name]
    timing = read_cron(system_jobs.SCHEDULES[name])
    for week in range(53):
        after = datetime.fromtimestamp((START + week * WEEK) / 1000, ZoneInfo(zone))
        slot = first_slot(timing, ZoneInfo(zone), milliseconds(after))
        fires = trigger.get_next_fire_time(None, after + timedelta(milliseconds=1))
        assert slot
        assert milliseconds(fires) == slot.at
