"""Begins what jobs are for: a message, a turn, a command, or one of the house's own works."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import CoreError, StoreError
from agent_core.ids import ConversationId, RunId
from agent_core.skills.catalog import SkillCatalog
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.queues.outbox import OutboxRow
from gateway.conversion import QueuedMessage
from gateway.jobs import agent_runs
from gateway.jobs.agent_runs import AgentRunDeps, RunRefused, Spent
from gateway.jobs.history import shorten
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import Made, Outcomes, is_asked
from gateway.scheduler.scripts import run_script
from gateway.turns.lanes import Lanes

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0
_BROKEN = "its turn broke off."
_CUT_OFF = "I was ended while its command ran."
_UNFORESEEN = "something went wrong in me that I was not prepared for; my log says what."

Work = Callable[[], Awaitable[str]]
"""One of the house's own works; what it gives says what was done, for the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerDeps:
    """What runs need: the house's rooms; for commands a folder and an environment; the works."""

    group: asyncio.TaskGroup
    database: Database
    lanes: Lanes
    enqueue: Callable[[Sequence[OutboxRow]], None]
    now: Callable[[], int]
    folder: Path
    environ: Mapping[str, str]
    works: Mapping[str, Work]
    shelf: SkillCatalog
    """Where jobs find how their work is to be done."""
    at_once: int
    """How many runs may be under way: people come first, so jobs have places of their own."""


class JobRunner:
    """The runs that are under way, as the database has them."""

    def __init__(self, bench: RunnerDeps, *, outcomes: Outcomes, notifier: Notifier) -> None:
        self._bench = bench
        self._database = bench.database
        self._lanes = bench.lanes
        self._now = bench.now
        self._outcomes = outcomes
        self._equipment = AgentRunDeps(notifier=notifier, shelf=bench.shelf)
        self._tasks: dict[RunId, asyncio.Task[None]] = {}
        self._talks: dict[RunId, ConversationId] = {}
        """Where the turns that this process has sent off are held."""
        self._under_way = 0
        self._is_open = True

    def close(self) -> None:
        """Begin nothing more; what is under way is gone on with at the next start."""
        self._is_open = False

    def count_free_slots(self) -> int:
        """How many more runs may be begun."""
        return self._bench.at_once - self._under_way if self._is_open else 0

    def is_answering(self) -> bool:
        """True while a turn is under way, or waits for its place."""
        return not self._lanes.is_idle()

    def is_idle(self) -> bool:
        """True while no command and no work of the house's own runs."""
        return not self._tasks

    async def begin(self, runs: Sequence[Run]) -> None:
        """Begin runs; each ends by itself. Raises `StoreError`."""
        now = self._now()

        def work(
            connection: Connection,
        ) -> tuple[list[OutboxRow], list[QueuedMessage | tuple[Run, Job]]]:
            rows: list[OutboxRow] = []
            begun: list[QueuedMessage | tuple[Run, Job]] = []
            for waiting in runs:
                if not job_runs.begin(connection, run_id=waiting.id, now=now):
                    continue
                run = job_runs.find(connection, run_id=waiting.id)
                assert run is not None  # noqa: S101 - it was begun just now
                job = jobs.find(connection, job_id=run.job_id)
                if job and job.is_whole and run.is_whole:
                    rows += self._start(connection, job, run, begun, now)
                else:
                    rows += self._outcomes.lose(connection, job, run, now)
            return rows, begun

        rows, begun = await self._database.write("runs.begin", work)
        self._bench.enqueue(rows)
        self._set_going(begun)

    async def recover(self) -> None:
        """Go on with what is under way and nobody works on, also after a crash.

        Raises `StoreError`.
        """
        now = self._now()
        running = await self._database.read(job_runs.list_running)
        lost = [run for run in running if run.id not in self._tasks]

        def work(
            connection: Connection,
        ) -> tuple[list[OutboxRow], list[QueuedMessage | tuple[Run, Job]]]:
            rows: list[OutboxRow] = []
            begun: list[QueuedMessage | tuple[Run, Job]] = []
            for known in lost:
                run = job_runs.find(connection, run_id=known.id)
                job = jobs.find(connection, job_id=known.job_id)
                if run is None or run.ended_at is not None:
                    continue
                if job and job.is_whole and run.is_whole:
                    rows += self._find_again(connection, job, run, begun, now)
                else:
                    rows += self._outcomes.lose(connection, job, run, now)
            return rows, begun

        rows, begun = await self._database.write("runs.recover", work) if lost else ([], [])
        self._bench.enqueue(rows)
        self._set_going(begun)
        self._under_way = len(running)
        known = {run.id for run in running}
        self._talks = {run_id: talk for run_id, talk in self._talks.items() if run_id in known}

    def _start(
        self,
        connection: Connection,
        job: Job,
        run: Run,
        begun: list[QueuedMessage | tuple[Run, Job]],
        now: int,
    ) -> Sequence[OutboxRow]:
        if job.state == "dropped":
            job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason="dropped")
            return ()
        if job.state == "paused" and not is_asked(run):
            job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason="paused")
            return ()
        if job.kind == "message":
            made = Made(words=job.body)
            return self._outcomes.succeed(connection, job, run, made, now)
        if job.kind != "prompt":
            begun.append((run, job))
            return ()
        try:
            begun.append(agent_runs.send_off(connection, job, run, self._equipment, now))
        except Spent as reason:
            return self._outcomes.refuse(connection, job, run, str(reason), now)
        except RunRefused as reason:
            return self._outcomes.give_up(connection, job, run, str(reason), now)
        return ()

    def _find_again(
        self,
        connection: Connection,
        job: Job,
        run: Run,
        begun: list[QueuedMessage | tuple[Run, Job]],
        now: int,
    ) -> Sequence[OutboxRow]:
        """What becomes of a run that is under way, and that may have been lost sight of."""
        if job.kind == "script":  # it may be what ends the house: never again at once
            return self._outcomes.fail(connection, job, run, _CUT_OFF, now)
        if job.kind != "prompt":
            begun.append((run, job))
            return ()
        if self._is_at_work(run.id):
            return ()
        try:
            pending = agent_runs.pick_up(connection, job, run, self._equipment, now)
        except RunRefused as reason:
            return self._outcomes.give_up(connection, job, run, str(reason), now)
        if pending:
            begun.append(pending)
            return ()
        # Nobody is at it and its event was taken: what is left is the turn of this try, or
        # nothing. The turn of an earlier try says nothing of this one.
        turn = job_runs.find_turn(connection, run_id=run.id)
        if turn and turn[1] == "running":
            return ()
        return self._outcomes.fail(connection, job, run, _BROKEN, now)

    def _is_at_work(self, run_id: RunId) -> bool:
        talk = self._talks.get(run_id)
        return talk is not None and self._lanes.is_running(talk)

    def _set_going(self, begun: Sequence[QueuedMessage | tuple[Run, Job]]) -> None:
        for one in begun:
            if isinstance(one, QueuedMessage):
                assert one.job_turn  # noqa: S101 - it is the turn of a run
                self._talks[one.job_turn.run_id] = one.conversation.id
                self._lanes.put(one)
                self._under_way += 1
            elif one[0].id not in self._tasks:
                run, job = one
                self._tasks[run.id] = self._bench.group.create_task(self._labour(run, job))
                self._under_way += 1

    async def _labour(self, run: Run, job: Job) -> None:
        """Do the work of a command or of the house and write down what came of it."""
        try:
            try:
                said, fault = await self._do(job)
            except Exception:  # the bulkhead: left to go on, it would end the house at each start
                _log.exception("unexpected error in run %d of job %d", run.id, job.id)
                said, fault = "", _UNFORESEEN
            now = self._now()
            words = shorten(said)
            made = Made(words=words, whole="" if words == said.strip() else said)

            def work(connection: Connection) -> Sequence[OutboxRow]:
                if fault:
                    return self._outcomes.fail(connection, job, run, fault, now)
                return self._outcomes.succeed(connection, job, run, made, now)

            while True:
                try:
                    self._bench.enqueue(await self._database.write("runs.end", work))
                except StoreError as error:
                    _log.error("job %d waits for the store to be settled: %s", job.id, error)
                    await asyncio.sleep(_STORE_PAUSE)
                else:
                    return
        finally:
            del self._tasks[run.id]
            self._outcomes.wakeup.set()

    async def _do(self, job: Job) -> tuple[str, str]:
        """What a command or a work said, and why it did not work."""
        if job.kind == "script":
            output = await run_script(job.body, self._bench.folder, self._bench.environ)
            return output.text, output.fault
        work = self._bench.works.get(job.body)
        if work is None:
            return "", f"this version knows no work named {job.body}."
        try:
            return await work(), ""
        except (CoreError, OSError) as error:
            return "", str(error)
