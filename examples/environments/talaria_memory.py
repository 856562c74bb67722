"""`talaria-memory` for `verifiers`: our loop plays small tasks for the memory."""

from collections.abc import Iterable

import verifiers.v1 as vf

from agent_core.environments.memory_tasks import MemoryTasks
from agent_core.environments.with_verifiers import (
    SeededTask,
    SeededTasksConfig,
    TalariaHarness,
    list_tasks,
)

__all__ = ["MemoryHarness", "MemoryTaskset"]


class MemoryTask(SeededTask):
    """A task that the state of the memory decides."""

    tasks = MemoryTasks()


class MemoryTaskset(vf.Taskset[MemoryTask, SeededTasksConfig]):
    """The tasks."""

    def load(self) -> Iterable[MemoryTask]:
        """List the tasks of the chosen seeds."""
        return list_tasks(MemoryTask, self.config)


class MemoryHarness(TalariaHarness):
    """The loop that plays them."""

    tasks = MemoryTasks()
