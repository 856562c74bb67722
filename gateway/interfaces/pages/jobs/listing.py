"""Jobs: the list with next and last runs; run now, pause, resume, delete and restore."""

from collections.abc import Mapping
from typing import Any

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_owners, job_runs
from agent_core.state.jobs import jobs as stored
from agent_core.state.jobs.jobs import Job
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations.job_types import ActOnJob, JobVerb
from gateway.operations.jobs import do_verb, outline
from gateway.texts import jobs as texts

_RUNS, _DELETED = 5, 10
_ACTS: Mapping[str, JobVerb] = {
    "run": "run",
    "pause": "pause",
    "resume": "resume",
    "delete": "drop",
    "restore": "restore",
}


async def show(look: Look) -> Fields:
    """Read the person's jobs with their last runs, and the jobs that were deleted last."""

    def work(connection: Connection) -> dict[str, Any]:
        person_id = look.person.id
        found = stored.list_of_person(connection, person_id=person_id)
        dropped = job_owners.list_dropped(connection, person_id=person_id, limit=_DELETED)
        return {
            "j": texts,
            "jobs": [
                (
                    outline(connection, job),
                    job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS),
                )
                for job in found
            ],
            "deleted": [
                outline(connection, job)
                for number in dropped
                if (job := stored.find(connection, job_id=number)) and job.is_whole
            ],
        }

    return await look.gateway.database.read(work)


def find_own(connection: Connection, look: Look) -> Job:
    """Return the job in the address, if it belongs to the person. Raises `Missing`."""
    found = stored.find(connection, job_id=JobId(look.find_id("job")))
    if found is None or found.person_id != look.person.id:
        raise Missing
    return found


async def act(look: Look) -> Fields:
    """Run, pause, resume, delete or restore a job of the person. Raises `Missing`, `Declined`."""
    verb = look.request.path_params["verb"]
    found = await look.gateway.database.read(find_own, look)
    if verb not in _ACTS:
        raise Missing
    await do_verb(look.context, ActOnJob(id=found.id, is_press=True), verb=_ACTS[verb])
    return {}
