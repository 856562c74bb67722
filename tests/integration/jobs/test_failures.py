"""Job failures: rooms, unanswered questions, retries, and changes during a run."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import ModelRejected
from agent_core.ids import PersonId
from agent_core.models.contract import Usage
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import JobOwner, JobRequest, JobRules
from agent_core.schedule.triggers import Once, read_cron, read_once
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, Options, Target
from agent_core.state.people import people
from agent_core.state.queues import inbox
from tests.fakes.model import FakeModel, ask, call, list_offered, say
from tests.integration.clock import Clock, asleep
from tests.integration.harness import Harness, running
from tests.integration.jobs.feeds import Feed, feed_served
from tests.integration.jobs_support import over
from tests.patience import PATIENCE

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
DIRECT = '["1",null,true]'
ROOM = '["den",null,false]'
ONCE = read_once("2026-11-20T13:30")
"""Half an hour after the clock below shows, in Berlin."""
DAILY = read_cron("0 8 * * *")


def noon() -> Clock:
    """Return 13:00 in Berlin on a Friday."""
    return Clock(2026, 11, 20, 12, 0)


def ana(connection: Connection) -> PersonId:
    account = people.find_account(connection, platform="fake", user_id="1")
    assert account
    return account.person_id


async def meet(harness: Harness, **fields: object) -> None:
    """Ana says something, so that the gateway knows her and where she is."""
    harness.model.plays.insert(0, say("Hello Ana."))
    await harness.chat.says("hi", **fields)
    await harness.chat.sees_text("Hello Ana.")
    await harness.at_rest()


async def make(harness: Harness, clock: Clock, wish: JobRequest, *, is_room: bool = False) -> Job:
    """Store a job of Ana's, as if she had asked for it."""

    def work(connection: Connection) -> Job:
        room = connection.execute("SELECT id FROM rooms").fetchone() if is_room else None
        whose = JobOwner(person_id=ana(connection), room_id=room and room[0], actor="test")
        rules = JobRules(per_person=2000)
        job = job_editor.draft_job(wish, whose, zone="Europe/Berlin", rules=rules, now=clock())
        return job_editor.create_job(connection, job, rules=rules, now=clock())

    return await harness.gateway.database.write("test", work)


def prompt(timing: Once | object = ONCE, **fields: object) -> JobRequest:
    wish = JobRequest(
        kind="prompt",
        title="Digest",
        body="Write my digest.",
        timing=timing,  # type: ignore[arg-type]
        targets=(Target(kind="place", platform="fake", chat=DIRECT),),
    )
    return replace(wish, **fields)  # type: ignore[arg-type]


def script(*words: str, **fields: object) -> JobRequest:
    return prompt(kind="script", title="Script", body=json.dumps(words), **fields)


async def runs_of(harness: Harness, job: Job) -> Sequence[Run]:
    found = await harness.read(lambda c: job_runs.list_of_job(c, job_id=job.id, limit=100))
    return list(reversed(found))


async def find(harness: Harness, job: Job) -> Job:
    found = await harness.read(lambda c: jobs.find(c, job_id=job.id))
    assert found
    return found


async def ended(harness: Harness, job: Job, count: int = 1) -> list[str]:
    """Return the states of a job's runs once `count` have ended."""
    async with asyncio.timeout(PATIENCE):
        while True:
            states = [run.state for run in await runs_of(harness, job)]
            if sum(state in ("done", "failed", "skipped") for state in states) >= count:
                return states
            await asyncio.sleep(0.002)


async def becomes(
    harness: Harness, job: Job, state: str, attempts: int = 1, *, wakes: bool = False
) -> Run:
    """Return the job's only run once it has this state."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await runs_of(harness, job)
            if found and (found[-1].state, found[-1].attempts) == (state, attempts):
                return found[-1]
            if wakes:
                harness.gateway.wake_jobs()
            await asyncio.sleep(0.002)


def texts(harness: Harness) -> list[str]:
    return [shown.text for shown in harness.chat.shown]


async def test_a_rooms_job_runs_in_the_room(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness, chat="den", direct=False)
        place = Target(kind="place", platform="fake", chat=ROOM)
        job = await make(harness, clock, prompt(targets=(place,)), is_room=True)
        harness.model.plays.append(say("Three things."))
        clock.move(harness, minutes=31)
        shown = await harness.chat.sees_text("Three things.")
        assert shown.chat_id == "den"
        assert await ended(harness, job) == ["done"]


async def test_each_catch_up_run_has_a_new_session(
    tmp_path: Path,
) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY, late="all"))
        harness.model.plays += [say("One."), say("Two."), say("Three.")]
        clock.move(harness, days=3)
        assert await ended(harness, job, 3) == ["done"] * 3
        assert [len(request.messages) for request in harness.model.requests[-3:]] == [1, 1, 1]


async def test_a_waiting_retry_is_not_taken_for_the_first_try(tmp_path: Path) -> None:
    clock = noon()
    gate = asyncio.Event()
    limit = {"TALARIA_TURNS__AT_ONCE": "1"}
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS, **limit) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt())
        harness.model.plays.append([ModelRejected("no")])
        clock.move(harness, minutes=31)
        await becomes(harness, job, "waiting")
        harness.model.plays += [[gate.wait, *say("Chat.")], say("Digest.")]
        await harness.chat.says("hi again")
        await harness.until(lambda: harness.model.streaming == 1)
        clock.move(harness, minutes=2)
        await becomes(harness, job, "running", 2)
        for _ in range(20):
            harness.gateway.wake_jobs()
            await asyncio.sleep(0.005)
        run = (await runs_of(harness, job))[0]
        gate.set()
        assert (run.state, run.attempts) in (("running", 2), ("done", 2))
        assert await ended(harness, job) == ["done"]


async def test_a_run_waits_for_no_answer(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt())
        question = json.dumps({"question": "Which?", "options": ["a", "b"]})
        harness.model.plays += [ask(call("ask", question)), say("Done without.")]
        clock.move(harness, minutes=31)
        await harness.chat.sees_text("Done without.")
        assert await ended(harness, job) == ["done"]
        assert not any("Which?" in text for text in texts(harness))


async def test_files_are_sent_without_the_silence_marker(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt())
        gift = json.dumps({"name": "a.csv", "text": "1,2"})
        harness.model.plays += [ask(call("send_file", gift)), say("[SILENT]")]
        clock.move(harness, minutes=31)
        await ended(harness, job)
        await harness.chat.until(lambda: any(shown.file for shown in harness.chat.shown))
        await harness.at_rest()
        assert not any("SILENT" in text for text in texts(harness))


async def test_recovery_is_reported_without_output(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, script("false", timing=DAILY))
        for count in range(1, 4):
            clock.move(harness, days=1 if count == 1 else 0, minutes=6)
            await becomes(harness, job, "waiting" if count < 3 else "failed", count)
        await harness.chat.sees_text("failed")
        await harness.gateway.database.write(
            "test",
            lambda c: jobs.change(c, replace(_found(c, job), body='["true"]')),
        )
        clock.move(harness, days=1)
        await ended(harness, job, 2)
        await harness.chat.sees_text("After 1 failure, this works again")


def _found(connection: Connection, job: Job) -> Job:
    found = jobs.find(connection, job_id=job.id)
    assert found
    return found


async def test_a_script_of_a_dropped_job_sends_nothing(
    tmp_path: Path,
) -> None:
    clock = noon()
    go = tmp_path / "go"
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        wait = f"while [ ! -e {go} ]; do sleep 0.01; done; echo Here I am."
        job = await make(harness, clock, script("sh", "-c", wait, timing=DAILY))
        await harness.gateway.database.write(
            "test", lambda c: jobs.change(c, replace(_found(c, job), failures=1))
        )
        clock.move(harness, days=1)
        await becomes(harness, job, "running")
        await harness.gateway.database.write(
            "test", lambda c: job_editor.drop_job(c, _found(c, job))
        )
        go.touch()
        await ended(harness, job)
        assert (await find(harness, job)).state == "dropped"
        await harness.at_rest()
        assert not any("Here I am." in text for text in texts(harness))


async def test_a_job_that_deletes_itself_still_sends_its_answer(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY))
        delete = json.dumps({"action": "delete", "job": job.id})
        harness.model.plays += [ask(call("schedule", delete)), say("There are tickets!")]
        clock.move(harness, days=1)
        shown = await harness.chat.sees_text("There are tickets!")
        assert job.title in shown.text
        assert (await find(harness, job)).state == "dropped"


async def test_the_answer_of_a_job_that_somebody_deletes_is_not_sent(tmp_path: Path) -> None:
    clock = noon()
    go = asyncio.Event()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY))
        harness.model.plays.append([go.wait, *say("Too late.")])
        clock.move(harness, days=1)
        await becomes(harness, job, "running")
        await harness.chat.says(f"/jobs delete {job.id}")
        go.set()
        await over(harness, job, 1)
        await harness.at_rest()
        assert not any("Too late." in text for text in texts(harness))


async def test_a_paused_job_is_not_retried(
    tmp_path: Path,
) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY))
        harness.model.plays.append([ModelRejected("no")])
        clock.move(harness, days=1)
        await becomes(harness, job, "waiting")
        await harness.gateway.database.write(
            "test", lambda c: job_editor.pause_job(c, _found(c, job), "")
        )
        clock.move(harness, minutes=2)
        assert await ended(harness, job) == ["skipped"]


async def test_a_paused_job_can_be_run_manually(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY))

        def work(connection: Connection) -> None:
            paused = job_editor.pause_job(connection, _found(connection, job), "")
            job_editor.run_job_now(connection, paused, "k", clock())

        await harness.gateway.database.write("test", work)
        harness.model.plays.append(say("As asked."))
        harness.gateway.wake_jobs()
        await harness.chat.sees_text("As asked.")
        assert (await find(harness, job)).state == "paused"


async def test_longer_quiet_hours_defer_deferred_messages_further(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 22, 0)  # 23:00 in Berlin
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await meet(harness)
        late = read_once("2026-11-20T23:30")
        job = await make(harness, clock, prompt(late, kind="message", body="Bread."))
        clock.move(harness, minutes=31)
        await ended(harness, job)
        await harness.chat.says("/settings quiet_hours 22:00-09:00")
        await harness.at_rest()
        clock.move(harness, hours=7)  # 06:31
        clock.move(harness, hours=1)  # 07:31
        for _ in range(20):
            harness.gateway.wake_jobs()
            await asyncio.sleep(0.005)
        assert "Bread." not in texts(harness)
        clock.move(harness, hours=1, minutes=30)
        await harness.chat.sees_text("Bread.")


async def test_deferred_messages_survive_a_clock_set_back_a_year(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 22, 0)
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await meet(harness)
        late = read_once("2026-11-20T23:30")
        job = await make(harness, clock, prompt(late, kind="message", body="Bread."))
        clock.move(harness, minutes=31)
        await ended(harness, job)
        clock.move(harness, days=-365)
        clock.move(harness, hours=8)
        await harness.chat.sees_text("Bread.")


async def test_a_retry_survives_a_clock_set_back_a_year(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt())
        harness.model.plays += [[ModelRejected("no")], say("At last.")]
        clock.move(harness, minutes=31)
        await becomes(harness, job, "waiting")
        clock.move(harness, days=-365)
        await asleep(harness)
        clock.move(harness, minutes=10)
        await harness.chat.sees_text("At last.")


async def test_a_spent_budget_pauses_no_job(tmp_path: Path) -> None:
    clock = noon()
    limit = {
        "TALARIA_COST__PERSON_DAY_TOKENS": "50000",
        "TALARIA_MODEL__NAME": "fake-1",  # without a price, so that tokens are counted
        "TALARIA_MODEL__MAX_OUTPUT_TOKENS": "256",
    }
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS, **limit) as harness:
        await meet(harness)
        harness.model.plays.append(
            say("Costly.", usage=Usage(input_tokens=100_000, output_tokens=1))
        )
        await harness.chat.says("go on")
        await harness.chat.sees_text("Costly.")
        await harness.at_rest()
        job = await make(harness, clock, prompt(read_cron("*/10 * * * *")))
        before = len(harness.chat.shown)
        for count in range(1, 6):
            clock.move(harness, minutes=10)
            await ended(harness, job, count)
        await harness.at_rest()
        assert (await find(harness, job)).state == "active"
        assert len(harness.chat.shown) == before + 1


async def test_a_command_that_cannot_start_does_not_end_the_gateway(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, script("a\0b"))
        clock.move(harness, minutes=31)
        await becomes(harness, job, "waiting")


async def test_a_command_that_kills_the_gateway_is_given_up(tmp_path: Path) -> None:
    clock = noon()
    said = tmp_path / "said"
    limit = {"TALARIA_TURNS__DRAIN_SECONDS": "0"}
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS, **limit) as harness:
        await meet(harness)
        job = await make(harness, clock, script("sh", "-c", f"echo x >> {said}; sleep 600"))
        clock.move(harness, minutes=31)
        await harness.until(lambda: said.exists() and said.read_text() == "x\n")
    for _ in range(2):
        async with running(tmp_path, FakeModel(), now=clock, **SETTINGS, **limit) as harness:
            await becomes(harness, job, "waiting")
    assert said.read_text().split() == ["x"]


async def test_an_interrupted_run_starts_before_all_others(
    tmp_path: Path,
) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        aware = prompt(DAILY, options=Options(is_aware=True))
        job = await make(harness, clock, aware)
        harness.model.plays.append(say("One."))
        clock.move(harness, days=1)
        await ended(harness, job)

        def leave(connection: Connection) -> None:
            run_id = job_editor.run_job_now(connection, job, "k", clock())
            assert run_id
            job_runs.begin(connection, run_id=run_id, now=clock())
            event = (f"run:{run_id}:1", json.dumps({"run": run_id}))
            inbox.store(connection, platform="schedule", events=[event], now=clock())

        await harness.at_rest()
        await harness.gateway.database.write("test", leave)
    found: list[tuple[object, str] | None] = []

    async def look() -> None:
        run = (await runs_of(harness, job))[-1]
        found.append(await harness.read(lambda c: job_runs.find_turn(c, run_id=run.id)))

    model = FakeModel([look, *say("Two.")])
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.sees_text("Two.")
    assert found[0] is not None


async def test_an_unknown_zone_pauses_only_its_job(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY))
        await harness.gateway.database.write(
            "test", lambda c: jobs.change(c, replace(_found(c, job), zone="Mars/Base"))
        )
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        clock.move(harness, days=1)
        await harness.chat.sees_text("Mars/Base")
        assert (await find(harness, job)).state == "paused"


async def test_a_one_time_ticket_is_no_target(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        ticket = Target(kind="place", platform="fake", chat='["9",null,false,"t1"]')
        wish = prompt(kind="message", body="Bread.", targets=(ticket,))
        await make(harness, clock, wish)
        clock.move(harness, minutes=31)
        shown = await harness.chat.sees_text("Bread.")
        assert (shown.chat_id, shown.ticket) == ("1", None)


async def test_a_persons_jobs_leave_turn_slots_for_their_messages(tmp_path: Path) -> None:
    clock = noon()
    gate = asyncio.Event()
    limit = {"TALARIA_TURNS__PER_PERSON": "1"}
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS, **limit) as harness:
        await meet(harness)
        await make(harness, clock, prompt())
        harness.model.plays += [[gate.wait, *say("Digest.")], say("At once.")]
        clock.move(harness, minutes=31)
        await harness.until(lambda: harness.model.streaming == 1)
        await harness.chat.says("are you there?")
        await harness.chat.sees_text("At once.")
        gate.set()
        await harness.chat.sees_text("Digest.")


async def test_a_one_time_job_that_fails_promises_no_further_times(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, script("false"))
        for count in range(1, 4):
            clock.move(harness, minutes=31 if count == 1 else 6)
            await becomes(harness, job, "waiting" if count < 3 else "failed", count)
        shown = await harness.chat.sees_text("failed")
        assert "Next try" not in shown.text
        assert "Next: not again" not in shown.text


async def test_a_silenced_room_gets_no_job(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness, chat="den", direct=False)
        place = Target(kind="place", platform="fake", chat=ROOM)
        wish = prompt(kind="message", body="Bread.", targets=(place,))
        job = await make(harness, clock, wish, is_room=True)
        await harness.gateway.database.write(
            "test", lambda c: c.execute("UPDATE rooms SET mode = 'off'") and None
        )
        clock.move(harness, minutes=31)
        await ended(harness, job)
        await harness.at_rest()
        assert not any("Bread." in text for text in texts(harness))


async def test_a_run_in_a_room_sees_nothing_private(tmp_path: Path) -> None:
    """Ana's own job runs in a shared room, with the room's prompt."""
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        await meet(harness, chat="den", direct=False)
        place = Target(kind="place", platform="fake", chat=ROOM)
        direct = Target(kind="place", platform="fake", chat=DIRECT)
        await make(harness, clock, prompt(targets=(direct, place)))
        harness.model.plays.append(say("Three things."))
        clock.move(harness, minutes=31)
        await harness.chat.until(
            lambda: sum("Three things." in shown.text for shown in harness.chat.shown) == 2
        )
        alone, _, run = [list_offered(one) for one in harness.model.requests]
        assert "settings" in alone
        assert "settings" not in run


async def test_relative_times_use_the_jobs_zone(tmp_path: Path) -> None:
    clock = noon()
    model = FakeModel()
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await meet(harness)
        wish = prompt(read_once("2026-11-25T08:00"), zone="Asia/Tokyo", kind="message")
        job = await make(harness, clock, wish)
        wanted = json.dumps({"action": "change", "job": job.id, "in_minutes": 20})
        model.plays += [ask(call("schedule", wanted)), say("Changed.")]
        await harness.chat.says("in 20 minutes, please")
        await harness.chat.sees_text("Changed.")
        slot = (await find(harness, job)).next_slot
        assert slot == ("2026-11-20T21:20", clock() + 20 * 60_000)


async def test_a_job_dropped_during_its_change_stays_dropped(
    tmp_path: Path,
) -> None:
    clock = noon()
    model = FakeModel()
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY))
        wanted = json.dumps({"action": "change", "job": job.id, "cron": "0 9 * * *"})
        model.plays += [ask(call("schedule", wanted)), say("Gone already.")]
        await harness.chat.says("at 9, please")
        await harness.chat.sees_text("shall I")
        await harness.gateway.database.write(
            "test", lambda c: job_editor.drop_job(c, _found(c, job))
        )
        await harness.chat.press("Yes, do that")
        await harness.chat.sees_text("Gone already.")
        assert (await find(harness, job)).state == "dropped"
        assert f"job {job.id} has ended or was deleted meanwhile" in str(
            model.requests[-1].messages
        )


async def test_a_change_keeps_what_others_changed_while_it_waited_for_a_yes(
    tmp_path: Path,
) -> None:
    clock = noon()
    model = FakeModel()
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY))
        wanted = json.dumps({"action": "change", "job": job.id, "aware": True})
        model.plays += [ask(call("schedule", wanted)), say("It sees its runs.")]
        await harness.chat.says("let it see its earlier runs")
        await harness.chat.sees_text("shall I")

        def limit(connection: Connection) -> None:
            found = _found(connection, job)
            options = replace(found.options, pause_after=1, gate_seen="abc")
            job_editor.change_job(connection, replace(found, options=options), clock())

        await harness.gateway.database.write("test", limit)
        await harness.chat.press("Yes, do that")
        await harness.chat.sees_text("It sees its runs.")
        options = (await find(harness, job)).options
        assert (options.is_aware, options.pause_after, options.gate_seen) == (True, 1, "abc")


async def test_a_damaged_conversation_is_reported_once(tmp_path: Path) -> None:
    clock = noon()
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        await meet(harness)
        job = await make(harness, clock, prompt(DAILY, options=Options(is_aware=True)))
        harness.model.plays.append(say("One."))
        clock.move(harness, days=1)
        await ended(harness, job)
        await harness.at_rest()
        await harness.gateway.database.write(
            "test",
            lambda c: (
                c.execute(
                    "UPDATE messages SET text = replace(text, 'One.', 'Two.')"
                    " WHERE turn_id IN (SELECT id FROM turns WHERE run_id IS NOT NULL)"
                )
                and None
            ),
        )
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        clock.move(harness, days=1)
        for count in range(1, 4):
            await becomes(harness, job, "waiting" if count < 3 else "failed", count, wakes=True)
            clock.move(harness, minutes=6)
        await harness.chat.sees_text("failed")
        await harness.at_rest()
        assert len(harness.chat.shown) == 1


@pytest.mark.parametrize(("verb", "done"), [("delete", "I've deleted"), ("pause", "is paused")])
async def test_a_job_that_is_dropped_while_its_gate_is_checked_calls_no_model(
    tmp_path: Path, verb: str, done: str
) -> None:
    clock, feed = noon(), Feed()
    feed.media_type = "application/json"  # read without a process, which may be slow to start
    feed.answers.clear()
    async with feed_served(feed) as host:
        settings = {**SETTINGS, "TALARIA_DIGEST__ALLOW_HOSTS": host}
        async with running(tmp_path, FakeModel(), now=clock, **settings) as harness:
            await meet(harness)
            options = Options(gate=f"page http://{host}/feed", pause_after=3)
            wish = JobRequest(kind="prompt", body="Sum up.", timing=DAILY, options=options)
            job = await make(harness, clock, wish)
            clock.move(harness, days=1)
            async with asyncio.timeout(PATIENCE):
                await feed.asked.wait()
            await harness.chat.says(f"/jobs {verb} {job.id}")
            await harness.chat.sees_text(done)
            feed.answers.set()
            (run,) = await over(harness, job, 1)
            assert run.state == "skipped"
            assert len(harness.model.requests) == 1
