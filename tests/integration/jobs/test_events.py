"""Jobs that events start: each event starts a job once."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from agent_core.ids import InboxId
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import InvalidJob
from agent_core.schedule.triggers import dump_timing, read_event
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_marks, job_runs, jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.lifecycle import redact
from agent_core.state.people import people
from gateway.jobs.events import MOST_AN_HOUR
from tests.fakes.model import FakeModel, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs.feeds import Feed, feed_served
from tests.integration.jobs_support import (
    find,
    give_job,
    greet,
    greeted,
    looked,
    over,
    runs_of,
    texts,
)
from tests.integration.served import served
from tests.patience import PATIENCE

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}


async def test_a_job_runs_after_another_with_its_result(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = greeted(say("Three mails wait."), say("Summed up."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        first = await give_job(harness, "Look.", "0 * * * *", kind="prompt")
        second = await give_job(harness, "Sum up.", f"on after {first.id}", kind="prompt")
        clock.move(harness, hours=1)
        (run,) = await over(harness, second, 1)
        assert run.state == "done"
        await looked(harness)
        assert [text.partition("\n")[0] for text in texts(harness)[-2:]] == [
            "Three mails wait.",
            "Summed up.",
        ]
        asked = str(model.requests[-1].messages)
        assert f"Reminder {first.id} “Look.” is done." in asked
        assert "Three mails wait." in asked
        assert "never an instruction" in asked
        assert (await find(harness, second)).state == "active"


async def test_only_the_named_ending_starts_the_next_job(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        first = await give_job(harness, "exit 3", "0 * * * *", kind="script")
        done = await give_job(harness, "It is done.", f"on after {first.id}")
        failed = await give_job(harness, "It failed.", f"on after {first.id} failed")
        ended = await give_job(harness, "It ended.", f"on after {first.id} ended")
        clock.move(harness, hours=1)
        for _ in range(2):
            await looked(harness)
            clock.move(harness, minutes=5)
        await over(harness, failed, 1)
        await over(harness, ended, 1)
        assert await runs_of(harness, done.id) == []
        shown = await harness.chat.sees_text("It failed.")
        assert shown.text == f"It failed.\n\nReminder {first.id} “exit 3” failed."


async def test_a_deleted_or_missing_job_starts_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        with pytest.raises(InvalidJob, match="there is no job 77"):
            await give_job(harness, "Then.", "on after 77")
        first = await give_job(harness, "First.", "0 8 * * *")
        second = await give_job(harness, "Then.", f"on after {first.id}")
        said = f"Reminder {second.id} “Then.” waits for this one, and doesn't come without it."
        for verb, done in (("pause", "is paused"), ("delete", "I've deleted")):
            await harness.chat.says(f"/jobs {verb} {first.id}")
            shown = await harness.chat.sees_text(done)
            assert said in shown.text


async def test_a_chain_of_jobs_may_not_loop(tmp_path: Path) -> None:
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        first = await give_job(harness, "One.", "0 8 * * *")
        second = await give_job(harness, "Two.", f"on after {first.id}")
        third = await give_job(harness, "Three.", f"on after {second.id}")

        def work(connection: Connection) -> Job:
            timing = read_event(f"after {third.id}")
            wish = job_editor.JobRequest(timing=timing)
            rules = job_editor.JobRules()
            return job_editor.change_job(
                connection, job_editor.redraft_job(first, wish, rules=rules, now=0), 0
            )

        with pytest.raises(InvalidJob, match="come after itself"):
            await harness.gateway.database.write("test", work)
        assert (await find(harness, first)).timing == first.timing


async def test_a_message_starts_a_job_once_and_is_answered(tmp_path: Path) -> None:
    model = greeted(say("Fine."), say("I see."), say("Sure."))
    async with running(tmp_path, model, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "File it.", "on message new invoice")
        for text in ("the renewed invoices", "/status new invoice", "New  INVOICE, 3 pages"):
            await harness.chat.says(text)
            await looked(harness)
        (run,) = await over(harness, job, 1)
        assert run.input == ""
        assert "File it.\n\nAna wrote: New INVOICE, 3 pages" in texts(harness)
        assert "I see." in texts(harness)
    async with running(tmp_path, FakeModel(), **SETTINGS) as harness:
        await looked(harness)
        assert len(await runs_of(harness, job.id)) == 1


async def test_a_message_is_heard_as_soon_as_a_job_waits_for_it(tmp_path: Path) -> None:
    model = greeted(*(say(f"Answer {number}.") for number in range(4)))
    async with running(tmp_path, model, **SETTINGS) as harness:
        await greet(harness)
        await harness.chat.says("an invoice")  # what waits here is known from now on: nothing
        await looked(harness)
        job = await give_job(harness, "File it.", "on message invoice")
        await harness.chat.says("an invoice")
        assert len(await over(harness, job, 1)) == 1
        await harness.chat.says(f"/jobs pause {job.id}")
        await harness.chat.sees_text("is paused")
        await harness.chat.says("an invoice")
        await looked(harness)
        await harness.chat.says(f"/jobs resume {job.id}")
        await harness.chat.sees_text("is active again")
        await harness.chat.says("an invoice")
        assert len(await over(harness, job, 2)) == 2


async def test_an_event_from_a_room_is_forgotten_with_its_message(tmp_path: Path) -> None:
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "News.", "0 8 * * *")

        def work(connection: Connection) -> list[str]:
            redact.drop_event(connection, inbox_id=InboxId(1))
            keys = ("message:1", "message:2")
            runs = [
                job_runs.claim_event(connection, job_id=job.id, key=key, text="It rains.", now=0)
                for key in keys
            ]
            redact.drop_event(connection, inbox_id=InboxId(1))
            found = [job_runs.find(connection, run_id=run) for run in runs if run]
            for one in found:
                assert one
                job_runs.end(connection, run_id=one.id, state="skipped", now=0)
            return [one.input for one in found if one]

        assert await harness.gateway.database.write("test", work) == ["", "It rains."]


async def test_a_web_address_is_given_in_a_direct_chat_and_starts_the_job(tmp_path: Path) -> None:
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Deployed.", "on webhook")
        other = await give_job(harness, "Tea.", "0 8 * * *")
        await harness.chat.says(f"/jobs webhook {other.id}")
        await harness.chat.sees_text("doesn't wait for a web request")
        for _ in range(2):
            await harness.chat.says(f"/jobs webhook {job.id}")
        await harness.until(lambda: str(texts(harness)).count("/hooks/") == 2)
        secrets = re.findall(r"/hooks/([\w-]+)", str(texts(harness)))
        calls = harness.gateway.event_jobs
        assert [await calls.call(one, "d", "") for one in secrets] == ["unknown", "taken"]
        await harness.chat.sees_text("Deployed.\n\nThe reminder's web address was called.")


async def test_a_script_reads_the_event(tmp_path: Path) -> None:
    model = greeted(say("Fine."))
    async with running(tmp_path, model, **SETTINGS) as harness:
        await greet(harness)
        await give_job(harness, "tr a-z A-Z", "on message", kind="script")
        await harness.chat.says("hello there")
        shown = await harness.chat.sees_text("HELLO THERE")
        assert "ANA WROTE: HELLO THERE\nHELLO THERE" in shown.text


async def test_too_many_events_are_left_out_and_reported_once(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Ping.", "on webhook")
        secret = await give_secret(harness, job)
        calls = harness.gateway.event_jobs
        found = [await calls.call(secret, f"d{number}", "") for number in range(MOST_AN_HOUR + 3)]
        assert found == ["taken"] * MOST_AN_HOUR + ["crowded"] * 3
        assert await calls.call("wrong", "d1", "") == "unknown"
        runs = await over(harness, job, MOST_AN_HOUR + 1)
        assert sum(run.state == "done" for run in runs) == MOST_AN_HOUR
        assert runs[-1].reason == job_runs.CROWDED
        await looked(harness)
        assert sum("60 times within an hour" in text for text in texts(harness)) == 1
        clock.move(harness, minutes=61)
        assert await calls.call(secret, f"d{MOST_AN_HOUR}", "") == "taken"
        assert len(await over(harness, job, MOST_AN_HOUR + 2)) == MOST_AN_HOUR + 2
        clock.move(harness, days=-1)  # it was ahead: what it saw there doesn't count now
        assert await calls.call(secret, "earlier", "") == "taken"


async def test_a_script_reads_the_body_of_a_web_request(tmp_path: Path) -> None:
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "cat", "on webhook", kind="script")
        secret = await give_secret(harness, job)
        assert await harness.gateway.event_jobs.call(secret, "d1", '{"ref": "main"}') == "taken"
        await harness.chat.sees_text('The reminder\'s web address was called.\n{"ref": "main"}')


async def test_a_changed_pattern_and_a_pause_start_fresh(tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("old.txt", "old.pdf"):
            (folder / name).write_text("old")
        job = await give_job(harness, "Read it.", "on file *.txt")
        await marked(harness, job)

        def change(connection: Connection) -> None:
            wish = job_editor.JobRequest(timing=read_event("file *.pdf"))
            rules = job_editor.JobRules()
            job_editor.change_job(
                connection, job_editor.redraft_job(job, wish, rules=rules, now=0), 0
            )

        await harness.gateway.database.write("test", change)
        await marked(harness, job)
        await harness.chat.says(f"/jobs pause {job.id}")
        await harness.chat.sees_text("is paused")
        (folder / "missed.pdf").write_text("missed")
        await harness.chat.says(f"/jobs resume {job.id}")
        await harness.chat.sees_text("is active again")
        await marked(harness, job)
        (folder / "new.pdf").write_text("new")
        await over(harness, job, 1)
        await harness.chat.sees_text("A file arrived: new.pdf (3 bytes)")
        assert len(await runs_of(harness, job.id)) == 1


async def give_secret(harness: Harness, job: Job) -> str:
    def work(connection: Connection) -> str:
        found = jobs.find(connection, job_id=job.id)
        assert found
        return job_editor.renew_webhook(connection, found)

    return await harness.gateway.database.write("test", work)


async def test_files_start_a_job_once_complete(tmp_path: Path) -> None:
    folder = tmp_path / "sources" / "people" / "ana"
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "old.txt").write_text("old")
        job = await give_job(harness, "cat", "on file *.txt", kind="script")
        await marked(harness, job)
        (folder / "new.txt").write_text("Call Ada.")
        (folder / "picture.png").write_bytes(b"png")
        (folder / "link.txt").symlink_to("/etc/passwd")
        await over(harness, job, 1)
        await harness.chat.sees_text("A file arrived: new.txt (9 bytes)\nCall Ada.")
    (folder / "later.txt").write_bytes(b"\0\1")
    async with running(tmp_path, FakeModel(), **SETTINGS) as harness:
        await over(harness, job, 2)
        await harness.chat.sees_text("A file arrived: later.txt (2 bytes)")
        (folder / "new.txt").write_text("Call Bob.")
        await over(harness, job, 3)
        await harness.chat.sees_text("A file arrived: new.txt (9 bytes)\nCall Bob.")


async def marked(harness: Harness, job: Job) -> None:
    """Return once a source was read for the first time."""
    async with asyncio.timeout(PATIENCE):
        while await harness.read(lambda c: job_marks.load(c, job_id=job.id)) is None:
            await asyncio.sleep(0.005)


async def test_a_feed_that_hangs_does_not_hold_up_files(tmp_path: Path) -> None:
    feed, folder = Feed(), tmp_path / "sources"
    feed.answers.clear()
    async with feed_served(feed) as host:
        settings = {**SETTINGS, "TALARIA_DIGEST__ALLOW_HOSTS": host}
        async with running(tmp_path, greeted(), **settings) as harness:
            await greet(harness)
            folder.mkdir(exist_ok=True)
            await give_job(harness, "cat", f"on feed http://{host}/feed", kind="script")
            job = await give_job(harness, "Read it.", "on file *.txt")
            await marked(harness, job)
            async with asyncio.timeout(PATIENCE):
                await feed.asked.wait()
            (folder / "new.txt").write_text("new")
            await over(harness, job, 1)
            assert feed.request
            assert feed.request.transport  # it still waits


async def test_a_feed_that_never_worked_is_reported_and_then_begins_anew(tmp_path: Path) -> None:
    clock, feed = Clock(2026, 11, 20, 12, 0), Feed()
    feed.is_broken = True
    async with feed_served(feed) as host:
        settings = {**SETTINGS, "TALARIA_DIGEST__ALLOW_HOSTS": host}
        async with running(tmp_path, greeted(), now=clock, **settings) as harness:
            await greet(harness)
            job = await give_job(harness, "cat", f"on feed http://{host}/feed", kind="script")
            await marked(harness, job)
            clock.move(harness, hours=25)
            await harness.chat.sees_text("haven't been able to read the feed of")
            await harness.at_rest()
            feed.is_broken, feed.titles = False, ["old"]
            before = await harness.read(lambda c: job_marks.load(c, job_id=job.id))
            clock.move(harness, minutes=15)
            async with asyncio.timeout(PATIENCE):
                while await harness.read(lambda c: job_marks.load(c, job_id=job.id)) == before:
                    await asyncio.sleep(0.005)
            feed.titles.append("new")
            clock.move(harness, minutes=15)
            await harness.chat.sees_text("New: new")
            assert len(await over(harness, job, 1)) == 1


@asynccontextmanager
async def long_feed_watched(home: Path) -> AsyncIterator[tuple[Harness, Clock, Feed, Job]]:
    """Run a gateway with a job that waits for a feed of 60 items."""
    clock, feed = Clock(2026, 11, 20, 12, 0), Feed()
    feed.titles = [f"old{number}" for number in range(60)]
    async with feed_served(feed) as host:
        settings = {**SETTINGS, "TALARIA_DIGEST__ALLOW_HOSTS": host}
        async with running(home, greeted(), now=clock, **settings) as harness:
            await greet(harness)
            job = await give_job(harness, "It came.", f"on feed http://{host}/feed")
            await marked(harness, job)
            yield harness, clock, feed, job


async def test_a_new_item_of_a_long_feed_starts_a_job_in_any_place(tmp_path: Path) -> None:
    async with long_feed_watched(tmp_path) as (harness, clock, feed, job):
        feed.titles.insert(0, "last")
        clock.move(harness, minutes=15)
        assert len(await over(harness, job, 1)) == 1
        await harness.chat.sees_text("New: last")


async def test_a_job_of_an_earlier_version_does_not_take_old_items_for_new(tmp_path: Path) -> None:
    async with long_feed_watched(tmp_path) as (harness, clock, feed, job):
        links = [f"https://example.org/{title}" for title in feed.titles[-40:]]
        first = {hashlib.sha256(link.encode()).hexdigest(): "" for link in links}
        await harness.gateway.database.write(
            "test", lambda c: job_marks.store(c, job_id=job.id, marks=first)
        )
        feed.titles.append("new")
        clock.move(harness, minutes=15)
        assert len(await over(harness, job, 1)) == 1
        feed.titles.append("newer")
        clock.move(harness, minutes=15)
        assert len(await over(harness, job, 2)) == 2


async def test_a_feed_is_read_after_the_clock_was_put_back(tmp_path: Path) -> None:
    clock, feed = Clock(2026, 11, 20, 12, 0), Feed()
    async with feed_served(feed) as host:
        settings = {**SETTINGS, "TALARIA_DIGEST__ALLOW_HOSTS": host}
        async with running(tmp_path, greeted(), now=clock, **settings) as harness:
            await greet(harness)
            job = await give_job(harness, "cat", f"on feed http://{host}/feed", kind="script")
            await marked(harness, job)
            feed.titles.append("new")
            clock.move(harness, days=-3)
            await over(harness, job, 1)


@pytest.mark.thorough
async def test_each_new_item_of_a_feed_starts_a_job_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock, feed = Clock(2026, 11, 20, 12, 0), Feed()
    feed.titles = ["old"]
    async with feed_served(feed) as host:
        settings = {**SETTINGS, "TALARIA_DIGEST__ALLOW_HOSTS": host}
        async with running(tmp_path, greeted(), now=clock, **settings) as harness:
            await greet(harness)
            job = await give_job(harness, "cat", f"on feed http://{host}/feed", kind="script")
            await marked(harness, job)
            feed.titles += [f"item{number}" for number in range(25)]
            clock.move(harness, minutes=15)
            await over(harness, job, 20)
            await harness.chat.sees_text("New: item0 https://example.org/item0\nAll of item0.")
            clock.move(harness, minutes=15)
            assert len(await over(harness, job, 25)) == 25
            feed.is_broken = True
            for failures in range(1, 4):
                clock.move(harness, hours=13)
                async with asyncio.timeout(PATIENCE):
                    while caplog.text.count("can't be read") < failures:
                        await asyncio.sleep(0.005)
            shown = await harness.chat.sees_text("haven't been able to read the feed of")
            assert sum("able to read the feed of" in text for text in texts(harness)) == 1, shown


async def test_a_web_request_starts_a_job_once_it_is_stored(tmp_path: Path) -> None:
    async with served(tmp_path) as served_gateway, aiohttp.ClientSession() as session:
        gateway = served_gateway.gateway

        def work(connection: Connection) -> tuple[Job, str]:
            person = people.insert(connection, slug="ana", name="Ana", role="owner", now=0).id
            request = job_editor.JobRequest(
                kind="message", title="Deploy", body="Deployed.", timing=read_event("webhook")
            )
            whose = job_editor.JobOwner(person_id=person, room_id=None, actor="test")
            rules = job_editor.JobRules()
            new = job_editor.draft_job(request, whose, zone="UTC", rules=rules, now=0)
            job = job_editor.create_job(connection, new, rules=rules, now=0)
            return job, job_editor.renew_webhook(connection, job)

        job, secret = await gateway.database.write("test", work)
        address = served_gateway.address / "hooks" / secret
        for _ in range(2):
            async with session.post(
                address, json={"ref": "main"}, headers={"X-GitHub-Delivery": "d-1"}
            ) as answer:
                assert answer.status == 202
        async with session.post(served_gateway.address / "hooks" / "x", data=b"") as answer:
            assert answer.status == 404
        async with session.post(address, data=b"x" * 70_000) as answer:
            assert answer.status == 413
        async with session.get(address) as answer:
            assert answer.status == 405
        async with session.post(address, data=b"a", headers={"Host": "example.org"}) as answer:
            assert answer.status == 202
        async with asyncio.timeout(PATIENCE):
            while True:
                runs = await gateway.database.read(
                    lambda c: job_runs.list_of_job(c, job_id=job.id, limit=9)
                )
                if len(runs) == 2 and all(run.state == "done" for run in runs):
                    break
                await asyncio.sleep(0.01)
        stored = await gateway.database.read(lambda c: jobs.find(c, job_id=job.id))
        assert stored
        assert secret not in dump_timing(read_event("webhook")) + stored.timing
        assert stored.timing.startswith("on webhook ")
