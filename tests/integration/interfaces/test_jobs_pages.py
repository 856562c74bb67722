"""The pages about jobs: calendar, forms, undo, and what comes back after it was deleted."""

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp

from agent_core.chats import Chat
from agent_core.ids import JobId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job, Target
from agent_core.state.people import people, rooms
from agent_core.state.queues import deferred_messages
from agent_core.state.queues.deferred_messages import NewDeferredMessage
from gateway.interfaces.contexts import open_context
from gateway.operations.job_types import AddJob
from gateway.operations.jobs import add
from gateway.operations.wire import load
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.served import Served, served
from tests.tables import await_each

NOW = 1_800_000_000_000
"""2027-01-15 08:00 UTC, a Friday."""
_VERSION = re.compile(r'name="version" value="(\d+)">')


@asynccontextmanager
async def at_noon(home: Path) -> AsyncIterator[tuple[Served, FakeChat]]:
    """A gateway at a fixed time."""
    chat = FakeChat(limit=100_000)
    async with served(home, adapters={"fake": chat}, model=FakeModel(), now=lambda: NOW) as running:
        yield running, chat


async def make_job(running: Served, slug: str = "zebrana", **fields: object) -> int:
    """Make a job by the operation of the command line."""
    asked = {"person": slug, "kind": "message", "text": "Water the plants", **fields}
    made = await add(open_context(running.gateway), load(AddJob, asked))
    return int(made.id)


async def find_job(running: Served, number: int) -> Job:
    found = await running.gateway.database.read(lambda c: jobs.find(c, job_id=JobId(number)))
    assert found is not None
    return found


async def send(session: aiohttp.ClientSession, path: str, form: dict[str, str]) -> tuple[int, str]:
    """Send a form; the status and the page that follows."""
    async with session.post(path, data=form) as answer:
        return answer.status, html.unescape(await answer.text())


async def read(session: aiohttp.ClientSession, path: str) -> str:
    async with session.get(path) as answer:
        assert answer.status == 200, path
        return html.unescape(await answer.text())


async def test_a_job_is_changed_and_gets_back_what_it_was(home: Path) -> None:
    rows: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({"title": "Garden", "text": "Water\r\nthem"}, {"title": "Garden", "body": "Water\nthem"}),
        ({"title": "Water the plants", "urgent": "yes", "late": "skip"}, {"late": "skip"}),
        ({"to": "fake"}, {"targets": (Target(kind="account", platform="fake"),)}),
        ({"when": "cron", "cron": "30 7 * * 1-5"}, {"timing": "cron 30 7 * * 1-5"}),
        ({"when": "at", "at": "2027-02-01T08:00"}, {"timing": "once 2027-02-01T08:00"}),
        ({"when": "on", "on": "message invoice"}, {"next_slot": None}),
        ({"when": "every_minutes", "every_minutes": "90"}, {"next_slot": None}),
        ({"when": "times", "times": "18:30, 07:00", "rule": "FREQ=WEEKLY;BYDAY=MO"}, {}),
        ({"zone": "Asia/Tokyo"}, {"zone": "Asia/Tokyo"}),
    ]
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:

        async def check(row: tuple[dict[str, str], dict[str, Any]]) -> None:
            form, expected = row
            number = await make_job(running, cron="0 9 * * *", zone="Europe/Vienna")
            before = await find_job(running, number)
            status, text = await send(session, f"/jobs/{number}/change", form)
            assert status == 200, text
            assert "The reminder has been changed." in text
            changed = await find_job(running, number)
            assert changed != before
            if form.get("when") != "every_minutes":
                assert {name: getattr(changed, name) for name in expected} == expected
            found = _VERSION.search(text)
            assert found is not None
            status, text = await send(session, f"/jobs/{number}/undo", {"version": found[1]})
            assert status == 200, text
            assert await find_job(running, number) == before

        await await_each(rows, check)


async def test_a_refused_change_says_why_keeps_the_fields_and_loses_nothing(home: Path) -> None:
    rows: list[tuple[dict[str, str], str]] = [
        ({"when": "cron", "cron": "61 9 * * *"}, "is not a cron expression"),
        ({"when": "at", "at": "2026-01-01T08:00"}, "That time is past"),
        ({"when": "at", "at": "tomorrow"}, "is not a time; the nearest form is"),
        ({"when": "every_minutes", "every_minutes": "two"}, "a number of minutes, like 90"),
        ({"when": "on", "on": "after 99"}, "there is no job 99 here"),
        ({"zone": "Mars"}, "'Mars' is not a time zone"),
        ({"title": "Water the plants", "model": "x"}, "there is no model x here"),
        ({"title": "Water the plants", "text": ""}, "The text is missing."),
        ({"title": "Water the plants"}, "You changed nothing"),
        ({"to": "mars"}, "You changed nothing"),
    ]
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        number = await make_job(running, cron="0 9 * * *")
        before = await find_job(running, number)

        async def check(row: tuple[dict[str, str], str]) -> None:
            form, words = row
            status, text = await send(session, f"/jobs/{number}/change", form)
            assert words in text
            assert status == (200 if "You changed nothing" in words else 422)
            assert await find_job(running, number) == before
            if status == 422 and "when" in form:
                assert f'value="{form[form["when"]]}"' in text

        await await_each(rows, check)


async def test_a_refusal_is_in_the_language_of_its_reader(home: Path) -> None:
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        await send(session, "/settings", {"language": "de", "shown": "language"})
        number = await make_job(running, cron="0 9 * * *")
        change = f"/jobs/{number}/change"
        for path, form, words in (
            (change, {"when": "cron", "cron": "0 9 31 2 *"}, "Den 31. Februar gibt es nie."),
            (change, {"when": "at", "at": "2026-01-01T08:00"}, "Wähle eine spätere."),
            (change, {"when": "on", "on": "after 99"}, "So geht die Erinnerung nicht"),
            (change, {"title": "Water the plants", "text": ""}, "Der Text fehlt."),
        ):
            status, text = await send(session, path, form)
            assert (status >= 400, words in html.unescape(text)) == (True, True), (path, text)


async def test_the_way_back_outlives_the_gateway_and_can_be_undone(home: Path) -> None:
    async with at_noon(home) as (running, chat):
        number = await make_job(running, cron="0 9 * * *")
        async with browse_as(running, chat, ZEBRANA) as session:
            assert "Earlier versions" not in await read(session, f"/jobs/{number}")
            for title in ("Garden", "Balcony"):
                await send(session, f"/jobs/{number}/change", {"title": title, "text": title})
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        text = (await read(session, f"/jobs/{number}")).partition("Earlier versions")[2]
        latest, first = _VERSION.findall(text)
        assert text.index("Garden") < text.index("Water the plants")
        for version, title in ((first, "Water the plants"), (latest, "Garden")):
            await send(session, f"/jobs/{number}/undo", {"version": version})
            job = await find_job(running, number)
            assert (job.title, job.body) == (title, title)
        text = await read(session, f"/jobs/{number}")
        undo = _VERSION.findall(text)[0]
        await send(session, f"/jobs/{number}/undo", {"version": undo})
        assert (await find_job(running, number)).title == "Water the plants"


async def test_a_job_gets_back_only_its_own_versions(home: Path) -> None:
    async with at_noon(home) as (running, chat):
        number = await make_job(running, cron="0 9 * * *")
        other = await make_job(running, cron="0 10 * * *", text="Feed the cat")
        olgas = await make_job(running, "olga", cron="0 9 * * *", text="greyowl")
        async with browse_as(running, chat, ZEBRANA) as session:
            _, text = await send(session, f"/jobs/{number}/change", {"zone": "Asia/Tokyo"})
            found = _VERSION.search(text)
            assert found is not None
            for path, version, expected in (
                (f"/jobs/{other}/undo", found[1], 422),
                (f"/jobs/{number}/undo", "", 422),
                (f"/jobs/{number}/undo", "9" * 30, 422),
                (f"/jobs/{olgas}/undo", found[1], 404),
                (f"/jobs/{olgas}/change", found[1], 404),
                (f"/jobs/{olgas}/restore", found[1], 404),
            ):
                status, text = await send(session, path, {"version": version})
                assert status == expected, path
                assert "greyowl" not in text
        assert (await find_job(running, number)).zone == "Asia/Tokyo"


async def test_a_deleted_job_comes_back_as_it_was(home: Path) -> None:
    async with at_noon(home) as (running, chat):
        active = await make_job(running, cron="0 9 * * *")
        paused = await make_job(running, cron="0 9 * * *", text="Feed the cat")
        async with browse_as(running, chat, ZEBRANA) as session:
            await send(session, f"/jobs/{paused}/pause", {})
            before = [await find_job(running, number) for number in (active, paused)]
            for number in (active, paused):
                _, text = await send(session, f"/jobs/{number}/delete", {})
                assert '<h2 id="deleted">Deleted</h2>' in text
            async with session.get(f"/jobs/{active}") as answer:
                assert answer.status == 404
            for number in (active, paused):
                status, text = await send(session, f"/jobs/{number}/restore", {})
                assert status == 200
            assert '<h2 id="deleted">' not in text
            status, text = await send(session, f"/jobs/{active}/restore", {})
            assert (status, "is active and can't be restored" in text) == (409, True)
        after = [await find_job(running, number) for number in (active, paused)]
        assert [(one.state, one.reason, one.timing) for one in after] == [
            (one.state, one.reason, one.timing) for one in before
        ]
        assert after[0].next_slot == before[0].next_slot


async def test_reminders_are_a_line_each_by_day_in_words_for_people(home: Path) -> None:
    async with at_noon(home) as (running, chat):
        await make_job(running, cron="0 8 * * 1", zone="UTC", text="Bins")
        await make_job(running, at="2027-01-16T09:00", zone="UTC", text="call Ben")
        await make_job(running, at="2027-01-15T18:15", zone="UTC", text="Buy bread")
        await make_job(running, cron="0 19 * * 1#1", zone="UTC", text="Book club")
        await make_job(running, times=["07:30"], rule="FREQ=DAILY", zone="UTC", text="Stretch")
        await make_job(running, on="message invoice", text="Pay it")
        paused = await make_job(running, cron="0 9 * * *", zone="UTC", text="Old habit")
        async with browse_as(running, chat, ZEBRANA) as session:
            await send(session, "/settings", {"name": "time_zone", "set-time_zone": "UTC"})
            await send(session, f"/jobs/{paused}/pause", {})
            page = (await read(session, "/jobs")).partition('id="page"')[2]
            today = (await read(session, "/today")).partition('id="page"')[2]
    parts = re.findall(r"<h2.*?</h2>|<li.*?(?=<details)", page, re.DOTALL)
    shown = [" ".join(re.sub(r"<[^>]+>", " ", one).split()) for one in parts]
    assert shown == [
        "Today",
        "18:15 Buy bread",
        "Tomorrow",
        "7:30 Stretch Every day, 7:30",
        "9:00 call Ben",
        "Mon 18 Jan",
        "8:00 Bins Every Monday, 8:00",
        "Mon 1 Feb",
        "19:00 Book club Every month on the first Monday, 19:00",
        "When something happens",
        "Pay it Whenever a message contains “invoice”",
        "Paused",
        "Old habit Every day, 9:00",
    ]
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", today)
    assert heads == ["Still to come today", "Done today"], "the pause was done today"
    assert re.search(r">18:15</time></span> .*Buy bread", today)
    assert "call Ben" not in today
    assert re.search(r"After that: .*tomorrow, 7:30</time> · .*Stretch", today)


async def test_a_new_time_is_said_in_words_and_keeps_the_rest(home: Path) -> None:
    rows = [
        ("every monday at 8:00", "cron 0 8 * * 1"),
        ("10:30", "cron 30 10 * * *"),
        ("jeden Montag um 8:00", "cron 0 8 * * 1"),
    ]
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        for words, timing in rows:
            number = await make_job(running, cron="0 9 * * *", zone="UTC")
            page = await read(session, f"/jobs/{number}")
            assert page.index('name="words"') < page.index('id="exactly"') < page.index("Cron")
            assert '<details id="exactly">' in page, "the exact fields are folded"
            status, text = await send(session, f"/jobs/{number}/change", {"words": words})
            assert (status, "The reminder has been changed." in text) == (
                200,
                True,
            ), text
            assert (await find_job(running, number)).timing == timing
        status, text = await send(session, f"/jobs/{number}/change", {"words": "blue moon"})
        assert status == 422
        assert "I can't read “blue moon” as a time." in text
        assert 'value="blue moon"' in text


async def test_the_calendar_begins_with_this_week_and_shows_five(home: Path) -> None:
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        coming = await read(session, "/jobs/calendar")
        days = re.findall(r'<time datetime="([^"]+)"', coming)
        assert (days[0], days[-1], len(days)) == ("2027-01-11", "2027-02-14", 35)
        assert 'class="beyond' not in coming
        seen = re.sub(r'<span class="quiet">[^<]*</span>', "", coming.partition('class="days"')[2])
        cells = [" ".join(one.split()) for one in re.findall(r"<time.*?</time>", seen)]
        named = [re.sub(r"<[^>]+>", "", one) for one in cells]
        assert [one for one in named if len(one.split()) > 2] == [
            "Mon 11 January",
            "Mon 1 February",
        ]
        for month, first in (("2027-01", "2026-12-28"), ("2027-03", "2027-03-01")):
            shown = await read(session, f"/jobs/calendar?month={month}")
            assert re.findall(r'<time datetime="([^"]+)"', shown)[0] == first


def pick_day(text: str, day: str) -> str:
    """The part of a calendar that shows a day."""
    return text.partition(f'<time datetime="{day}" ')[2].partition("<h2")[0]


async def test_the_calendar_shows_past_and_planned_runs_in_the_persons_time_zone(
    home: Path,
) -> None:
    async with at_noon(home) as (running, chat):
        zone = "Asia/Tokyo"  # nine hours ahead: 23:30 in Vienna is the next morning there
        number = await make_job(running, cron="30 23 * * *", zone="Europe/Vienna")
        often = await make_job(running, every_minutes=10, text="Look outside")
        waits = await make_job(running, on="message invoice", text="Pay it")
        await make_job(running, "olga", cron="0 9 * * *", text="greyowl")
        ran = NOW - 86_400_000

        def run(connection: Any) -> None:
            run_id = job_runs.claim(
                connection, job_id=JobId(number), slot=("s", ran), due_at=ran, now=ran
            )
            assert run_id is not None
            job_runs.end(connection, run_id=run_id, state="failed", now=ran, reason="crashed")

        await running.gateway.database.write("test", run)
        async with browse_as(running, chat, ZEBRANA) as session:
            await send(session, "/settings", {"name": "time_zone", "set-time_zone": zone})
            month = await read(session, "/jobs/calendar?month=2027-01")
            assert "<h1>January 2027</h1>" in month
            assert "Times in Tokyo." in month
            past = pick_day(month, "2027-01-14")
            assert re.search(r"17:00</time> .*Water the plants.*failed", past)
            assert "planned" not in past
            coming = pick_day(month, "2027-01-17")
            assert re.search(r">7:30</time> .*Water the plants.*planned", coming)
            assert re.search(r">0:00</time> .*Look outside.*Every 10 minutes", coming)
            assert coming.count("Look outside") == 1
            assert "Pay it" not in month
            assert "greyowl" not in month
            week = await read(session, "/jobs/calendar?week=2027-01-17")
            assert "<h1>Week from Mon 11 Jan</h1>" in week
            assert "Water the plants" in pick_day(week, "2027-01-17")
            assert week.count("<h2 ") == 7
            later = await read(session, "/jobs/calendar?month=2027-03")
            assert re.search(r">7:30</time> .*Water", pick_day(later, "2027-03-10"))
            for bad in ("month=13", "week=x", "month=9999-12", "week=0001-01-01", "month=a&b=" * 9):
                shown = await read(session, f"/jobs/calendar?{bad}")
                assert "Times in Tokyo." in shown
            await send(session, f"/jobs/{often}/delete", {})
            await send(session, f"/jobs/{waits}/delete", {})
            await send(session, f"/jobs/{number}/pause", {})
            empty = await read(session, "/jobs/calendar?month=2027-06")
            assert "Nothing happened here, and nothing is planned." in empty


async def test_the_calendar_counts_what_it_does_not_list(home: Path) -> None:
    async with at_noon(home) as (running, chat):
        often = await make_job(running, every_minutes=180, text="Look outside", zone="UTC")
        for hour in range(1, 10):
            await make_job(running, cron=f"0 {hour} * * *", text=f"Call {hour}", zone="UTC")
        midnight = NOW - 32 * 3_600_000  # of 2027-01-14

        def run(connection: Any) -> None:
            for number in range(20):
                at = midnight + number * 3_600_000
                run_id = job_runs.claim(
                    connection, job_id=JobId(often), slot=(f"s{number}", at), due_at=at, now=at
                )
                assert run_id is not None
                state: Any = "failed" if number % 10 == 3 else "done"
                job_runs.end(connection, run_id=run_id, state=state, now=at)

        await running.gateway.database.write("test", run)
        async with browse_as(running, chat, ZEBRANA) as session:
            await send(session, "/settings", {"name": "time_zone", "set-time_zone": "UTC"})
            month = await read(session, "/jobs/calendar")
            past = pick_day(month, "2027-01-14")
            assert re.search(r'class="failed".*>0:00</time> .*20 runs, 2 failed', past)
            assert past.count("Look outside") == 1
            coming = pick_day(month, "2027-01-20")
            assert re.findall(r"Call (\d)", coming) == ["1", "2", "3", "4", "5", "6"]
            assert "and 4 more reminders</a>" in coming
            assert 'href="/jobs/calendar?week=2027-01-20#day-2027-01-20"' in coming
            week = pick_day(await read(session, "/jobs/calendar?week=2027-01-20"), "2027-01-20")
            assert re.findall(r"Call (\d)", week) == [str(hour) for hour in range(1, 10)]
            assert week.count("Look outside") == 8
            for hour in range(10, 20):
                await make_job(running, cron=f"{hour} */4 * * *", text=f"Ask {hour}", zone="UTC")
            week = pick_day(await read(session, "/jobs/calendar?week=2027-01-20"), "2027-01-20")
            assert '<a href="/jobs" aria-label="and 6 more reminders on Wed 20 Jan">' in week


async def test_the_calendar_of_many_jobs_stays_small(setup: Setup) -> None:
    for number in range(50):
        await make_job(setup.served, "zebrana", every_minutes=1, text=f"Look {number}")
    zebrana = await find_named(setup, "zebrana")
    assert (
        len(
            await setup.served.gateway.database.read(
                lambda c: jobs.list_of_person(c, person_id=zebrana.id)
            )
        )
        >= 50
    )
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for path in (
            "/jobs",
            "/jobs/calendar",
            "/jobs/calendar?month=2027-03",
            "/jobs/calendar?week=",
        ):
            assert len((await read(session, path)).encode()) < 80_000, path


async def test_a_reminder_in_quiet_hours_says_so_and_can_come_anyway(home: Path) -> None:
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        await rest(running, 7 * 60, 12 * 60)
        quiet = "Your quiet hours are 07:00-12:00."
        form = {"text": "Call Ada", "when": "every day at 10:00", "kind": "message"}
        for path in ("/jobs/new/times", "/jobs/new"):
            status, text = await send(session, path, form)
            assert status == 200
            assert f"{quiet} So the reminder comes after that: today, 12:00." in text, path
        assert "waits for your quiet time to end: today, 12:00" in await read(session, "/jobs")
        way = re.search(r'action="(/jobs/(\d+)/urgent)"', text)
        assert way is not None
        status, text = await send(session, way[1], {})
        assert (status, "The reminder comes in your quiet time, too." in text) == (200, True)
        assert (await find_job(running, int(way[2]))).is_urgent
        assert "waits for your quiet time" not in await read(session, "/jobs")
        async with browse_as(running, chat, OLGA) as other:
            assert (await send(other, way[1], {}))[0] == 404


async def test_a_reminder_whose_next_time_is_not_quiet_is_not_said_to_wait(home: Path) -> None:
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        await rest(running, 9 * 60, 12 * 60)
        form = {"text": "Stretch", "when": "every 45 minutes", "kind": "message"}
        status, text = await send(session, "/jobs/new", form)
        assert status == 200
        assert "What falls in your quiet time comes when it ends: today, 12:00." in text
        assert "waits for your quiet time" not in text


async def test_a_named_moment_counts_in_quiet_hours_as_in_chat(home: Path) -> None:
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        await rest(running, 7 * 60, 12 * 60)
        for when in ("in 2 minutes", "today at 10:00"):
            form = {"text": f"Call Ada {when}", "when": when, "kind": "message"}
            for path in ("/jobs/new/times", "/jobs/new"):
                status, text = await send(session, path, form)
                assert status == 200
                quiet = "Your quiet hours are 07:00-12:00. The reminder comes all the same."
                assert quiet in text, (when, path)
            assert "waits for your quiet time" not in text
            zebrana = next(
                one
                for one in await running.gateway.database.read(people.list_all)
                if one.slug == "zebrana"
            )
            made = await running.gateway.database.read(jobs.list_of_person, person_id=zebrana.id)
            assert all(job.is_urgent for job in made), when


async def test_a_reminder_that_waits_is_not_called_done(home: Path) -> None:
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        await rest(running, 7 * 60, 12 * 60)
        number = await make_job(running, at="2027-01-15T09:00", text="Call Ada")
        there = Chat(platform="fake", address=f'["{ZEBRANA}",null,true]')

        def run(connection: Connection) -> None:
            job = jobs.find(connection, job_id=JobId(number))
            assert job is not None
            at = NOW - 60_000
            run_id = job_runs.claim(connection, job_id=job.id, slot=("s", at), due_at=at, now=NOW)
            assert run_id is not None
            assert job.person_id is not None
            job_runs.end(connection, run_id=run_id, state="done", now=NOW)
            held = NewDeferredMessage(
                person_id=job.person_id,
                chat=there,
                title="Call Ada",
                body="⏰ Call Ada",
                release_at=NOW + 4 * 3_600_000,
                run_id=run_id,
            )
            deferred_messages.defer(connection, held, now=NOW)

        await running.gateway.database.write("test", run)
        day = pick_day(await read(session, "/jobs/calendar"), "2027-01-15")
        assert re.search(r"7:59</time> .*Call Ada.*quiet time to end: today, 12:00", day)
        assert "done" not in day
        listed = await read(session, "/jobs")
        assert "Waiting for your quiet time to end" in listed
        coming = (await read(session, "/today")).partition('id="waiting"')[0]
        assert re.search(r"12:00</time></span>.*Call Ada.*waits for your quiet time", coming)


async def rest(running: Served, start: int, end: int) -> None:
    """Give Zebrana quiet hours, in minutes of the day."""

    def work(connection: Connection) -> None:
        person = next(one for one in people.list_all(connection) if one.slug == "zebrana")
        quiet = replace(person, time_zone="UTC", quiet_from=start, quiet_until=end)
        people.set_preferences(connection, quiet)

    await running.gateway.database.write("test", work)


async def test_a_reminder_of_a_group_names_the_group(home: Path) -> None:
    async with at_noon(home) as (running, chat), browse_as(running, chat, ZEBRANA) as session:
        number = await make_job(running, cron="0 9 * * *")
        assert "in Kitchen" not in await read(session, "/jobs")

        def give(connection: Connection) -> None:
            room = rooms.insert(
                connection, platform="fake", chat_id="k", title="Kitchen", slug="kitchen", now=NOW
            )
            connection.execute("UPDATE jobs SET room_id = ? WHERE id = ?", (room.id, number))

        await running.gateway.database.write("test", give)
        for path in ("/jobs", f"/jobs/{number}"):
            assert "in Kitchen" in await read(session, path)
