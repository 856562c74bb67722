"""Jobs that Ana asks for in her chat."""

import asyncio
import json
from collections.abc import Sequence

from agent_core.ids import JobId
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from tests.fakes.model import Play, ask, call
from tests.integration.harness import Harness
from tests.integration.jobs_support import ana
from tests.patience import PATIENCE

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}


def schedule(call_id: str = "c1", **arguments: object) -> Play:
    """Return the model's request for a job."""
    return ask(call("schedule", json.dumps({"action": "create", **arguments}), call_id))


def digest(**arguments: object) -> Play:
    return schedule(kind="prompt", title="Digest", text="Write my digest.", **arguments)


async def one_job(harness: Harness) -> Job:
    found = await harness.read(lambda c: jobs.list_of_person(c, person_id=ana(c)))
    assert len(found) == 1
    return found[0]


async def runs_of(harness: Harness, job_id: int = 0) -> Sequence[Run]:
    wanted = JobId(job_id) if job_id else (await one_job(harness)).id
    return await harness.read(lambda c: job_runs.list_of_job(c, job_id=wanted, limit=50))


async def states(harness: Harness, job_id: int = 0) -> list[str]:
    return [run.state for run in reversed(await runs_of(harness, job_id))]


async def ended(harness: Harness, count: int, job_id: int) -> None:
    """Return once `count` runs of a job have ended."""
    async with asyncio.timeout(PATIENCE):
        await _until_ended(harness, count, job_id)


async def _until_ended(harness: Harness, count: int, job_id: int) -> None:
    while True:
        found = await runs_of(harness, job_id)
        over = [run for run in found if run.reason != job_runs.MISSED]
        if sum(run.state in ("done", "failed", "skipped") for run in over) >= count:
            return
        await asyncio.sleep(0.002)


async def makes(harness: Harness, text: str = "yes please") -> Job:
    """Ask for a job, and confirm it."""
    await harness.chat.says("every Monday at 8, please")
    await harness.chat.sees_text("shall I")
    await harness.chat.press("Yes, do that")
    await harness.chat.sees_text(text)
    await harness.at_rest()
    return await one_job(harness)
