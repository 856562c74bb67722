"""Jobs whose model does not answer: they wait, are no failures, and hold up no other job."""

from collections.abc import AsyncGenerator
from pathlib import Path

from agent_core.errors import ModelBusy
from agent_core.models import ModelAnswer, ModelRequest, TextDelta
from tests.fakes.model import FakeModel, say
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import find, give_job, greet, greeted, looked, over, texts

NOON = (2026, 11, 22, 12)


async def test_an_outage_longer_than_the_patience_is_no_failure_of_the_job(tmp_path: Path) -> None:
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
        assert "hasn't answered for too long" in texts(harness)[-1]
        clock.move(harness, seconds=3601)
        assert (await over(harness, job, 2))[1].state == "done"


class BusyFor(FakeModel):
    """Is overloaded for requests that hold a word."""

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
