"""Undo of job changes: restores what a job was before a change."""

from dataclasses import replace

from agent_core.schedule.job_editor import InvalidJob, JobRequest, JobRules, change_job, redraft_job
from agent_core.schedule.triggers import load_timing
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_versions
from agent_core.state.jobs.jobs import Job


def undo_change(
    connection: Connection,
    job: Job,
    *,
    rules: JobRules,
    now: int,
    version: int | None = None,
    may_set_script: bool = False,
) -> Job:
    """Restore a job to its state before its last change, or to a `version`.

    The undo can be undone. A command is restored only with `may_set_script`, because whoever
    changed it may have had a reason. Raises `InvalidJob`.
    """
    found = job_versions.list_of(connection, job_id=job.id)
    chosen = next((one for one in found if version in (None, one.id)), None)
    if chosen is None:
        raise InvalidJob("there is no such former version of it", "no_version")
    former = chosen.job
    options = replace(
        former.options,
        gate_passed=job.options.gate_passed,
        gate_seen=job.options.gate_seen,
        gate_next=job.options.gate_next,
    )
    request = JobRequest(
        title=former.title,
        body=former.body if may_set_script or job.kind != "script" else None,
        timing=load_timing(former.timing) if former.timing != job.timing else None,
        zone=former.zone,
        late=former.late,
        options=options,
        targets=former.targets,
        is_urgent=former.is_urgent,
    )
    return change_job(connection, redraft_job(job, request, rules=rules, now=now), now)
