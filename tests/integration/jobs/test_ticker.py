"""The scheduler of a running gateway: each slot once, whatever the clock does."""

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import StoreError
from agent_core.state.jobs import job_runs
from agent_core.state.queues import deferred_messages
from tests.databases import open_database
from tests.integration.clock import Clock, GoingClock, asleep
from tests.integration.harness import running
from tests.integration.jobs_support import (
    find,
    give_job,
    greet,
    greeted,
    looked,
    over,
    runs_of,
    texts,
    waits_for,
)

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
HOUR = 3_600_000
BEAT = 15.0
"""Seconds after which a clock that was put, or a night's sleep, is noticed at the latest."""

JUMPS = (
    ("Europe/Berlin", (2027, 3, 27, 22, 0), "30 2 * * *", 1, ["03-28T02:30", "03-29T02:30"]),
    ("Europe/Berlin", (2026, 10, 24, 21, 0), "30 2 * * *", 1, ["10-25T02:30", "10-26T02:30"]),
    ("America/New_York", (2027, 3, 14, 4, 0), "0,30 2 * * *", 1, ["03-14T02:00", "03-14T02:30"]),
    ("America/New_York", (2026, 11, 1, 3, 0), "30 1 * * *", 1, ["11-01T01:30", "11-02T01:30"]),
    (
        "America/New_York",
        (2026, 11, 1, 4, 0),
        "*/30 * * * *",
        0,
        ["11-01T04:30", "11-01T05:00", "11-01T05:30", "11-01T06:00", "11-01T06:30"],
    ),
    ("Europe/Berlin", (2027, 3, 28, 0, 0), "*/30 * * * *", 0, ["03-28T00:30", "03-28T01:00"]),
)
"""Zone, start in UTC, expression, whether it goes on for a day, and the first slots.

Slots of set times are named after the local time, those of a wildcard after the moment in UTC.
"""


@pytest.mark.parametrize(("zone", "start", "text", "days", "slots"), JUMPS)
async def test_each_slot_around_a_clock_change_runs_once(
    tmp_path: Path, zone: str, start: tuple[int, ...], text: str, days: int, slots: list[str]
) -> None:
    clock = Clock(*start)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Tick.", text, zone=zone)
        for _ in range((days * 24 + 8) * 2):
            clock.move(harness, minutes=30)
            await looked(harness)
        found = await runs_of(harness, job.id)
        names = [run.slot.partition("-")[2].removesuffix(":00Z") for run in found]
        assert names[: len(slots)] == slots
        assert len(set(names)) == len(names)
        assert {run.state for run in found} == {"done"}
        assert texts(harness).count("⏰ Tick.") == len(found)
        assert not any(run.missed for run in found)


@pytest.mark.parametrize("jump", [{"hours": 7}, {"days": 9}, {"days": 366}])
async def test_a_clock_set_forward_and_back_repeats_and_skips_no_run(
    tmp_path: Path, jump: dict[str, float]
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Hourly.", "0 * * * *")
        often = await give_job(harness, "Often.", "every 600")
        clock.move(harness, **jump)
        await looked(harness)
        ahead = len(await runs_of(harness, job.id))
        assert ahead <= 1
        assert len(await runs_of(harness, often.id)) <= 1
        clock.move(harness, **{unit: -span for unit, span in jump.items()})
        await waits_for(harness, job, "2026-11-20T13:00:00Z")
        for _ in range(3):
            clock.move(harness, hours=1)
            await looked(harness)
        found = await runs_of(harness, job.id)
        assert sorted(run.slot for run in found)[:3] == [
            "2026-11-20T13:00:00Z",
            "2026-11-20T14:00:00Z",
            "2026-11-20T15:00:00Z",
        ]
        assert Counter(run.state for run in found) == {"done": 3 + ahead}


async def test_a_slot_in_a_repeated_hour_runs_once(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Hourly.", "0 * * * *")
        for _ in range(5):
            clock.move(harness, hours=1)
            await looked(harness)
        clock.move(harness, hours=-4)
        await waits_for(harness, job, "2026-11-20T14:00:00Z")
        for _ in range(6):
            clock.move(harness, hours=1)
            await looked(harness)
        found = await runs_of(harness, job.id)
        assert len(found) == 7
        assert found[-1].slot == "2026-11-20T19:00:00Z"
        assert sum("Hourly." in text for text in texts(harness)) == 7


async def test_a_retry_does_not_wait_for_a_wrong_clock(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        clock.move(harness, days=366)
        await looked(harness)
        await give_job(harness, "test -e flag && echo Mended.", "2027-11-21T14:00", kind="script")
        clock.move(harness, hours=1)
        await looked(harness)
        (tmp_path / "flag").touch()
        clock.move(harness, days=-366)
        await harness.chat.sees_text("Mended.")


async def test_a_deferred_message_does_not_wait_for_a_wrong_clock(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await harness.at_rest()
        clock.move(harness, days=366)
        await looked(harness)
        await give_job(harness, "Held.", "2027-11-21T23:00")
        clock.move(harness, hours=10)
        await looked(harness)
        assert "Held." not in texts(harness)
        clock.move(harness, days=-366)
        await looked(harness)
        assert "Held." not in texts(harness)  # it is still night
        clock.move(harness, hours=8)
        await harness.chat.sees_text("Held.")


async def test_a_deferred_message_is_sent_once_whatever_the_clock_does(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await harness.at_rest()
        await give_job(harness, "Held.", "2026-11-20T23:00")
        clock.move(harness, hours=12)
        await looked(harness)
        assert "Held." not in texts(harness)
        clock.move(harness, hours=7)
        await harness.chat.sees_text("Held.")
    for hours in (1, 30, -40, 60):
        clock.pass_unseen(hours=hours)
        async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
            await harness.gateway.scheduler.look()
            await looked(harness)
            assert not [text for text in texts(harness) if "Held." in text]


async def test_a_clock_set_back_during_downtime_skips_no_run(
    tmp_path: Path,
) -> None:
    clock = GoingClock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        clock.move(harness, days=366)
        await looked(harness)
        job = await give_job(harness, "Hourly.", "0 * * * *")
        often = await give_job(harness, "Often.", "every 600")
        await waits_for(harness, job, "2027-11-21T13:00:00Z")
    clock.pass_unseen(days=-366)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await waits_for(harness, job, "2026-11-20T13:00:00Z")
        (_, at) = (await find(harness, often)).next_slot or ("", 0)
        assert 0 < at - clock() <= 600_000
        clock.move(harness, hours=1)
        await over(harness, job, 1)
        assert [run.slot for run in await runs_of(harness, job.id)] == ["2026-11-20T13:00:00Z"]


async def test_a_slot_waits_for_the_run_of_the_one_before_it(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        work = "mkdir lock || exit 1; while ! test -e go; do sleep 0.01; done; rmdir lock"
        job = await give_job(harness, work, "0 * * * *", kind="script")
        other = await give_job(harness, "Beside.", "0 * * * *")
        for hours in (1, 2):
            clock.move(harness, hours=1)
            await over(harness, other, hours)
        await harness.gateway.scheduler.look()
        found = await runs_of(harness, job.id)
        assert [run.state for run in found] == ["running", "waiting"]
        (tmp_path / "go").touch()
        found = await over(harness, job, 2)
        assert [(run.state, run.attempts) for run in found] == [("done", 1), ("done", 1)]


async def test_missed_slots_run_in_order_one_by_one(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        work = "mkdir lock || exit 1; sleep 0.05; rmdir lock; echo Done."
        job = await give_job(harness, work, "0 8 * * *", kind="script", late="all")
    clock.pass_unseen(days=4)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        found = await over(harness, job, 4)
        assert [(run.state, run.attempts) for run in found] == [("done", 1)] * 4
        await looked(harness)
        days = [text.partition("This was due ")[2].partition(",")[0] for text in texts(harness)]
        assert days == ["Sat 21 Nov", "Sun 22 Nov", "yesterday", "8:00._"]


async def test_missed_and_deferred_messages_name_every_due_time(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await harness.at_rest()
        await give_job(harness, "Drink.", "0 23,0,1 * * *", late="all")
    clock.pass_unseen(hours=13)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        while not await harness.read(deferred_messages.find_next_at):
            await asyncio.sleep(0.002)
        clock.move(harness, hours=6)
        shown = await harness.chat.sees_text("Drink.")
        due = "yesterday, 23:00; today, 0:00 and 1:00"
        assert shown.text == f"⏰ Drink. (was due {due}; you had quiet hours)"


async def test_two_processes_do_not_share_a_store(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        with pytest.raises(StoreError):
            await open_database(tmp_path / "state.db")


async def test_a_slot_is_taken_once_across_processes(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Once.", "0 * * * *")
        slot = ("2026-11-20T13:00:00Z", clock() + HOUR)
        path = tmp_path / "state.db"
        with closing(sqlite3.connect(path)) as other, other:
            taken = job_runs.claim(other, job_id=job.id, slot=slot, due_at=slot[1], now=slot[1])
        assert taken
        clock.move(harness, hours=1)
        await over(harness, job, 1)
        await looked(harness)
        found = await runs_of(harness, job.id)
        assert [run.id for run in found] == [taken]
        assert texts(harness).count("⏰ Once.") == 1
        assert (await find(harness, job)).next_slot == ("2026-11-20T14:00:00Z", clock() + HOUR)


class Hourglass(asyncio.SelectorEventLoop):
    """An event loop whose time a test controls."""

    gone = 0.0

    def time(self) -> float:
        return super().time() + self.gone


def test_a_machine_that_slept_is_noticed_at_the_next_beat(tmp_path: Path) -> None:
    async def sleep_and_wake() -> None:
        clock = Clock(2026, 11, 20, 12, 0)
        async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
            await greet(harness)
            job = await give_job(harness, "Good morning.", "0 8 * * *")
            seen, known = 0, -1
            while seen != known:  # the gateway's own work may wake it at that moment
                known = seen
                await asleep(harness)
                clock.pass_unseen(days=1)
                await asleep(harness)
                seen = len(await runs_of(harness, job.id))
            loop = asyncio.get_running_loop()
            assert isinstance(loop, Hourglass)
            loop.gone += BEAT
            await over(harness, job, seen + 1)
            await harness.chat.sees_text("Good morning.")

    with asyncio.Runner(loop_factory=Hourglass) as runner:
        runner.run(sleep_and_wake())


_SHUT = (
    "CREATE TEMP TRIGGER shut BEFORE INSERT ON job_runs"
    " BEGIN SELECT RAISE (ABORT, 'nothing is taken now'); END"
)


def test_an_alarm_during_a_closed_store_rings_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def shut_and_open() -> None:
        clock = Clock(2026, 11, 20, 12, 0)
        async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
            await greet(harness)
            job = await give_job(harness, "Good morning.", "0 8 * * *")
            write = harness.gateway.database.write
            await write("test", lambda c: c.execute(_SHUT))
            clock.move(harness, hours=20)
            await harness.until(lambda: "the scheduler waits for the store" in caplog.text)
            await write("test", lambda c: c.execute("DROP TRIGGER shut"))
            loop = asyncio.get_running_loop()
            assert isinstance(loop, Hourglass)
            loop.gone += BEAT
            await over(harness, job, 1)
            await harness.chat.sees_text("Good morning.")

    with asyncio.Runner(loop_factory=Hourglass) as runner:
        runner.run(shut_and_open())
