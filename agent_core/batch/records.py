"""Records of the tasks of a run: each task or its fault, and its attempts."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from agent_core.batch.task_file import BatchTask, LineFault, load_task
from agent_core.ids import TaskId
from agent_core.state.engine.database import Connection
from agent_core.state.queues import batch_tasks
from agent_core.state.queues.batch_tasks import BatchRow

TaskState = Literal["owed", "done", "dead"]
"""A task that still has to run, one that succeeded, and one that failed for good."""
MODEL_FAULTS = frozenset(
    ("model_denied", "model_unknown", "model_misplaced", "model_unreachable", "model_busy")
)
"""Reasons of a model that can't answer anybody. The run stops."""
NO_PLACE = "place"
"""The reason of an attempt whose place for commands and files was gone. The run stops."""
NOT_ITS_FAULT = MODEL_FAULTS | {NO_PLACE}
"""Reasons that say nothing about a task: such an attempt counts as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Records an attempt at a task, by the person of its own who is named after it.

    `ending`, `reason` and `detail` are those of the turn; the reason `check` means that the task's
    check failed, and `detail` is then its output. `tools` counts calls and failed calls by name.
    `seconds` is how long the turn took.
    """

    person: str
    ending: str
    reason: str = ""
    detail: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micro_dollars: int | None = None
    seconds: float = 0.0
    tools: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        """True if the model answered, and the check, if any, went well."""
        return self.ending == "answered" and self.reason != "check"

    @property
    def counts(self) -> bool:
        """True if the attempt says something about the task."""
        return self.reason not in NOT_ITS_FAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A line of the task file. `task` is None for one that is no task; `fault` says why."""

    id: TaskId
    line: int
    state: TaskState
    task: BatchTask | None = None
    fault: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def last(self) -> Attempt | None:
        """The last attempt, which decides."""
        return self.attempts[-1] if self.attempts else None

    def add(self, attempt: Attempt, *, most: int) -> "TaskRecord":
        """Return the record with another attempt; after `most` that count, it is `dead`."""
        attempts = (*self.attempts, attempt)
        failed = sum(one.counts for one in attempts)
        state: TaskState = "done" if attempt.is_success else "dead" if failed >= most else "owed"
        return replace(self, attempts=attempts, state=state)

    def dump(self) -> str:
        """Return the record as it is stored."""
        return json.dumps(
            {
                "task": self.task and self.task.dump(),
                "fault": self.fault,
                "attempts": [asdict(one) for one in self.attempts],
            },
            ensure_ascii=False,
        )


def list_records(connection: Connection) -> list[TaskRecord]:
    """List the records of a run by line."""
    return [_load(row) for row in batch_tasks.list_all(connection)]


def make_row(given: BatchTask | LineFault) -> BatchRow:
    """Return the row of a line that was never stored."""
    is_task = isinstance(given, BatchTask)
    record = TaskRecord(
        id=TaskId(0),
        line=given.line,
        state="owed" if is_task else "dead",
        task=given if isinstance(given, BatchTask) else None,
        fault="" if isinstance(given, BatchTask) else given.fault,
    )
    return BatchRow(id=record.id, line=record.line, payload=record.dump(), state=record.state)


def _load(row: BatchRow) -> TaskRecord:
    given: dict[str, Any] = json.loads(row.payload)
    return TaskRecord(
        id=row.id,
        line=row.line,
        state="done" if row.state == "done" else "dead" if row.state == "dead" else "owed",
        task=load_task(given["task"]) if given["task"] else None,
        fault=given["fault"],
        attempts=tuple(
            Attempt(**{**one, "tools": {name: tuple(two) for name, two in one["tools"].items()}})
            for one in given["attempts"]
        ),
    )
