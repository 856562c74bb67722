"""Begins the runs of jobs: a message, an agent turn, a script, or a system task."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.digest.source_gates import GateOutcome
from agent_core.errors import CoreError
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.ids import ConversationId, RunId
from agent_core.localization import set_language
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import people
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.text_cleaner import TextCleaner
from gateway.jobs.agent_runs import AgentRuns, JobLimitReached, RunRefused
from gateway.jobs.events import compose_message
from gateway.jobs.gates import GateChecker, note_gate
from gateway.jobs.history import shorten_output
from gateway.jobs.notifier import is_asked, show_message
from gateway.jobs.outcomes import Outcomes
from gateway.jobs.reports import Made
from gateway.jobs.scripts import run_script
from gateway.queued_message import QueuedMessage
from gateway.texts import job_results
from gateway.texts.reader_language import speak_to
from gateway.turns.lanes import Lanes

_log = logging.getLogger(__name__)

_Started = QueuedMessage | tuple[Run, Job]
"""A begun run: the message of an agent turn, or a script or system task to start."""

SystemTask = Callable[[], Awaitable[str]]
"""A system task; it returns a report for the run's record."""


@dataclass(slots=True, kw_only=True)
class JobRunner:
    """Begins, tracks and ends runs. `folder` and `environ` are those of scripts."""

    group: asyncio.TaskGroup
    database: Database
    lanes: Lanes
    outcomes: Outcomes
    enqueue: Callable[[Sequence[OutboxRow]], None]
    wake: Callable[[], None]
    """Called after a run has ended, because another may begin."""
    now: Callable[[], int]
    folder: Path
    environ: Mapping[str, str]
    script_limits: ScriptLimits
    cleaner: TextCleaner
    """Hides secrets in what a script writes, before it is stored."""
    gates: GateChecker
    agent_runs: AgentRuns
    system_tasks: Mapping[str, SystemTask]
    at_once: int
    """Largest number of runs at once. People have turn slots of their own, so jobs can't starve
    them.
    """
    _tasks: dict[RunId, asyncio.Task[None]] = field(default_factory=dict, init=False)
    _conversations: dict[RunId, ConversationId] = field(default_factory=dict, init=False)
    """Conversations of the turns that this process has started."""
    _running_count: int = field(default=0, init=False)
    _is_open: bool = field(default=True, init=False)

    def close(self) -> None:
        """Begin no further run; the next start continues those that run."""
        self._is_open = False

    def count_free_slots(self) -> int:
        """Return the number of further runs that may begin now."""
        return self.at_once - self._running_count if self._is_open else 0

    def is_answering(self) -> bool:
        """Return whether a turn runs or waits for its slot."""
        return not self.lanes.is_idle()

    def is_idle(self) -> bool:
        """Return whether no script and no system task runs."""
        return not self._tasks

    async def begin(self, runs: Sequence[Run]) -> None:
        """Begin runs in the background. Raises `StoreError`."""
        now = self.now()

        def work(
            connection: Connection,
        ) -> tuple[list[OutboxRow], list[_Started]]:
            rows: list[OutboxRow] = []
            started: list[_Started] = []
            for waiting in runs:
                if not job_runs.begin(connection, run_id=waiting.id, now=now):
                    continue
                run = job_runs.find(connection, run_id=waiting.id)
                assert run is not None  # noqa: S101 - it was begun just now
                job = jobs.find(connection, job_id=run.job_id)
                if job and _merge_waiting(connection, job, run, now):
                    continue
                if job and job.is_whole and run.is_whole:
                    rows += self._start(connection, job, run, started, now)
                else:
                    rows += self.outcomes.fail_damaged(connection, job, run, now)
            return rows, started

        rows, started = await self.database.write("runs.begin", work)
        self.enqueue(rows)
        self._launch(started)

    async def recover(self) -> None:
        """Continue runs that no task works on, also after a crash.

        Raises `StoreError`.
        """
        now = self.now()
        running, outages = await self.database.read(
            lambda c: (job_runs.list_running(c), job_runs.count_outages(c))
        )
        lost = [run for run in running if run.id not in self._tasks]

        def work(
            connection: Connection,
        ) -> tuple[list[OutboxRow], list[_Started]]:
            rows: list[OutboxRow] = []
            started: list[_Started] = []
            for known in lost:
                run = job_runs.find(connection, run_id=known.id)
                job = jobs.find(connection, job_id=known.job_id)
                if run is None or run.ended_at is not None:
                    continue
                if job and job.is_whole and run.is_whole:
                    rows += self._recover_run(connection, job, run, started, now)
                else:
                    rows += self.outcomes.fail_damaged(connection, job, run, now)
            return rows, started

        rows, started = await self.database.write("runs.recover", work) if lost else ([], [])
        self.enqueue(rows)
        self._launch(started)
        # A run that waits for its model would keep the others from beginning for a day.
        self._running_count = len(running) - outages
        known = {run.id for run in running}
        self._conversations = {
            run_id: conversation_id
            for run_id, conversation_id in self._conversations.items()
            if run_id in known
        }

    def _start(
        self,
        connection: Connection,
        job: Job,
        run: Run,
        started: list[_Started],
        now: int,
    ) -> Sequence[OutboxRow]:
        if job.state == "dropped":
            job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason="dropped")
            return ()
        if job.state == "paused" and not is_asked(run):
            job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason="paused")
            return ()
        if job.kind == "message":
            made = Made(words=show_message(job, compose_message(job, run)))
            return self.outcomes.succeed(connection, job, run, made, now)
        if job.kind != "prompt" or _has_gate(job, run):
            started.append((run, job))
            return ()
        return self._start_turn(connection, job, run, started, now)

    def _start_turn(
        self,
        connection: Connection,
        job: Job,
        run: Run,
        started: list[_Started],
        now: int,
    ) -> Sequence[OutboxRow]:
        try:
            started.append(self.agent_runs.start(connection, job, run, now))
        except JobLimitReached as refused:
            with speak_to(connection, job.person_id):
                return self.outcomes.refuse(connection, job, run, refused.say(), now)
        except RunRefused as refused:
            with speak_to(connection, job.person_id):
                return self.outcomes.fail_for_good(connection, job, run, refused.say(), now)
        return ()

    def _recover_run(
        self,
        connection: Connection,
        job: Job,
        run: Run,
        started: list[_Started],
        now: int,
    ) -> Sequence[OutboxRow]:
        """Continue or fail a running run that no task works on."""
        # The script may be what stops the gateway: never run it again at once.
        has_gate = _has_gate(job, run)
        if job.kind == "script" or (has_gate and job.options.gate.startswith("script")):
            with speak_to(connection, job.person_id):
                reason = job_results.INTERRUPTED_SCRIPT()
            return self.outcomes.fail(connection, job, run, reason, now)
        if job.kind != "prompt" or has_gate:
            started.append((run, job))
            return ()
        if self._is_running(run.id):
            return ()
        try:
            pending = self.agent_runs.resume(connection, job, run, now)
        except RunRefused as refused:
            with speak_to(connection, job.person_id):
                return self.outcomes.fail_for_good(connection, job, run, refused.say(), now)
        if pending:
            started.append(pending)
            return ()
        # The event was taken, so this attempt's turn has ended or never began. The turn of an
        # earlier attempt proves nothing about this one.
        turn = job_runs.find_turn(connection, run_id=run.id)
        if turn and turn[1] == "running":
            return ()
        with speak_to(connection, job.person_id):
            reason = job_results.INTERRUPTED_TURN()
        return self.outcomes.fail(connection, job, run, reason, now)

    def _is_running(self, run_id: RunId) -> bool:
        conversation_id = self._conversations.get(run_id)
        return conversation_id is not None and self.lanes.is_running(conversation_id)

    def _launch(self, started: Sequence[_Started]) -> None:
        for one in started:
            if isinstance(one, QueuedMessage):
                assert one.job_turn  # noqa: S101 - it is the turn of a run
                self._conversations[one.job_turn.run_id] = one.conversation.id
                self.lanes.put(one)
                self._running_count += 1
            elif one[0].id not in self._tasks:
                run, job = one
                self._tasks[run.id] = self.group.create_task(self._run_task(run, job))
                self._running_count += 1

    async def _run_task(self, run: Run, job: Job) -> None:
        """Run a script, a system task or a gate, and record its outcome."""
        try:
            # A task has a language of its own: that of the person who reads the outcome.
            set_language(await self._find_language(job))
            if job.kind == "prompt":
                await self._pass_gate(run, job)
                return
            try:
                output, fault = await self._do(run, job)
            except Exception:  # the bulkhead: raised, it would crash the gateway at every start
                _log.exception("unexpected error in run %d of job %d", run.id, job.id)
                output, fault = "", job_results.UNEXPECTED()
            now = self.now()
            words = shorten_output(output)
            made = Made(words=words, whole="" if words == output.strip() else output)

            def work(connection: Connection) -> Sequence[OutboxRow]:
                if fault:
                    return self.outcomes.fail(connection, job, run, fault, now)
                return self.outcomes.succeed(connection, job, run, made, now)

            rows = await self.database.retry_while_unavailable(
                lambda: self.database.write("runs.end", work), f"job {job.id}"
            )
            self.enqueue(rows)
        finally:
            del self._tasks[run.id]
            self.wake()

    async def _find_language(self, job: Job) -> str | None:
        """Return the language of the person whose job this is, if they have set one."""
        if (person_id := job.person_id) is None:
            return None
        person = await self.database.retry_while_unavailable(
            lambda: self.database.read(people.find, person_id=person_id),
            f"job {job.id}",
        )
        return person.language if person else None

    async def _pass_gate(self, run: Run, job: Job) -> None:
        """Check the gate of a run, and start its turn if the gate is open."""
        try:
            outcome, fault = await self.gates.check(job)
        except Exception:  # the bulkhead, as in `_run_task`
            _log.exception("unexpected error in the gate of job %d", job.id)
            outcome, fault = GateOutcome(is_open=False), job_results.UNEXPECTED()
        now = self.now()

        def work(connection: Connection) -> tuple[Sequence[OutboxRow], list[_Started]]:
            started: list[_Started] = []
            if fault:
                hidden = self.cleaner.mask.hide(fault)
                return self.outcomes.fail(connection, job, run, hidden, now), started
            note_gate(connection, job, run, outcome, now)
            fresh = jobs.find(connection, job_id=job.id)
            if not outcome.is_open or fresh is None:
                return (), started
            return self._start(connection, fresh, run, started, now), started

        rows, started = await self.database.retry_while_unavailable(
            lambda: self.database.write("runs.gate", work), f"job {job.id}"
        )
        self.enqueue(rows)
        self._launch(started)

    async def _do(self, run: Run, job: Job) -> tuple[str, str]:
        """Run a script or a system task; return its output and its error, or an empty text."""
        if job.kind == "script":
            output = await run_script(
                job.body,
                self.folder,
                self.environ,
                self.script_limits,
                given=run.input,
            )
            return await self.cleaner.hide(output.text), await self.cleaner.hide(output.fault)
        work = self.system_tasks.get(job.body)
        if work is None:
            return "", job_results.NO_TASK(name=job.body)
        try:
            return await work(), ""
        except (CoreError, OSError) as error:
            return "", str(error)


def _has_gate(job: Job, run: Run) -> bool:
    """Return whether a gate has to let a run pass, and has not yet. Requested runs need no gate."""
    return bool(job.options.gate) and job.options.gate_passed != run.id and not is_asked(run)


def _merge_waiting(connection: Connection, job: Job, run: Run, now: int) -> bool:
    """Merge a run into the next scheduled one that is due, as after a long outage of the model.

    Only the newest run counts, unless the job makes up for all of them or a person asked.
    """
    if job.late == "all" or run.attempts > 1 or is_asked(run) or run.is_event:
        return False
    newer = [
        one
        for one in job_runs.list_newer(connection, run=run, now=now)
        if not (is_asked(one) or one.is_event)
    ]
    if newer:
        job_runs.merge(connection, run=run, into=newer[0].id, now=now)
    return bool(newer)
