"""System jobs report what they did, and check the external memory every hour."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.named.folder import AgentFolder
from agent_core.digest.tools import DigestOptions
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.memory.external.client import ExternalMemoryStatus, SyncReport
from agent_core.schedule import job_editor
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.memory.external_sync import Backlog
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from gateway.home import DATABASE
from gateway.jobs import system_jobs
from gateway.jobs.agent_runs import AgentRuns
from gateway.jobs.gates import GateChecker
from gateway.jobs.history import JobHistory
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import Outcomes
from gateway.jobs.runner import JobRunner, SystemTask
from gateway.texts.system_jobs import describe_sync
from tests.emulators.honcho import HonchoEmulator
from tests.integration.accounts import make_owner
from tests.integration.clock import Clock
from tests.integration.damage import flip
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import greet, greeted, over, runs_of, texts
from tests.integration.memory.external import all_reported, environ, queues
from tests.integration.system_jobs import START, ZONE, outcome, own_job
from tests.patience import PATIENCE


@pytest.fixture
async def server() -> AsyncIterator[HonchoEmulator]:
    async with HonchoEmulator() as emulator:
        yield emulator


@pytest.mark.parametrize("change", ["title = 'Back up'", "timing = 'cron'", "body = 'back-up'"])
async def test_a_damaged_system_job_is_recreated_at_the_next_start(
    tmp_path: Path, change: str
) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        damaged = await own_job(harness, system_jobs.BACKUP)
        await flip(harness, "jobs", change, damaged.id)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        found = await harness.read(jobs.list_system)
        assert [job.body for job in found] == [
            system_jobs.BACKUP,
            system_jobs.CURATOR,
            system_jobs.RETENTION,
        ]
        assert all(job.is_whole and job.state == "active" for job in found)
        await outcome(harness, clock, system_jobs.BACKUP, count=1, hours=20)


async def set_aside(harness: Harness, count: int) -> None:
    """Return once `count` tasks were given up."""
    async with asyncio.timeout(PATIENCE):
        while sum(one.dead for one in await queues(harness)) != count:
            await asyncio.sleep(0.005)


async def test_given_up_tasks_are_retried_and_reported(
    tmp_path: Path, server: HonchoEmulator
) -> None:
    clock = Clock(*START)
    server.faults = lambda route, body: 422 if route == "messages" else None
    async with running(tmp_path, greeted(), now=clock, **ZONE, **environ(server)) as harness:
        await greet(harness)
        await set_aside(harness, 1)
        output = await outcome(harness, clock, system_jobs.MEMORY_SYNC, count=1, minutes=30)
        assert output == (
            "honcho answers; 0 synced since the last check; everything is synced; 1 failed; the log"
            " gives the reasons"
        )
        server.faults = lambda route, body: None
        output = await outcome(harness, clock, system_jobs.MEMORY_SYNC, count=2, hours=1)
        assert output == (
            "honcho answers; 2 synced since the last check; 1 retried; everything is synced"
        )
        assert server.said == ["hi", "Hello."]


async def test_failing_tasks_are_retried_less_and_less_often(
    tmp_path: Path, server: HonchoEmulator
) -> None:
    clock = Clock(*START)
    server.faults = lambda route, body: 422 if route == "messages" else None
    async with running(tmp_path, greeted(), now=clock, **ZONE, **environ(server)) as harness:
        await greet(harness)
        await set_aside(harness, 1)
        for hours in range(1, 25):
            await outcome(harness, clock, system_jobs.MEMORY_SYNC, count=hours, hours=1)
        assert server.calls["messages"] in (5, 6), "at first, and after 1, 2, 4, 8 and 16 hours"
        assert await queues(harness) == [Backlog(provider="honcho", queued=0, dead=1)]


async def test_an_unreachable_provider_is_reported_with_its_queue(
    tmp_path: Path, server: HonchoEmulator
) -> None:
    clock = Clock(*START)
    server.faults = lambda route, body: 503
    async with running(tmp_path, greeted(), now=clock, **ZONE, **environ(server)) as harness:
        await greet(harness)
        output = await outcome(harness, clock, system_jobs.MEMORY_SYNC, count=1, hours=3)
        assert output.startswith("honcho does not answer (Honcho is overloaded")
        assert output.endswith("1 not synced yet, the oldest since 2026-11-20 11:00 UTC")
        server.faults = lambda route, body: None
        await outcome(harness, clock, system_jobs.MEMORY_SYNC, count=2, hours=1)
        await all_reported(harness)
        assert server.said == ["hi", "Hello."]


async def test_a_disabled_provider_is_reported(tmp_path: Path, server: HonchoEmulator) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE, **environ(server)):
        pass
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        output = await outcome(harness, clock, system_jobs.MEMORY_SYNC, count=1, hours=1)
        assert output == "no external memory is configured"


async def test_backups_and_retention_say_what_they_did(tmp_path: Path) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        output = await outcome(harness, clock, system_jobs.BACKUP, count=1, days=1)
        place = tmp_path / "backups" / "nightly-20261121T110000Z.tar.gz"
        assert output == f"{place} made and read again"
        job = await own_job(harness, system_jobs.RETENTION)
        (run,) = await over(harness, job, 1)
        assert run.state == "done"


async def test_owners_get_one_notice_of_failure_and_recovery(tmp_path: Path) -> None:
    clock = Clock(*START)
    in_the_way = tmp_path / "backups"
    in_the_way.touch()
    environ = {**ZONE, "TALARIA_ALERTS__ENABLED": "true"}
    async with running(tmp_path, greeted(), now=clock, **environ) as harness:
        await greet(harness)
        await make_owner(harness)
        job = await own_job(harness, system_jobs.BACKUP)
        clock.move(harness, days=1)
        for day in (1, 2):
            for attempt, minutes in enumerate((1, 5, 24 * 60), start=1):
                await tried(harness, job, day, attempt)
                if (day, attempt) != (2, 3):
                    clock.move(harness, minutes=minutes)
        shown = await harness.chat.sees_text("**Backup of the database** failed. ")
        assert "there is a file where a folder must be" in shown.text
        in_the_way.unlink()
        clock.move(harness, days=1)
        await over(harness, job, 3)
        await harness.chat.sees_text("**Backup of the database** works again. All is well again.")
        assert sum("failed" in text for text in texts(harness)) == 1


async def tried(harness: Harness, job: Job, count: int, attempt: int) -> None:
    """Return once the newest of `count` runs has failed `attempt` times."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await runs_of(harness, job.id)
            newest = [(run.attempts, run.state) for run in found[-1:]]
            if len(found) == count and newest in ([(attempt, "waiting")], [(attempt, "failed")]):
                return
            await asyncio.sleep(0.002)


async def load_no_ids() -> IdAllocator:
    raise AssertionError("system jobs write no history")


async def alone(
    home: Path, harness: Harness, clock: Clock, work: SystemTask | None
) -> tuple[str, str]:
    """How a run of the backup ends, and why, beside no gateway, if this is what it comes to.

    It is begun, left as a crash leaves it, and taken up again.
    """
    database = await Database.open(home / DATABASE)
    (own,) = [
        job for job in await database.read(jobs.list_system) if job.body == system_jobs.BACKUP
    ]

    def leave(connection: Connection) -> None:
        run_id = job_editor.run_job_now(connection, own, "k", clock())
        assert run_id
        job_runs.begin(connection, run_id=run_id, now=clock())

    await database.write("test", leave)
    async with asyncio.TaskGroup() as group:
        notifier = Notifier({}, JobHistory(load_no_ids), zone_of=lambda person: "UTC")
        outcomes = Outcomes(notifier, zone_of=lambda person: "UTC")
        limits = ScriptLimits(memory=10**9, file=10**6, processes=30)
        digest = DigestOptions(
            home=home, zone="UTC", github_url="", github_token="", allow_hosts=()
        )
        runner = JobRunner(
            group=group,
            database=database,
            lanes=harness.gateway.lanes,
            outcomes=outcomes,
            enqueue=lambda rows: None,
            wake=lambda: None,
            now=clock,
            folder=home,
            environ={},
            script_limits=limits,
            cleaner=TextCleaner(SecretMask()),
            gates=GateChecker(
                database=database, digest=digest, environ={}, limits=limits, now=clock
            ),
            agent_runs=AgentRuns(
                notifier=notifier,
                catalog=harness.gateway.home_skills.catalog,
                agents=AgentFolder(home),
                find_unpriced=lambda model: "",
            ),
            system_tasks={system_jobs.BACKUP: work} if work else {},
            at_once=1,
        )
        await runner.recover()
    (run,) = await database.read(lambda c: job_runs.list_of_job(c, job_id=own.id, limit=9))
    await database.close()
    return run.state, run.reason


@pytest.mark.parametrize("error", [KeyError("rows"), ZeroDivisionError(), RuntimeError("odd")])
async def test_an_unexpected_error_fails_only_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    async def break_down() -> str:
        raise error

    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        pass
    state, reason = await alone(tmp_path, harness, clock, break_down)
    assert state == "waiting", "it is tried again"
    assert (
        reason == "Something unexpected went wrong. The owner finds the reason with `talaria logs`."
    )
    (logged,) = [record for record in caplog.records if record.name == "gateway.jobs.runner"]
    assert logged.exc_info
    assert logged.exc_info[1] is error


async def test_an_unknown_system_job_is_named(tmp_path: Path) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        pass
    state, reason = await alone(tmp_path, harness, clock, None)
    assert (state, reason) == (
        "waiting",
        "This version of Talaria has no system task named backup.",
    )


def test_a_task_from_the_future_is_reported_as_current() -> None:
    report = ExternalMemoryStatus(
        name="honcho", state="starting", detail="", queued=3, dead=0, missing_functions=()
    )
    sync = SyncReport(revived=0, reported=0, report=report, oldest_at=1 << 50)
    assert describe_sync(sync, 0) == (
        "honcho does not answer (not yet); 0 synced since the last check; 3 not synced yet, the"
        " oldest since 1970-01-01 00:00 UTC"
    )
