"""A cheap gate runs before a prompt job and decides whether to call the model."""

import asyncio
import sys

import pytest

from agent_core.ids import JobId
from agent_core.state.jobs import job_runs, waiting_jobs
from agent_core.state.jobs.job_runs import Run
from tests.emulators.sources import Sources
from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.integration.processes import talaria
from tests.journeys.accounts import Account, texts
from tests.journeys.stage import PATIENCE, Harness, Stage, call, calls, results

FRIDAY = (2026, 11, 20, 12)
REACHED = {"TALARIA_DIGEST__ALLOW_HOSTS": "127.0.0.1"}
ENTRY = "<item><title>{0}</title><link>https://news.example/{0}</link></item>"
JOB = JobId(4)


def feed(*titles: str) -> str:
    items = "".join(ENTRY.format(title) for title in titles)
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'


def calendar(day: str) -> str:
    """Return a calendar with one event that lasts all day."""
    lines = ("VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:1", "DTSTAMP:20261101T000000Z")
    event = (f"DTSTART;VALUE=DATE:{day}", "SUMMARY:Bins", "END:VEVENT")
    return "\r\n".join(("BEGIN:VCALENDAR", *lines, *event, "END:VCALENDAR", ""))


async def make_job(harness: Harness, anna: Account, gate: str) -> None:
    asked = {"action": "create", "kind": "prompt", "title": "News", "text": "Tell the news."}
    harness.stage.plan(calls(call("schedule", cron="0 * * * *", gate=gate, **asked)), "Made.")
    await harness.notes(anna.says("tell me the news, hourly, if there is any"))
    await harness.asks(anna, "Yes, do that")
    await harness.press(anna, "Yes, do that")


async def advance_hour(harness: Harness, clock: Clock, count: int) -> Run:
    """Advance one hour; return the newest run once `count` runs have ended."""
    clock.move(harness, hours=1)
    found: list[Run] = []
    try:
        async with asyncio.timeout(PATIENCE):
            while len(found) != count or found[0].ended_at is None:
                found = await harness.gateway.database.read(
                    lambda c: job_runs.list_of_job(c, job_id=JOB, limit=10)
                )
                await asyncio.sleep(0.01)
    except TimeoutError:
        pytest.fail(f"not {count} runs over: {found}")
    await harness.at_rest()
    return found[0]


async def failed(harness: Harness, attempt: int) -> None:
    """Return once `attempt` tries of the newest run have failed and it waits for the next."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await harness.gateway.database.read(
                lambda c: job_runs.list_of_job(c, job_id=JOB, limit=1)
            )
            if [(run.attempts, run.state) for run in found] == [(attempt, "waiting")]:
                return
            await asyncio.sleep(0.002)


async def test_a_feed_without_news_calls_no_model(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with Sources() as web, stage.open(**REACHED) as harness:
        address = web.serve("/feed", feed("One"), "application/rss+xml")
        await make_job(harness, anna, f"feed {address}")
        shown = next(text for text in texts(anna) if "shall I" in text)
        assert f"Only if there is something new: “{address}”" in shown
        calls_before = len(stage.model.requests)
        stage.plan("News: One.")
        assert (await advance_hour(harness, clock, 1)).state == "done"
        assert "News: One." in texts(anna)[-1]
        calls_after = len(stage.model.requests)
        assert calls_after > calls_before
        run = await advance_hour(harness, clock, 2)
        assert (run.state, run.reason) == ("skipped", job_runs.GATED)
        assert len(stage.model.requests) == calls_after
        web.serve("/feed", feed("Two", "One"), "application/rss+xml")
        stage.plan("News: Two.")
        assert (await advance_hour(harness, clock, 3)).state == "done"
        assert "News: Two." in texts(anna)[-1]
        assert "skipped (its condition wasn't met)" in await harness.hears(anna, "/jobs 4")


async def test_a_condition_on_a_page_opens_the_gate(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with Sources() as web, stage.open(**REACHED) as harness:
        address = web.serve("/price", '{"item": 7, "price": 120.5}', "application/json")
        await make_job(harness, anna, f"page {address} below 100 after price")
        assert (await advance_hour(harness, clock, 1)).reason == job_runs.GATED
        web.serve("/price", '{"item": 7, "price": 99}', "application/json")
        stage.plan("It is cheap now.")
        assert (await advance_hour(harness, clock, 2)).state == "done"
        assert "It is cheap now." in texts(anna)[-1]


async def test_a_calendar_opens_the_gate_on_days_with_an_event_only(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with Sources() as web, stage.open(**REACHED) as harness:
        address = web.serve("/bins.ics", calendar("20261121"), "text/calendar")
        await make_job(harness, anna, f"calendar {address}")
        shown = next(text for text in texts(anna) if "shall I" in text)
        assert f"Only on days with an event in the calendar “{address}”" in shown
        asked = len(stage.model.requests)
        assert (await advance_hour(harness, clock, 1)).reason == job_runs.GATED
        assert len(stage.model.requests) == asked
        web.serve("/bins.ics", calendar("20261120"), "text/calendar")
        stage.plan("The bins go out today.")
        assert (await advance_hour(harness, clock, 2)).state == "done"
        assert "The bins go out today." in texts(anna)[-1]
        web.serve("/bins.ics", "not a calendar", "text/calendar")
        turns = len(stage.turns)
        clock.move(harness, hours=1)
        await failed(harness, 1)
        assert len(stage.turns) == turns


async def test_an_unreachable_page_is_a_failure(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with Sources() as web, stage.open(**REACHED) as harness:
        await make_job(harness, anna, f"page {web.url}/none contains snow")
        turns = len(stage.turns)
        clock.move(harness, hours=1)
        for attempt, minutes in ((1, 1), (2, 5)):
            await failed(harness, attempt)
            clock.move(harness, minutes=minutes)
        await harness.until(lambda: "I couldn't check the reminder's condition." in texts(anna)[-1])
        assert len(stage.turns) == turns


async def test_only_the_command_line_sets_a_command_as_a_gate(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with stage.open() as harness:
        asked = {"action": "create", "kind": "prompt", "text": "Go."}
        stage.plan(calls(call("schedule", cron="0 * * * *", gate="script true", **asked)), "No.")
        await harness.hears(anna, "go, if true")
        assert "can only be set by `talaria jobs`" in results(stage.turns[-1])[0]
    flag = stage.home / "flag"
    gate = f"script {sys.executable} -c 'import os, sys; sys.exit(not os.path.exists(\"flag\"))'"
    job = ("--cron", "0 * * * *", "--prompt", "Go.", "--gate", gate)
    made = talaria(stage.home, "jobs", "add", "--person", "anna", *job)
    assert made.code == 0, made.err
    assert "Only if this command succeeds" in made.out
    async with stage.open() as harness:
        # The command planned the first run by the real clock; the scheduler plans it by this one.
        async with asyncio.timeout(PATIENCE):
            next_at = waiting_jobs.find_next_personal_at
            while (await harness.gateway.database.read(next_at) or 0) > clock() + 3_600_000:
                await asyncio.sleep(0.002)
        assert (await advance_hour(harness, clock, 1)).reason == job_runs.GATED
        flag.touch()
        stage.plan("Gone.")
        assert (await advance_hour(harness, clock, 2)).state == "done"
        assert "Gone." in texts(anna)[-1]
