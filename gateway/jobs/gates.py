"""Checks the gates of prompt jobs, before a run calls the model."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agent_core.digest.formatting import SOURCES, own_folder
from agent_core.digest.source_gates import GateOutcome, check_source
from agent_core.digest.tools import DigestOptions, open_web
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.schedule.gates import read_gate
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import people
from agent_core.tools.clock import local_time
from agent_core.tools.readers.faults import SourceFailed
from gateway.jobs.scripts import run_script
from gateway.texts.job_results import describe_gate_fault

_CLOSED = 1
"""The exit status of a gate that keeps the run from the model, like `grep -q` without a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChecker:
    """Checks gates. `environ` and `limits` are those of commands."""

    database: Database
    digest: DigestOptions
    environ: Mapping[str, str]
    limits: ScriptLimits
    now: Callable[[], int]

    async def check(self, job: Job) -> tuple[GateOutcome, str]:
        """Check the gate of a job; return the outcome, and the fault or "". Raises `StoreError`."""
        gate = read_gate(job.options.gate)
        if gate.kind == "script":
            line = json.dumps(gate.words)
            output = await run_script(line, self.digest.home, self.environ, self.limits)
            is_known = not output.fault or output.status == _CLOSED
            return GateOutcome(is_open=not output.fault), "" if is_known else output.fault
        person = await self.database.read(
            lambda c: people.find(c, person_id=job.person_id) if job.person_id else None
        )
        common = self.digest.home / SOURCES
        is_own = person is not None and job.room_id is None
        folders = [own_folder(common, "people", person.slug)] if person and is_own else []
        try:
            outcome = await check_source(
                open_web(self.digest),
                gate,
                seen=job.options.gate_seen,
                today=f"{local_time(self.now(), job.zone):%Y-%m-%d}",
                zone=job.zone,
                folders=[*folders, common],
            )
        except SourceFailed as error:
            return GateOutcome(is_open=False), describe_gate_fault(str(error))
        return outcome, ""


def note_gate(connection: Connection, job: Job, run: Run, outcome: GateOutcome, now: int) -> None:
    """Record the outcome of a gate; a closed one ends the run.

    What an open gate has seen counts only once its run is done: a failed run loses no news.
    """
    fresh = jobs.find(connection, job_id=job.id)
    if fresh is None:
        return
    if outcome.is_open:
        options = replace(fresh.options, gate_passed=run.id, gate_next=outcome.seen)
    else:
        options = replace(fresh.options, gate_seen=outcome.seen)
        job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason=job_runs.GATED)
    if options != fresh.options:
        jobs.change(connection, replace(fresh, options=options))
