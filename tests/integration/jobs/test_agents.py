"""Jobs of named agents."""

from pathlib import Path

from agent_core.state.jobs.jobs import Options
from tests.fakes.model import say
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import find, give_job, greet, greeted, over

NOON = (2026, 11, 20, 12, 0)
SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}


def make_agent(home: Path, table: str = "") -> Path:
    place = home / "agents" / "coder"
    place.mkdir(parents=True)
    place.joinpath("agent.toml").write_text(table)
    place.joinpath("SOUL.md").write_text("You are the coder.")
    return place


async def test_a_daily_limit_needs_the_price_of_the_agents_model(tmp_path: Path) -> None:
    place = make_agent(tmp_path)
    own = {"TALARIA_MODEL__CHOICES": "my-own", "TALARIA_MODEL__PROVIDER": "openai"}
    clock, model = Clock(*NOON), greeted(say("Done by coder."))
    limited = Options(day_micro_dollars=10_000, agent="coder")
    async with running(
        tmp_path, model, now=clock, **SETTINGS, **own, OPENAI_API_KEY="key"
    ) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up", "0 * * * *", kind="prompt", options=limited)
        clock.move(harness, hours=1)
        assert [run.state for run in await over(harness, job, 1)] == ["done"]
        place.joinpath("agent.toml").write_text('model = "my-own"')
        clock.move(harness, hours=1)
        refused = (await over(harness, job, 2))[-1]
        assert "the price of my-own," in refused.reason


async def test_the_chosen_agent_runs_a_job(tmp_path: Path) -> None:
    place = make_agent(tmp_path)
    clock = Clock(*NOON)
    model = greeted(say("Done by coder."), say("Done again."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up", "0 * * * *", kind="prompt")
        await harness.chat.says(f"/agents job {job.id} coder", id="m2")
        await harness.chat.sees_text("The agent “coder” now takes care of the reminder “Tidy up”.")
        clock.move(harness, hours=1)
        await harness.chat.sees_text("Done by coder.")
        await over(harness, job, 1)
        assert model.requests[-1].system.startswith("You are the coder.")
        place.joinpath("SOUL.md").unlink()
        clock.move(harness, hours=1)
        reasons = [run.reason for run in await over(harness, job, 2)]
        assert "the agent coder can't be used: it has no SOUL.md.”" in reasons[-1]
        await harness.chat.says(f"/agents job {job.id} default", id="m3")
        await harness.chat.sees_text("I take care of the reminder “Tidy up” myself again.")
        assert (await find(harness, job)).options.agent == ""
