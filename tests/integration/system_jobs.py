"""System jobs whose time comes."""

from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job
from tests.integration.clock import Clock
from tests.integration.harness import Harness
from tests.integration.jobs_support import over

ZONE = {"TALARIA_PEOPLE__TIME_ZONE": "UTC"}
START = (2026, 11, 20, 11, 0)


async def own_job(harness: Harness, name: str) -> Job:
    """Return a system job."""
    found = await harness.read(jobs.list_system)
    return next(job for job in found if job.body == name)


async def outcome(harness: Harness, clock: Clock, name: str, *, count: int, **span: float) -> str:
    """Let time pass; return the outcome of the newest of `count` runs."""
    clock.move(harness, **span)
    run = (await over(harness, await own_job(harness, name), count))[-1]
    assert run.state == "done"
    return run.reason
