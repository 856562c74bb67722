"""Damaged job rows: set aside and reported once, while everything else continues."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import InvalidJob, JobRequest, JobRules
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.jobs.jobs import DAMAGED, Job, Options
from agent_core.state.people import delivery_targets
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import ask, call, say
from tests.integration.clock import Clock
from tests.integration.damage import flip
from tests.integration.harness import running
from tests.integration.jobs_support import (
    ana,
    find,
    give_job,
    greet,
    greeted,
    looked,
    over,
    runs_of,
    texts,
)
from tests.integration.skills.curator import curated

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
NOON = (2026, 11, 20, 11, 0)
"""Friday, 12:00 in Berlin."""
FLIPS = (
    "title = 'Tale the bread out.'",
    "body = 'Tale the bread out.'",
    "kind = 'script'",
    "timing = 'cron 0 * * * 7'",
    "zone = x'00'",
    "options = '{'",
    "targets = '[]'",
    "next_slot = 'never', timing = timing || ' '",
)


@pytest.mark.parametrize("change", FLIPS)
async def test_a_damaged_job_is_paused_and_reported_once(tmp_path: Path, change: str) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Take the bread out.", "0 * * * *")
        other = await give_job(harness, "Feed the cat.", "0 * * * *")
        await flip(harness, "jobs", change, job.id)
        for _ in range(2):
            clock.move(harness, hours=1)
            await looked(harness)
        assert [run.state for run in await runs_of(harness, other.id)] == ["done"] * 2
        assert await runs_of(harness, job.id) == []
        damaged = await find(harness, job)
        assert (damaged.state, damaged.title, damaged.body) == ("paused", DAMAGED, "")
        assert sum(f"Reminder {job.id} is damaged" in text for text in texts(harness)) == 1
        assert not any("bread" in text or "Tale" in text for text in texts(harness))
    harness.model.plays.append(say("Hello."))
    async with running(tmp_path, harness.model, now=clock, **SETTINGS) as harness:
        clock.move(harness, hours=1)
        await looked(harness)
        assert [run.state for run in await runs_of(harness, other.id)] == ["done"] * 3
        assert not any("damaged" in text for text in texts(harness))
        await harness.chat.says("/jobs", id="m9")
        shown = await harness.chat.sees_text("Your reminders:")
        assert DAMAGED in shown.text
        assert "Paused" in shown.text


async def test_a_job_with_a_damaged_slot_is_paused_and_can_resume(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Take the bread out.", "0 * * * *")
        await flip(harness, "jobs", "next_slot = x'00'", job.id)
        clock.move(harness, hours=1)
        await harness.chat.sees_text(f"Reminder {job.id} is damaged")
        paused = await find(harness, job)
        assert (paused.state, paused.is_whole, paused.next_slot) == ("paused", True, None)
        await harness.gateway.database.write(
            "test", lambda c: job_editor.resume_job(c, paused, clock())
        )
        clock.move(harness, hours=1)
        await harness.chat.sees_text("Take the bread out.")


async def test_a_damaged_job_can_only_be_dropped(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Take the bread out.", "0 * * * *")
        await flip(harness, "jobs", FLIPS[1], job.id)
        rules, now = JobRules(), clock()
        damaged = await find(harness, job)
        with pytest.raises(InvalidJob):
            job_editor.redraft_job(damaged, JobRequest(title="Bread"), rules=rules, now=now)
        for deed in (_resume, _pause):
            try:
                await harness.gateway.database.write("test", lambda c, deed=deed: deed(c, damaged))
            except InvalidJob:
                continue
        assert not (await find(harness, job)).is_whole
        await harness.gateway.database.write("test", lambda c: job_editor.drop_job(c, damaged))
        dropped = await find(harness, job)
        assert (dropped.state, dropped.is_whole) == ("dropped", False)


def _resume(connection: Connection, job: Job) -> None:
    job_editor.resume_job(connection, job, 0)


def _pause(connection: Connection, job: Job) -> None:
    job_editor.pause_job(connection, job, "")


@pytest.mark.parametrize("change", ["job_id = 77", "slot_at = 'x'", "slot = x'00'"])
async def test_a_damaged_run_is_ended_and_others_continue(tmp_path: Path, change: str) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "echo Bread.", "0 8 * * *", kind="script")
        other = await give_job(harness, "echo Cat.", "0 * * * *", kind="script")

        def work(connection: Connection) -> int:
            due = (clock() + 1000,) * 2
            slot = ("asked test", due[0])
            run_id = job_runs.claim(connection, job_id=job.id, slot=slot, due_at=due[0], now=due[0])
            assert run_id
            return run_id

        run_id = await harness.gateway.database.write("test", work)
        await harness.gateway.database.tidy(
            lambda c: [
                c.execute(sql) and None
                for sql in (
                    "PRAGMA foreign_keys = OFF",
                    f"UPDATE job_runs SET {change} WHERE id = {run_id}",
                    "PRAGMA foreign_keys = ON",
                )
            ]
        )
        clock.move(harness, hours=1)
        await over(harness, other, 1)
        await looked(harness)
        assert any("Cat." in text for text in texts(harness))
        assert not any(text.endswith("\n\nBread.") for text in texts(harness))
        row = await harness.read(
            lambda c: c.execute("SELECT state FROM job_runs WHERE id = ?", (run_id,)).fetchone()
        )
        assert row == ("failed",)
        is_orphan = change.startswith("job_id")
        assert sum("failed" in text for text in texts(harness)) == (0 if is_orphan else 1)
        assert (await find(harness, job)).state == "active"


async def test_a_damaged_deferred_message_is_not_sent_and_others_are(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.gateway.database.write(
            "test", lambda c: delivery_targets.set_days_off(c, person_id=ana(c), days=(6, 7))
        )
        await give_job(harness, "Water the plants.", "2026-11-21T09:00")
        await give_job(harness, "Feed the cat.", "2026-11-22T09:00")
        for hours in (21, 24):
            clock.move(harness, hours=hours)
            await looked(harness)
        await flip(harness, "deferred_messages", "body = 'Water the plans.'", 1)
        clock.move(harness, hours=15)
        shown = await harness.chat.sees_text("Feed the cat.")
        assert "1 message to you is lost" in shown.text
        await looked(harness)
        assert not any("Water" in text for text in texts(harness))
        assert len(texts(harness)) == 2


async def test_a_damaged_conversation_is_reported_after_quiet_hours(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 22, 0)  # 23:00 in Berlin
    limit = {"TALARIA_TURNS__DRAIN_SECONDS": "0"}
    chat_word = "is damaged in my storage"
    model = greeted()
    async with running(tmp_path, model, now=clock, **SETTINGS, **limit) as harness:
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await greet(harness)
        options = Options(is_aware=True)
        job = await give_job(
            harness, "Tell me.", "2026-11-20T23:30", kind="prompt", options=options
        )
        hold = asyncio.Event()
        model.plays.append([*ask(call("recall", json.dumps({"query": "tea"})))])
        model.plays.append([hold.wait, *say("Never.")])
        clock.move(harness, minutes=31)
        await harness.until(lambda: model.streaming == 1 and len(model.plays) == 0)
        await harness.gateway.database.write(
            "test",
            lambda c: (
                c.execute("UPDATE messages SET parts = parts || ' ' WHERE role = 'tool'") and None
            ),
        )
    chat = harness.chat
    chat.shown.clear()
    async with running(tmp_path, greeted(), chat=chat, now=clock, **SETTINGS, **limit) as harness:
        await over(harness, job, 1)
        await looked(harness)
        assert texts(harness) == []
        clock.move(harness, hours=9)
        shown = await harness.chat.sees_text(chat_word)
        assert "Tell me." in shown.text
        await looked(harness)
        assert len(texts(harness)) == 1


async def test_the_curator_ignores_damaged_jobs(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    write_skill(tmp_path / "skills", "tidy", "Sweep.")
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        for change in ("options = '{'", "options = '[]'", "options = '{\"skills\": 7}'"):
            job = await give_job(harness, "Take the bread out.", "0 0 1 1 *")
            await flip(harness, "jobs", change, job.id)
        run = await curated(harness, clock, days=3, count=1)
        assert run.state == "done"
        assert run.reason.startswith("1 skill checked")


@pytest.mark.parametrize(
    "change", ["chat = '['", "chat = '7'", "chat = x'00ff'", "platform = x'00'", "release_at = 'x'"]
)
async def test_a_deferred_message_with_a_damaged_target_blocks_nothing(
    tmp_path: Path, change: str
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.chat.says("/settings quiet_hours 12:30-18:00", id="m2")
        await harness.at_rest()
        for minute, text in enumerate(("Take the bread out.", "Feed the cat.")):
            await give_job(harness, text, f"2026-11-20T13:0{minute}")
        clock.move(harness, hours=2)
        await looked(harness)
        deferred_ids = await harness.read(
            lambda c: c.execute("SELECT id FROM deferred_messages").fetchall()
        )
        await flip(harness, "deferred_messages", change, deferred_ids[0][0])
        clock.move(harness, hours=6)
        await harness.chat.sees_text("Feed the cat.")
    harness.model.plays.append(say("Hello."))
    async with running(tmp_path, harness.model, now=clock, **SETTINGS) as again:
        await again.until(lambda: any("bread" in text for text in (*texts(harness), *texts(again))))


@pytest.mark.parametrize(
    "change",
    [
        "home_platform = 'fake', home_chat = '['",
        "days_off = '['",
        "days_off = '7'",
        "time_zone = 'US/Pacific-New'",
    ],
)
async def test_a_persons_damaged_row_blocks_no_job(tmp_path: Path, change: str) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await give_job(harness, "Take the bread out.", "2026-11-20T13:00")
        await flip(harness, "people", change, await harness.read(ana))
        clock.move(harness, hours=2)
        await harness.chat.sees_text("Take the bread out.")
