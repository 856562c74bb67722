"""Job runs in a running gateway: late, retried, deferred, stopped, each delivered once."""

from pathlib import Path

import pytest

from agent_core.chats import Chat
from agent_core.errors import ModelRejected
from agent_core.schedule import job_editor
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Options, Target
from agent_core.state.people import delivery_targets
from tests.fakes.model import FakeModel, Play, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
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

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
NOON = (2026, 11, 20, 11, 0)
"""Friday, 12:00 in Berlin."""
BROKEN: Play = [ModelRejected("no such thing")]


async def test_a_retry_is_not_taken_for_the_previous_try(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted(BROKEN, BROKEN)
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:

        async def look_again() -> None:
            for _ in range(3):
                await harness.gateway.scheduler.look()

        model.plays.append([look_again, *say("News.")])
        await greet(harness)
        job = await give_job(harness, "Tell me.", "2026-11-20T13:00", kind="prompt")
        clock.move(harness, hours=1)
        for _ in range(2):
            await looked(harness)
            clock.move(harness, minutes=5)
        (run,) = await over(harness, job, 1)
        assert (run.state, run.attempts) == ("done", 3)
        await looked(harness)
        assert "News." in texts(harness)[-1]
        assert len(texts(harness)) == 2


async def test_a_missed_slot_runs_late_at_the_next_start(
    tmp_path: Path,
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await give_job(harness, "The bread is ready.", "2026-11-20T13:00", late="skip")
    for hours in (30, 40):
        later = Clock(*NOON)
        later.pass_unseen(hours=hours)
        async with running(tmp_path, greeted(), now=later, **SETTINGS) as harness:
            if hours == 30:
                shown = await harness.chat.sees_text("The bread is ready.")
                note = "(was due yesterday, 13:00; I was switched off)"
                assert shown.text == f"⏰ The bread is ready. {note}"
            await looked(harness)
            assert len(texts(harness)) == (1 if hours == 30 else 0)


async def test_all_missed_slots_run_if_configured(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Take the pill.", "0 8 * * *", late="all")
    clock.pass_unseen(days=4)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        found = await over(harness, job, 4)
        await looked(harness)
        assert [run.slot[8:10] for run in found] == ["21", "22", "23", "24"]
        (shown,) = texts(harness)
        assert "Take the pill." in shown
        due = "Sat 21 Nov, 8:00; Sun 22 Nov, 8:00; yesterday, 8:00; today, 8:00"
        assert f"(was due {due}; I was switched off)" in shown


async def test_missed_prompts_have_separate_sessions(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Tell me.", "0 8 * * *", kind="prompt", late="all")
    clock.pass_unseen(days=3)
    model = FakeModel(say("One."), say("Two."), say("Three."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        found = await over(harness, job, 3)
        assert {run.state for run in found} == {"done"}
        assert [len(request.messages) for request in model.requests] == [1, 1, 1]
        await harness.chat.sees_text("Three.")


async def test_a_command_that_says_nothing_sends_nothing(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "cat words 2>&-; true", "0 * * * *", kind="script")
        clock.move(harness, hours=1)
        await over(harness, job, 1)
        (tmp_path / "words").write_text("Two letters came.")
        clock.move(harness, hours=1)
        await harness.chat.sees_text("Two letters came.")
        await looked(harness)
        assert [run.state for run in await runs_of(harness, job.id)] == ["done", "done"]
        assert len(texts(harness)) == 2


async def test_a_failing_command_is_tried_three_times_and_reported_once(
    tmp_path: Path,
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "echo . >> tries; cat words", "0 * * * *", kind="script")
        clock.move(harness, minutes=60)
        await _give_up(harness, clock)
        assert len((tmp_path / "tries").read_text().split()) == 3
        clock.move(harness, minutes=54)
        await _give_up(harness, clock)
        (tmp_path / "words").write_text("Two letters came.")
        clock.move(harness, minutes=54)
        shown = await harness.chat.sees_text("Two letters came.")
        assert "After 2 failures, this works again" in shown.text
        await looked(harness)
        assert sum("failed" in text for text in texts(harness)) == 1
        assert len(texts(harness)) == 3
        assert (await find(harness, job)).failures == 0


@pytest.mark.thorough
async def test_a_command_that_keeps_failing_is_paused_with_two_notices(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(
            harness, "exit 3", "0 * * * *", kind="script", options=Options(pause_after=4)
        )
        clock.move(harness, minutes=60)
        for _ in range(6):
            await _give_up(harness, clock)
            clock.move(harness, minutes=54)
        assert [run.state for run in await runs_of(harness, job.id)] == ["failed"] * 4
        found = await find(harness, job)
        assert (found.state, found.failures) == ("paused", 4)
        first, last = texts(harness)[1:]
        assert "failed: The reminder's command failed with status 3." in first
        assert "I've paused" in last
        assert "failed 4 times in a row" in last


async def test_a_german_reads_reasons_in_german(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.chat.says("/settings language de", id="m2")
        await harness.chat.sees_text("Sprache: Deutsch")
        job = await give_job(harness, "exit 3", "0 * * * *", kind="script", options=Options())
        clock.move(harness, minutes=60)
        await _give_up(harness, clock)
        await harness.chat.sees_text("Der Befehl der Erinnerung ist mit Status 3 fehlgeschlagen.")
        await harness.chat.says(f"/jobs {job.id}", id="m3")
        await harness.chat.sees_text(
            "fehlgeschlagen (Der Befehl der Erinnerung ist mit Status 3 fehlgeschlagen)"
        )


async def _give_up(harness: Harness, clock: Clock) -> None:
    for minutes in (1, 5):
        await looked(harness)
        clock.move(harness, minutes=minutes)
    await looked(harness)


async def test_jobs_wait_for_free_slots_and_all_run(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    place = {"TALARIA_JOBS__AT_ONCE": "1"}
    async with running(tmp_path, greeted(), now=clock, **SETTINGS, **place) as harness:
        await greet(harness)
        made = [
            await give_job(
                harness, f"mkdir lock && echo {n} && rmdir lock", "0 * * * *", kind="script"
            )
            for n in range(5)
        ]
        clock.move(harness, hours=1)
        for job in made:
            (run,) = await over(harness, job, 1)
            assert (run.state, run.attempts) == ("done", 1)


async def test_a_job_dropped_before_its_run_does_nothing(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    place = {"TALARIA_JOBS__AT_ONCE": "1"}
    async with running(tmp_path, greeted(), now=clock, **SETTINGS, **place) as harness:
        await greet(harness)
        wait = "while ! test -e go; do sleep 0.01; done"
        slow = await give_job(harness, wait, "0 * * * *", kind="script")
        doomed = await give_job(harness, "echo Never.", "0 * * * *", kind="script")
        clock.move(harness, hours=1)
        await harness.until(lambda: harness.gateway.job_runs.count_free_slots() == 0)
        while not await runs_of(harness, doomed.id):
            await harness.gateway.database.write("test", lambda c: None)
        fresh = await find(harness, doomed)
        await harness.gateway.database.write("test", lambda c: job_editor.drop_job(c, fresh))
        (tmp_path / "go").touch()
        await over(harness, slow, 1)
        (run,) = await over(harness, doomed, 1)
        assert (run.state, run.reason) == ("skipped", "dropped")
        assert not any("Never." in text for text in texts(harness))


async def test_a_day_off_defers_and_merges_all_but_urgent_messages(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.gateway.database.write(
            "test", lambda c: delivery_targets.set_days_off(c, person_id=ana(c), days=(6, 7))
        )
        await give_job(harness, "Water the plants.", "2026-11-21T09:00")
        await give_job(harness, "Feed the cat.", "2026-11-22T09:00")
        await give_job(harness, "The house is on fire.", "2026-11-22T10:00", is_urgent=True)
        for hours in (21, 24, 1):
            clock.move(harness, hours=hours)
            await looked(harness)
        assert texts(harness)[1:] == ["⏰ The house is on fire."]
        clock.move(harness, hours=14)
        shown = await harness.chat.sees_text("During your quiet time, 2 messages arrived")
        assert "Water the plants." in shown.text
        assert "Feed the cat." in shown.text
        await looked(harness)
        assert len(texts(harness)) == 3


async def test_an_unreachable_home_is_replaced_by_the_persons_last_chat(
    tmp_path: Path,
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        home = Chat(platform="fake", address='["77",null,true]')

        def move_home(connection: Connection) -> None:
            delivery_targets.set_home(connection, person_id=ana(connection), chat=home)

        await harness.gateway.database.write("test", move_home)
        home = [Target(kind="home")]
        await give_job(harness, "At home.", "2026-11-20T13:00", targets=home)
        await give_job(harness, "Where she was seen.", "2026-11-20T14:00", targets=home)
        clock.move(harness, hours=1)
        assert (await harness.chat.sees_text("At home.")).chat_id == "77"
        harness.chat.gone.add("77")
        clock.move(harness, hours=1)
        shown = await harness.chat.sees_text("Where she was seen.")
        assert shown.chat_id == "1"
