"""Run the tasks of a batch, many at once, so that a kill at any point repeats none."""

import asyncio
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.batch.records import (
    MODEL_FAULTS,
    NO_PLACE,
    Attempt,
    TaskRecord,
    list_records,
    make_row,
)
from agent_core.batch.task_file import BatchTask, LineFault, TaskFile
from agent_core.errors import BackendUnavailable, DiskFull, StoreError, StoreFull, WorkspaceError
from agent_core.execution.contract import Backend, Command
from agent_core.execution.timed_command import run_command
from agent_core.library.ai_agent import PLATFORM, AIAgent, Answer, TurnSuspended
from agent_core.state.conversations import turns, usage
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import batch_tasks
from agent_core.transcript import repair_text

_OWNER = "batch"
"""The person to whom the rows of the tasks belong; nobody talks as them."""
_CHECK_SECONDS = 120.0
_CHECK_BYTES = 20_000
_SHOWN = 500
"""Characters of a detail that a record keeps."""
_log = logging.getLogger(__name__)

Stop = Literal["", "asked", "money", "time", "full", "store", "model", "place"]
"""Why a run ended before its tasks: somebody asked, a limit, the disk, the database, the model, or
the place for commands and files.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The limits of a run. `attempts` is how often a task is tried.

    `micro_dollars` and `seconds` bound this run together; 0 means no limit. Tasks that have begun
    are finished when the money is spent, and interrupted when the time is up.
    """

    at_once: int = 8
    attempts: int = 2
    micro_dollars: int = 0
    seconds: float = 0.0


class TasksChanged(Exception):
    """A line of the file is another task than when it ran. The text is a sentence."""


class BatchRun:
    """The run of one folder. Its records are in the database; see `agent_core.batch`."""

    def __init__(
        self,
        agent: AIAgent,
        backend: Backend | None,
        limits: BatchLimits,
        *,
        show: Callable[["BatchRun"], None] = lambda _: None,
    ) -> None:
        """`show` gets the run at its beginning and after each task."""
        self._agent = agent
        self._backend = backend
        self._limits = limits
        self._show = show
        self._records: dict[int, TaskRecord] = {}
        self._waiting: deque[int] = deque()
        self._spent = 0
        self.stopped: Stop = ""
        self.detail = ""
        """What the provider or the database said, if one of them stopped the run."""

    @property
    def records(self) -> Sequence[TaskRecord]:
        """The records by line."""
        return [*self._records.values()]

    async def load(self, file: TaskFile) -> None:
        """Store the tasks of a file beside those that the run knows.

        A line that never ran may have changed. Raises `TasksChanged`, and `StoreError`.
        """
        owner, _ = await self._agent.find_person(_OWNER, tools=())
        given: list[BatchTask | LineFault] = [*file.tasks, *file.faults]
        given.sort(key=lambda one: one.line)
        now = time.time_ns() // 1_000_000

        def store(connection: Connection) -> list[TaskRecord]:
            known = {one.line: one for one in list_records(connection)}
            for one in given:
                if (found := known.get(one.line)) is None:
                    batch_tasks.insert(connection, row=make_row(one), person_id=owner.id, now=now)
                elif _differs(found, one):
                    _refuse_begun(connection, found)
                    row = make_row(one)
                    batch_tasks.save(
                        connection, task_id=found.id, payload=row.payload, state=row.state
                    )
            return list_records(connection)

        stored = await self._agent.database.write("batch.load", store)
        self._records = {one.line: one for one in stored}

    async def run(self) -> Stop:
        """Run every task that is owed; return why tasks are left, "" if none is.

        Raises nothing but cancellation: what stops the run is in `stopped` and `detail`.
        """
        self._waiting.extend(one.line for one in self.records if one.state == "owed")
        self._show(self)
        timer = None
        if self._limits.seconds:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(self._limits.seconds, self.stop, "time")
        watching = asyncio.create_task(self._watch_faults())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._limits.at_once, len(self._waiting))):
                    group.create_task(self._work())
        finally:
            watching.cancel()
            if timer:
                timer.cancel()
        return self.stopped

    async def _watch_faults(self) -> None:
        """Stop the run once a model has a fault that only a person can end."""
        host = self._agent.host
        while await host.has_new_fault.wait():
            host.has_new_fault.clear()
            if fault := next((one for one in host.faults if one.reason in MODEL_FAULTS), None):
                self.stop("model", fault.detail or fault.reason)

    def stop(self, reason: Stop, detail: str = "", *, finishes: bool = False) -> None:
        """Begin no further task. Unless it `finishes` them, those that run pause at a step."""
        if not self.stopped:
            self.stopped, self.detail = reason, detail
        if not finishes:
            self._agent.host.stop.set()

    async def _work(self) -> None:
        while self._waiting and not self.stopped:
            record = self._records[self._waiting.popleft()]
            try:
                await self._try(record)
            except TurnSuspended:
                return
            except (StoreFull, DiskFull) as error:
                self.stop("full", str(error))
            except StoreError as error:
                self.stop("store", str(error))
            except BackendUnavailable as error:
                self.stop("place", str(error))

    async def _try(self, record: TaskRecord) -> None:
        """Make the next attempt at a task, or finish the one that an earlier process left.

        Raises `BackendUnavailable` if nothing of the attempt is lost: the next run goes on with it.
        """
        assert record.task  # noqa: S101 - a line with a fault is never owed
        name, is_new = _name_next(record), True
        try:
            attempt, is_new = await self._make_attempt(record.task, name)
        except (StoreError, DiskFull, TurnSuspended, BackendUnavailable):
            raise
        except WorkspaceError as error:
            attempt = Attempt(person=name, ending="failed", reason="workspace", detail=str(error))
        except Exception as error:  # a bulkhead: one task's failure harms no other
            _log.exception("task %d broke", record.line)
            attempt = await self._agent.database.read(_measure_broken, name, error)
        done = record.add(attempt, most=self._limits.attempts)
        await self._agent.database.write(
            "batch.record", batch_tasks.save, task_id=done.id, payload=done.dump(), state=done.state
        )
        self._records[done.line] = done
        self._spent += attempt.micro_dollars or 0
        if attempt.reason in MODEL_FAULTS and is_new:
            self.stop("model", attempt.detail or attempt.reason)
        elif attempt.reason == NO_PLACE:
            self.stop("place", attempt.detail)
        elif self._limits.micro_dollars and self._spent >= self._limits.micro_dollars:
            self.stop("money", finishes=True)
        elif done.state == "owed":
            self._waiting.append(done.line)
        self._show(self)

    async def _make_attempt(self, task: BatchTask, name: str) -> tuple[Attempt, bool]:
        """Return the attempt, and False if its turn had ended before a kill."""
        person, _ = await self._agent.find_person(name, tools=task.tools)
        answer = await self._agent.resume(person=name)
        if answer is None:
            for path, text in task.files.items():
                await self._find_backend().write_file(person.slug, path, text.encode())
            answer = await self._agent.run_conversation(task.prompt, person=name)
        attempt = await self._agent.database.read(_measure, name, answer)
        if any(failed for _, failed in attempt.tools.values()) and self._backend:
            try:
                await self._backend.health()
            except BackendUnavailable as error:  # its commands may have failed for that alone
                lost = replace(attempt, ending="failed", reason=NO_PLACE, detail=str(error))
                return lost, answer.is_new
        if attempt.is_success and task.check:
            attempt = await self._check(task.check, person, attempt)
        return attempt, answer.is_new

    async def _check(self, check: str, person: Person, attempt: Attempt) -> Attempt:
        """Run a task's check in its workspace. After a kill, it may run again.

        Raises `BackendUnavailable`; the next run checks the same answer.
        """
        command = Command(workspace=person.slug, argv=("/bin/sh", "-c", check), is_offline=True)
        try:
            ended = await run_command(
                self._find_backend(), command, seconds=_CHECK_SECONDS, most_bytes=_CHECK_BYTES
            )
        except (DiskFull, BackendUnavailable):
            raise
        except WorkspaceError as error:  # the answer has its price
            return replace(attempt, ending="failed", reason="workspace", detail=str(error))
        if ended.status == 0 and not ended.limit:
            return attempt
        said = ended.output.decode(errors="replace").strip()[-_SHOWN:]
        end = f"limit of {ended.limit}" if ended.limit else f"exit status {ended.status}"
        return replace(attempt, reason="check", detail=f"{end}: {said}" if said else end)

    def _find_backend(self) -> Backend:
        if self._backend is None:
            raise BackendUnavailable("this run has no place for files and commands")
        return self._backend


def _name_next(record: TaskRecord) -> str:
    """Return the person of the next attempt, or of the one that an earlier process left."""
    return f"task-{record.line}-{len(record.attempts) + 1}"


def _differs(found: TaskRecord, given: BatchTask | LineFault) -> bool:
    """Return whether a line has changed since the last run."""
    if isinstance(given, LineFault):
        return found.task is not None or found.fault != given.fault
    return found.task != given


def _refuse_begun(connection: Connection, found: TaskRecord) -> None:
    """Raise `TasksChanged` for a task that ran, or that an earlier process has begun."""
    name = _name_next(found)
    is_begun = people.find_by_account(connection, platform=PLATFORM, user_id=name) is not None
    if found.attempts or is_begun:
        raise TasksChanged(
            f"Line {found.line} is another task than the one that ran. Put it back, or give the new"
            " file a folder of its own with --into."
        )


def _measure(connection: Connection, name: str, answer: Answer) -> Attempt:
    """Return a finished turn as an attempt, with its cost and its calls."""
    turn = turns.find(connection, turn_id=answer.turn_id)
    assert turn  # noqa: S101 - a turn that was answered is on disk
    attempt = Attempt(
        person=name, ending=answer.ending, reason=answer.reason, detail=answer.detail[:_SHOWN]
    )
    return _count(connection, attempt, turn)


def _measure_broken(connection: Connection, name: str, error: Exception) -> Attempt:
    """Return an attempt that ended by an error, with what its turn, if it had begun, has cost."""
    detail = f"{type(error).__name__}: {error}"[:_SHOWN]
    attempt = Attempt(person=name, ending="failed", reason="broken", detail=repair_text(detail))
    person = people.find_by_account(connection, platform=PLATFORM, user_id=name)
    if person is None:
        return attempt
    found = turns.list_of_person(connection, person_id=person.id, before=sys.maxsize, limit=1)
    return _count(connection, attempt, found[0]) if found else attempt


def _count(connection: Connection, attempt: Attempt, turn: StoredTurn) -> Attempt:
    """Return an attempt with what its turn has cost so far."""
    spent = usage.total_of_turn(connection, turn_id=turn.id)
    tools: dict[str, tuple[int, int]] = {}
    for step in turns.list_steps(connection, turn_id=turn.id):
        calls, failed = tools.get(step.name, (0, 0))
        tools[step.name] = (calls + 1, failed + step.is_error)
    lasted = (turn.ended_at or turn.started_at) - turn.started_at
    return replace(
        attempt,
        calls=spent.calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        micro_dollars=spent.micro_dollars,
        seconds=lasted / 1000,
        tools=tools,
    )
