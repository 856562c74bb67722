"""Jobs: the list with next and last runs; run now, pause, resume and delete."""

from typing import Any

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.jobs import jobs as stored
from gateway.interfaces.operations import jobs as operations
from gateway.interfaces.operations.contexts import open_context
from gateway.interfaces.pages.views import Fields, Look, Missing

_RUNS = 5
_LARGEST = 2**62
_ACTS = {
    "run": operations.run_now,
    "pause": operations.pause,
    "resume": operations.resume,
    "delete": operations.drop,
}


async def show(look: Look) -> Fields:
    """Read the person's jobs with their last runs."""

    def work(connection: Connection) -> dict[str, Any]:
        found = stored.list_of_person(connection, person_id=look.person.id)
        return {
            "jobs": [
                (
                    operations.outline(connection, job),
                    job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS),
                )
                for job in found
            ]
        }

    return await look.gateway.database.read(work)


async def act(look: Look) -> Fields:
    """Run, pause, resume or delete a job of the person. Raises `Missing`, `Declined`."""
    number = JobId(min(look.request.path_params["job"], _LARGEST))
    verb = look.request.path_params["verb"]
    found = await look.gateway.database.read(lambda c: stored.find(c, job_id=number))
    if found is None or found.person_id != look.person.id or verb not in _ACTS:
        raise Missing
    return await _ACTS[verb](open_context(look.gateway, actor="person"), {"id": number})
