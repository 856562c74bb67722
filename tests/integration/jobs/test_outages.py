"""Jobs during a model outage wait, are no failures, and block no other job."""

from collections.abc import AsyncGenerator
from pathlib import Path

from agent_core.errors import ModelBusy
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.schedule.triggers import moment
from tests.fakes.model import FakeModel, say
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import (
    find,
    give_job,
    greet,
    greeted,
    looked,
    over,
    texts,
    waits_for,
)

NOON = (2026, 11, 22, 12)


async def test_a_long_outage_is_no_failure_of_the_job(tmp_path: Path) -> None:
    clock, model = Clock(*NOON), greeted([ModelBusy("overloaded")], say("Rain."))
    settings = {"TALARIA_MODEL__JOB_PATIENCE": "0"}
    async with running(tmp_path, model, now=clock, **settings) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "every 3600", kind="prompt")
        clock.move(harness, seconds=3601)
        (run,) = await over(harness, job, 1)
        assert (run.state, run.reason) == ("skipped", "model_busy")
        assert (await find(harness, job)).failures == 0
        await looked(harness)
        assert "hasn't answered for a long time" in texts(harness)[-1]
        clock.move(harness, seconds=3601)
        assert (await over(harness, job, 2))[1].state == "done"


class BusyFor(FakeModel):
    """Overloaded for requests that contain a word."""

    word = ""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if self.word and self.word in request.messages[-1].text:
            raise ModelBusy("overloaded")
        async for piece in super().stream(request):
            yield piece


async def test_a_job_that_waits_leaves_its_slot_to_others(tmp_path: Path) -> None:
    clock, model = Clock(*NOON), BusyFor(say("Hello."), say("Sunny."), say("Rain."))
    model.word = "weather"
    settings = {"TALARIA_JOBS__AT_ONCE": "1"}
    async with running(tmp_path, model, now=clock, **settings) as harness:
        await greet(harness)
        first = await give_job(harness, "weather", "every 3600", kind="prompt")
        clock.move(harness, seconds=3601)

        async def is_waiting() -> bool:
            return await harness.read(
                lambda c: (
                    c.execute(
                        "SELECT COUNT(*) FROM turns WHERE waiting_since IS NOT NULL"
                    ).fetchone()[0]
                    == 1
                )
            )

        while not await is_waiting():
            pass
        second = await give_job(harness, "mood", "every 60", kind="prompt")
        clock.move(harness, seconds=61)
        (run,) = await over(harness, second, 1)
        assert run.state == "done"
        model.word = ""
        (run,) = await over(harness, first, 1)
        assert run.state == "done"


async def test_the_runs_that_queue_behind_an_outage_become_one(tmp_path: Path) -> None:
    clock, model = Clock(*NOON), BusyFor(say("Hello."), say("Rain."), say("Sunny."))
    model.word = "weather"
    async with running(tmp_path, model, now=clock) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "0 * * * *", kind="prompt", zone="UTC")
        for _ in range(4):
            clock.move(harness, seconds=3600)
            await waits_for(harness, job, f"{moment(clock() + 3_600_000):%Y-%m-%dT%H:00:00Z}")
        model.word = ""
        found = await over(harness, job, 4)
        await looked(harness)
        assert [(run.state, run.reason) for run in found] == [
            ("done", ""),
            ("skipped", "merged"),
            ("skipped", "merged"),
            ("done", ""),
        ]
        assert (await find(harness, job)).failures == 0
        due = "14:00, 15:00, and 16:00"
        assert f"_This was due {due}._" in texts(harness)[-1]
