"""A job's daily limit in dollars ends its runs of that day, and nothing else."""

from pathlib import Path

import pytest

from agent_core.models.contract import Usage
from agent_core.state.jobs.jobs import Options
from tests.fakes.model import say
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import find, give_job, greet, greeted, over, texts, waits_for

SETTINGS = {
    "TALARIA_MODEL__NAME": "fake-1",
    "TALARIA_COST__PRICES": "fake-1 in=1 out=1 date=2026-11-01",
}
LIMIT = Options(day_micro_dollars=50_000)
THIRTY_CENTS = Usage(input_tokens=30_000, output_tokens=0)


async def test_runs_of_a_day_share_the_limit_and_the_next_day_has_its_own(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 22, 12)
    model = greeted(*(say("Rain.", usage=THIRTY_CENTS) for _ in range(3)))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "0 * * * *", kind="prompt", options=LIMIT)
        for hours in range(1, 4):
            clock.move(harness, minutes=60)
            runs = await over(harness, job, hours)
        assert [run.state for run in runs] == ["done", "done", "skipped"]
        assert runs[-1].reason == "The reminder has used up its $0.05 for today."
        assert (await find(harness, job)).state == "active"
        clock.move(harness, minutes=12 * 60)
        runs = await over(harness, job, 4)
        assert runs[-1].state == "done"


async def test_what_was_spent_while_the_clock_was_ahead_does_not_count_now(tmp_path: Path) -> None:
    clock = Clock(2027, 11, 22, 12)
    model = greeted(*(say("Rain.", usage=THIRTY_CENTS) for _ in range(3)), say("Still here."))
    settings = SETTINGS | {"TALARIA_COST__PERSON_DAY_USD": "0.12"}
    async with running(tmp_path, model, now=clock, **settings) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "0 * * * *", kind="prompt", options=LIMIT)
        for hours in range(1, 3):
            clock.move(harness, minutes=60)
            await over(harness, job, hours)
        clock.move(harness, days=-365)
        await waits_for(harness, job, "2026-11-22T15:00:00Z")
        clock.move(harness, minutes=60)
        runs = await over(harness, job, 3)
        assert [run.state for run in runs] == ["done", "done", "done"]
        await harness.chat.says("hi")
        await harness.at_rest()
        assert texts(harness)[-1] == "Still here."


@pytest.mark.parametrize(
    ("later", "unpriced"),
    [
        ({"TALARIA_MODEL__NAME": "fake-1"}, "fake-1"),
        (SETTINGS | {"TALARIA_MODEL__FALLBACKS": "my-fallback"}, "my-fallback"),
        (SETTINGS | {"TALARIA_MODEL__CHEAP": "my-cheap"}, "my-cheap"),
    ],
)
async def test_a_limit_of_which_a_model_has_no_price_any_more_is_reported(
    tmp_path: Path, later: dict[str, str], unpriced: str
) -> None:
    clock = Clock(2026, 11, 22, 12)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "0 * * * *", kind="prompt", options=LIMIT)
    async with running(tmp_path, greeted(), now=clock, **later) as harness:
        clock.move(harness, minutes=60)
        (run,) = await over(harness, job, 1)
        assert run.state == "failed"
        said = f"I don't know the price of {unpriced}, so I can't check this reminder's daily limit"
        assert run.reason.startswith(f"{said} in dollars. Remove that limit,")
