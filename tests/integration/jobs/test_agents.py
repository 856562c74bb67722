"""Jobs of named agents."""

from pathlib import Path

from tests.fakes.model import say
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import find, give_job, greet, greeted, over

NOON = (2026, 11, 20, 12, 0)
SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}


async def test_the_chosen_agent_runs_a_job(tmp_path: Path) -> None:
    place = tmp_path / "agents" / "coder"
    place.mkdir(parents=True)
    place.joinpath("agent.toml").touch()
    place.joinpath("SOUL.md").write_text("You are the coder.")
    clock = Clock(*NOON)
    model = greeted(say("Done by coder."), say("Done again."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up", "0 * * * *", kind="prompt")
        await harness.chat.says(f"/agents job {job.id} coder", id="m2")
        await harness.chat.sees_text("coder does the job Tidy up from now on.")
        clock.move(harness, hours=1)
        await harness.chat.sees_text("Done by coder.")
        await over(harness, job, 1)
        assert model.requests[-1].system.startswith("You are the coder.")
        place.joinpath("SOUL.md").unlink()
        clock.move(harness, hours=1)
        reasons = [run.reason for run in await over(harness, job, 2)]
        assert "the agent coder can't be used: it has no SOUL.md." in reasons
        await harness.chat.says(f"/agents job {job.id} default", id="m3")
        await harness.chat.sees_text("I do the job Tidy up again.")
        assert (await find(harness, job)).options.agent == ""
