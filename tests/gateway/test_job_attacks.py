"""Attacks over jobs: what is a command stays as it is, what is gone says nothing of what comes."""

import json
from pathlib import Path

from agent_core.state.database import Connection
from gateway import wording_control as wording
from tests.fakes.model import ask, call, say
from tests.gateway.clock import Clock
from tests.gateway.jobs import find, give_job, greet, greeted, looked, over
from tests.gateway.running import House, running
from tests.gateway.sides import Side
from tests.gateway.test_canaries import settled

NOON = (2026, 11, 20, 12, 0)
HOUSE = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}


async def test_what_a_job_runs_is_not_changed_in_chat(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted()
    async with running(tmp_path, model, now=clock, **HOUSE) as house:
        await greet(house)
        job = await give_job(house, "echo as it was", "0 * * * *", kind="script")
        change = {"action": "change", "job": job.id, "text": json.dumps(["echo", "taken over"])}
        model.plays += [ask(call("schedule", json.dumps(change), "c1")), say("It stays.")]
        await house.chat.says("let it run that", id="m2")
        await house.chat.sees_text("It stays.")
        assert "on the machine only" in str(model.requests[-1].messages[-1])
        clock.move(house, hours=1)
        await over(house, job, 1)
        await house.chat.sees_text("as it was")
        assert (await find(house, job)).body == job.body


async def plant(house: House, clock: Clock) -> Side:
    """A prompt of Ana's that ran once."""
    side = Side(house, "1", "Ana")
    await greet(house)
    await give_job(house, "Tell of bluefish", "2026-11-20T13:30", kind="prompt")
    clock.move(house, minutes=45)
    await looked(house)
    await house.chat.sees_text("All about bluefish.")
    return side


async def numbers(house: House) -> tuple[int, int]:
    """The highest number that a job and a run ever had."""

    def look(connection: Connection) -> tuple[int, int]:
        found = connection.execute(
            "SELECT (SELECT MAX(id) FROM jobs), (SELECT MAX(id) FROM job_runs)"
        ).fetchone()
        return found[0], found[1]

    return await house.read(look)


async def test_a_job_that_is_forgotten_leaves_its_numbers_to_nobody(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted(say("All about bluefish."), say("All about cats."))
    async with running(tmp_path, model, now=clock, **HOUSE) as house:
        side = await plant(house, clock)
        before = await numbers(house)
        await side.says("/forget bluefish")
        await side.presses(wording.FORGET_ALL)
        await settled(house)
        job = await give_job(house, "Tell of cats", "2026-11-20T15:30", kind="prompt")
        clock.move(house, hours=2)
        runs = await over(house, job, 1)
        await house.chat.sees_text("All about cats.")
        assert (job.id, runs[0].id) > before
        assert runs[0].id > before[1]


async def test_a_person_who_is_erased_leaves_their_numbers_to_nobody(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted(say("All about bluefish."))
    async with running(tmp_path, model, now=clock, **HOUSE) as house:
        side = await plant(house, clock)
        before = await numbers(house)
        await side.says("/erase me")
        await side.presses(wording.ERASE_YES)
        await side.presses(wording.ERASE_SURE)
        await settled(house)
        assert await numbers(house) == before
        shown = "SELECT title, body, person_id, state FROM jobs WHERE id = ?"
        left = await house.read(lambda c: c.execute(shown, (before[0],)).fetchall())
        assert left == [("", "", None, "dropped")]


async def test_a_run_that_got_a_forgotten_ones_number_is_begun(tmp_path: Path) -> None:
    """As older versions gave them: such a house must come to its feet."""
    clock = Clock(*NOON)
    model = greeted(say("All about bluefish."), say("All about cats."))
    async with running(tmp_path, model, now=clock, **HOUSE) as house:
        await plant(house, clock)
        newest = (await numbers(house))[1]

        def forget(connection: Connection) -> None:
            connection.execute("UPDATE turns SET run_id = NULL")
            connection.execute("DELETE FROM job_runs WHERE id = ?", (newest,))

        await house.gateway.database.write("test", forget)
        job = await give_job(house, "Tell of cats", "2026-11-20T15:30", kind="prompt")
        clock.move(house, hours=2)
        assert [run.id for run in await over(house, job, 1)] == [newest]
        await house.chat.sees_text("All about cats.")
