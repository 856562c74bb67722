"""Attacks on jobs: commands stay unchanged, and reused numbers reveal nothing."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.named.folder import AgentFolder
from agent_core.schedule import job_editor
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.jobs.jobs import Target
from agent_core.state.lifecycle import redact
from agent_core.state.queues import deferred_messages
from gateway.jobs.agent_runs import AgentRuns
from gateway.jobs.history import JobHistory
from gateway.jobs.notifier import Notifier
from gateway.queued_message import QueuedMessage
from gateway.texts import privacy
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import ChatAccount, count
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import find, give_job, greet, greeted, looked, over
from tests.integration.privacy.deletions import settled

NOON = (2026, 11, 20, 12, 0)
SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}


async def test_a_jobs_command_cannot_be_changed_in_chat(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted()
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "echo as it was", "0 * * * *", kind="script")
        change = {"action": "change", "job": job.id, "text": json.dumps(["echo", "taken over"])}
        model.plays += [ask(call("schedule", json.dumps(change), "c1")), say("It stays.")]
        await harness.chat.says("let it run that", id="m2")
        await harness.chat.sees_text("It stays.")
        heard = str(model.requests[-1].messages[-1])
        assert "can only be changed by `talaria jobs change` on the machine" in heard
        clock.move(harness, hours=1)
        await over(harness, job, 1)
        await harness.chat.sees_text("as it was")
        assert (await find(harness, job)).body == job.body


async def plant(harness: Harness, clock: Clock) -> ChatAccount:
    """Store a prompt job of Ana that ran once."""
    account = ChatAccount(harness, "1", "Ana")
    await greet(harness)
    await give_job(harness, "Tell of bluefish", "2026-11-20T13:30", kind="prompt")
    clock.move(harness, minutes=45)
    await looked(harness)
    await harness.chat.sees_text("All about bluefish.")
    return account


async def numbers(harness: Harness) -> tuple[int, int]:
    """Return the highest number of jobs and runs so far."""

    def look(connection: Connection) -> tuple[int, int]:
        found = connection.execute(
            "SELECT (SELECT MAX(id) FROM jobs), (SELECT MAX(id) FROM job_runs)"
        ).fetchone()
        return found[0], found[1]

    return await harness.read(look)


async def test_a_forgotten_jobs_numbers_are_not_reused(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted(say("All about bluefish."), say("All about cats."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        account = await plant(harness, clock)
        before = await numbers(harness)
        await account.says("/forget bluefish")
        await account.presses(privacy.FORGET_ALL())
        await settled(harness)
        job = await give_job(harness, "Tell of cats", "2026-11-20T15:30", kind="prompt")
        clock.move(harness, hours=2)
        runs = await over(harness, job, 1)
        await harness.chat.sees_text("All about cats.")
        assert (job.id, runs[0].id) > before
        assert runs[0].id > before[1]


async def test_an_erased_persons_numbers_are_not_reused(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted(say("All about bluefish."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        account = await plant(harness, clock)
        before = await numbers(harness)
        await account.says("/erase me")
        await account.presses(privacy.ERASE_YES())
        await account.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert await numbers(harness) == before
        shown = "SELECT title, body, person_id, state FROM jobs WHERE id = ?"
        left = await harness.read(lambda c: c.execute(shown, (before[0],)).fetchall())
        assert left == [("", "", None, "dropped")]


async def test_a_run_with_a_reused_number_starts(tmp_path: Path) -> None:
    """Older versions reused numbers; such a gateway must still start."""
    clock = Clock(*NOON)
    model = greeted(say("All about bluefish."), say("All about cats."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await plant(harness, clock)
        newest = (await numbers(harness))[1]

        def forget(connection: Connection) -> None:
            connection.execute("UPDATE turns SET run_id = NULL")
            connection.execute("DELETE FROM job_runs WHERE id = ?", (newest,))

        await harness.gateway.database.write("test", forget)
        job = await give_job(harness, "Tell of cats", "2026-11-20T15:30", kind="prompt")
        clock.move(harness, hours=2)
        assert [run.id for run in await over(harness, job, 1)] == [newest]
        await harness.chat.sees_text("All about cats.")


async def load_no_ids() -> IdAllocator:
    raise AssertionError("no run ends here")


@pytest.mark.parametrize("is_newest", [True, False], ids=["newest", "older"])
async def test_a_job_forgotten_before_its_turn_sends_nothing(
    tmp_path: Path, is_newest: bool
) -> None:
    """An emptied row of the newest run stays; others leave nothing."""
    clock = Clock(*NOON)
    model = greeted(say("All about cats."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        gateway = harness.gateway
        history = JobHistory(load_no_ids)
        notifier = Notifier(gateway.dispatcher.adapters, history, zone_of=lambda _: "Europe/Berlin")
        runs = AgentRuns(
            notifier=notifier,
            catalog=gateway.home_skills.catalog,
            agents=AgentFolder(tmp_path),
            find_unpriced=lambda model: "",
        )
        job = await give_job(harness, "Tell of bluefish", "2026-11-20T15:30", kind="prompt")
        others = await give_job(harness, "Tell of cats", "2026-11-20T13:30", kind="prompt")

        def start_run(connection: Connection) -> QueuedMessage:
            run_id = job_editor.run_job_now(connection, job, "k", clock())
            assert run_id
            job_runs.begin(connection, run_id=run_id, now=clock())
            run = job_runs.find(connection, run_id=run_id)
            assert run
            pending = runs.start(connection, job, run, clock())
            if not is_newest:
                slot = ("s", clock())
                job_runs.skip(connection, job_id=others.id, slots=[slot], now=clock())
            redact.drop_job(connection, job_id=job.id)
            return pending

        def look(connection: Connection) -> tuple[int, list[tuple[str]]]:
            written = connection.execute("SELECT COUNT(*) FROM turns").fetchone()[0]
            events = "SELECT state FROM inbox WHERE platform = 'schedule' ORDER BY id LIMIT 1"
            return written, connection.execute(events).fetchall()

        pending = await gateway.database.write("test", start_run)
        gateway.lanes.put(pending)
        await harness.until(gateway.lanes.is_idle)
        assert await harness.read(look) == (1, [("done",)])  # the turn belongs to the greeting
        clock.move(harness, hours=1)
        await harness.chat.sees_text("All about cats.")
        await looked(harness)
        assert "bluefish" not in str(model.requests)
        assert await count(harness, "messages", "parts LIKE '%bluefish%'") == 0


TWO = Target(kind="place", platform="fake", chat='["2",null,true]')
"""The direct chat of Bob, who was joined with Ana for a while."""


@pytest.mark.parametrize(
    ("targets", "is_home", "is_deferred"),
    [((), True, False), ((TWO,), False, False), ((TWO,), False, True), ((), False, False)],
    ids=["home", "place", "held", "seen"],
)
async def test_an_unlinked_account_gets_nothing_of_its_former_person(
    tmp_path: Path, targets: Sequence[Target], is_home: bool, is_deferred: bool
) -> None:
    clock = Clock(*NOON)
    model = FakeModel(*[say("Hello.") for _ in range(3)])
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        one, two = ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Bob")
        await one.says("hi")
        await two.says("hi")
        await one.joins(two)
        await two.says("/sethome" if is_home else "hello")
        if is_deferred:
            await one.says("/settings quiet_hours 12:50-18:00")
        job = await give_job(harness, "Mind Ana's secret", "2026-11-20T13:30", targets=targets)
        if is_deferred:
            clock.move(harness, minutes=45)
            await over(harness, job, 1)
        await one.says("/unlink 2")
        ana, bob = await one.person(), await two.person()
        assert ana
        assert bob
        assert (await find(harness, job)).person_id == ana.id != bob.id
        assert (
            bool(
                await harness.read(lambda c: deferred_messages.list_of_person(c, person_id=ana.id))
            )
            == is_deferred
        )
        clock.move(harness, hours=7)
        await over(harness, job, 1)
        await looked(harness)
        where = [shown.chat_id for shown in harness.chat.shown if "secret" in shown.text]
        assert where == ["1"]
