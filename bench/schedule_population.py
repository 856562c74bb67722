"""Ten thousand jobs due in one minute: the scheduler's cost, and the delay of turns."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_core.ids import PersonId
from agent_core.schedule.triggers import dump_timing, milliseconds, read_cron
from agent_core.state.jobs import job_runs, jobs, waiting_jobs
from agent_core.state.jobs.jobs import NewJob, Options, Target
from bench.bots import Bot, run_bot
from bench.figures import Figure, percentile
from bench.processes import run_server
from gateway.app import build as app
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say

_PEOPLE = 20
"""People who keep writing; the jobs belong to others."""
_OWNERS = 100
_CHUNK = 200
"""Jobs that are written down at a time beside a running gateway."""
_LEAD = timedelta(seconds=15)
_SECONDS = 40.0
"""For which turns are timed, before the minute and from it on."""
_WAIT = 0.01


async def measure(*, count: int) -> list[Figure]:
    """What one look costs where nothing is sent; and turns of others in a gateway that sends."""
    about = f"{count:,} jobs in one minute"
    cpu, took = await _look(count)
    before, burst = await _burst(count)
    return [
        Figure(
            name=f"{about}: taken and ended, CPU of the scheduler",
            unit="s",
            value=cpu,
            at_most=2.0,
        ),
        Figure(name=f"{about}: by the clock", unit="s", value=took),
        Figure(name=f"{about}: turns of others meanwhile", unit="", value=len(burst)),
        Figure(
            name=f"{about}: p50 of a turn, against before",
            unit="ms",
            value=percentile(burst, 0.5) * 1000,
            bare=percentile(before, 0.5) * 1000,
        ),
        Figure(
            name=f"{about}: p99 of a turn, against before",
            unit="ms",
            value=percentile(burst, 0.99) * 1000,
            bare=percentile(before, 0.99) * 1000,
            at_most=1.3,
        ),
    ]


async def _look(count: int) -> tuple[float, float]:
    """A whole gateway whose chat is a wall: seconds of the processor and by the clock from the
    minute on until every run is over.
    """
    start = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    clock = [milliseconds(start) - _ticks()]  # it goes on: one that stands is one put back
    chat, stop = FakeChat(), asyncio.Event()
    opened: asyncio.Future[Gateway] = asyncio.get_running_loop().create_future()

    async def watch(gateway: Gateway) -> None:
        opened.set_result(gateway)

    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        settings = load({"TALARIA_HOME": folder, "TALARIA_ACCESS__ALLOW": "*"})
        extensions = Extensions(
            adapters={"fake": chat}, model=FakeModel(say("Hello.")), now=lambda: clock[0] + _ticks()
        )
        harness = asyncio.create_task(
            app.run(settings, stop=stop, companions=(watch,), extensions=extensions)
        )
        gateway = await opened
        while chat.inlet is None:  # noqa: ASYNC110 - platforms tell nobody that they listen
            await asyncio.sleep(_WAIT)
        await chat.says("hi")
        await chat.sees_text("Hello.")
        _enter(Path(folder) / "state.db", start + timedelta(minutes=1), count)
        chat.gate = asyncio.Event()  # sending is measured with turns
        clock[0] = milliseconds(start) + 60_000 - _ticks()
        cpu, began = time.process_time(), time.monotonic()
        gateway.wake_jobs()
        while await gateway.database.read(  # noqa: ASYNC110 - the database rings no bell
            lambda c: _is_any_open(c, clock[0] + _ticks())
        ):
            await asyncio.sleep(_WAIT * 10)
        spent = time.process_time() - cpu, time.monotonic() - began
        chat.gate.set()
        stop.set()
        await harness
    return spent


async def _burst(count: int) -> tuple[list[float], list[float]]:
    """Seconds of turns of people before the minute, and from it on."""
    async with (
        run_server("tests.emulators.anthropic", "--latency", "0.05") as model,
        run_bot(
            "gateway",
            model,
            TALARIA_PEOPLE__TIME_ZONE="UTC",
            TALARIA_TELEGRAM__MESSAGES_PER_SECOND="30",
        ) as bot,
    ):
        for person in range(_PEOPLE + _OWNERS):
            await bot.population.ask({person: f"hello {person}."})
        due = datetime.now(UTC) + _LEAD + timedelta(seconds=_SECONDS)
        due = due.replace(second=0, microsecond=0) + timedelta(minutes=1)
        _enter(bot.home / "home" / "state.db", due, count)
        wait = (due - datetime.now(UTC)).total_seconds() - _SECONDS
        await asyncio.sleep(max(wait, 0))
        before = await _dialogue(bot, lambda: datetime.now(UTC) >= due)
        end = time.monotonic() + _SECONDS
        return before, await _dialogue(bot, lambda: time.monotonic() >= end)


async def _dialogue(bot: Bot, is_over: Callable[[], bool]) -> list[float]:
    """One turn after another, of one person after another."""
    seconds: list[float] = []
    for number, person in enumerate(cycle(range(_PEOPLE))):
        if is_over():
            break
        seconds += await bot.population.ask({person: f"word {number} {time.monotonic_ns()}."})
    return seconds


def _enter(path: Path, due: datetime, count: int) -> None:
    """Store jobs for a minute of each day, of the newest people."""
    timing = dump_timing(read_cron(f"{due.minute} {due.hour} * * *"))
    slot = (f"{due:%Y-%m-%dT%H:%M}", milliseconds(due))
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        rows = connection.execute(
            "SELECT id FROM people WHERE kind = 'human' ORDER BY id DESC LIMIT ?", (_OWNERS,)
        ).fetchall()
        owners = [PersonId(row[0]) for row in rows]
        for first in range(0, count, _CHUNK):
            with connection:
                for owner in islice(cycle(owners), first, min(first + _CHUNK, count)):
                    jobs.insert(connection, _job(owner, timing, slot), now=slot[1] - 60_000)


def _job(owner: PersonId, timing: str, slot: tuple[str, int]) -> NewJob:
    return NewJob(
        person_id=owner,
        room_id=None,
        kind="message",
        title="Reminder",
        body="Take the bread out of the oven, please.",
        timing=timing,
        zone="UTC",
        late="catch_up",
        options=Options(),
        targets=(Target(kind="home"),),
        is_urgent=False,
        next_slot=slot,
        actor="bench",
    )


def _ticks() -> int:
    """Milliseconds that have passed since some moment."""
    return time.monotonic_ns() // 1_000_000


def _is_any_open(connection: sqlite3.Connection, now: int) -> bool:
    found: Sequence[int | None] = (
        waiting_jobs.find_next_at(connection),
        job_runs.find_next_at(connection),
    )
    return any(at is not None and at <= now for at in found)
