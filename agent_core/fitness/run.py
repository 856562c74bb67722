"""Run the fitness test, one task at a time, so that it can be stopped and continued."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelUnknown,
    ModelUnreachable,
)
from agent_core.fitness.background_tasks import BACKGROUND_TASKS
from agent_core.fitness.card import Card, TaskResult, count_scores, is_worth, make_card
from agent_core.fitness.checks import find_oddity
from agent_core.fitness.decision_tasks import DECISION_TASKS
from agent_core.fitness.tasks import TASKS, FitnessTask, count_areas
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.models.profiles import ModelProfile

EDITION = 2
"""The edition of the tasks; a new one asks for a new test."""
RUN = "fitness_run"
"""The kind of the fact that holds an unfinished test."""
LONGEST = 15 * 60.0
"""Seconds after which a test ends; what is left counts as failed."""
_PATIENCE = 90.0
"""Seconds for one answer."""
_LOADING = 600.0
"""Seconds for the first answer, because a local server may have to load its model first."""

_NOT_NOW = (ModelUnreachable, ModelDenied, ModelUnknown)
"""Errors that say nothing about the model."""
_LONGEST_FAULT = 160

EVERY_TASK = (*TASKS, *DECISION_TASKS, *BACKGROUND_TASKS)
_COUNTS = count_areas(EVERY_TASK)

Ask = Callable[[ModelRequest], Awaitable[ModelAnswer]]
"""Makes one model call. Raises `ModelError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitnessRun:
    """A test under way: the results so far, and what the server told of the model's files."""

    results: tuple[TaskResult, ...] = ()
    identity: str = ""
    is_loaded: bool = False
    """True once the model has answered anything."""
    edition: int = EDITION

    def dump(self) -> dict[str, Any]:
        """Return the run as JSON takes it."""
        return {
            "results": [asdict(one) for one in self.results],
            "identity": self.identity,
            "is_loaded": self.is_loaded,
            "edition": self.edition,
        }

    @property
    def next_task(self) -> FitnessTask | None:
        """The next task whose result can still matter; None at the end."""
        if sum(one.seconds for one in self.results) >= LONGEST:
            return None
        done = {one.task for one in self.results}
        scores = count_scores(self.results, _COUNTS)
        rest = (one for one in EVERY_TASK if one.name not in done)
        return next((one for one in rest if is_worth(one.area, scores)), None)

    def close(self) -> Card:
        """Return the card of a run without a next task."""
        return make_card(self.results, _COUNTS, edition=self.edition, identity=self.identity)


def find_run(profile: ModelProfile) -> FitnessRun | None:
    """Return the unfinished test of a model; None without one, or with one of other tasks."""
    stored: Mapping[str, Any] | None = profile.values.get(RUN)
    if stored is None or stored.get("edition") != EDITION:
        return None
    return FitnessRun(
        results=tuple(TaskResult(**one) for one in stored["results"]),
        identity=stored["identity"],
        is_loaded=stored["is_loaded"],
    )


async def go_on(run: FitnessRun, task: FitnessTask, model: str, ask: Ask) -> FitnessRun:
    """Do one task, and return the run with its result.

    An answer that comes too late, breaks off or is refused fails its task. Raises `ModelError` if
    nobody can be asked now, and `TimeoutError` if the model does not load.
    """
    request = replace(task.request, model=model)
    if not run.is_loaded or _starts_over(run, task):
        # Not counted: a server loads the model first, or reads other rules and tools, which it
        # keeps for all of the next tasks, as it does for messages.
        async with asyncio.timeout(_LOADING):
            await ask(replace(request, max_output_tokens=1))
    before = time.monotonic()
    try:
        async with asyncio.timeout(_PATIENCE):
            result = judge(task, await ask(request))
    except _NOT_NOW:
        raise
    except (ModelError, TimeoutError) as error:
        if isinstance(error, ModelBusy) and error.retry_after is not None:
            raise  # the server limits the rate
        fault = f"the server fails: {error}" if str(error) else "there is no answer in time"
        odd = fault[:_LONGEST_FAULT]
        result = TaskResult(task=task.name, area=task.area, fault=odd, odd=odd)
    result = replace(result, seconds=round(time.monotonic() - before, 2))
    return replace(run, results=(*run.results, result), is_loaded=True)


def _starts_over(run: FitnessRun, task: FitnessTask) -> bool:
    """Return whether a task has other rules or tools than the one before it."""
    before = next((one for one in EVERY_TASK if one.name == run.results[-1].task), task)
    return (before.request.system, before.request.tools) != (
        task.request.system,
        task.request.tools,
    )


def judge(task: FitnessTask, answer: ModelAnswer) -> TaskResult:
    """Judge the answer to a task; its time is left out."""
    odd = find_oddity(answer)
    faults = [fault for check in task.checks if (fault := check.find_fault(answer))]
    return TaskResult(
        task=task.name,
        area=task.area,
        fault=(faults or [odd])[0],
        odd=odd,
        read=answer.usage.read_tokens,
        cached=answer.usage.cache_read_tokens,
        written=answer.usage.output_tokens,
    )
