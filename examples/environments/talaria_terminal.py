"""`talaria-terminal` for `verifiers`: our loop plays small tasks in a terminal."""

from collections.abc import Iterable

import verifiers.v1 as vf

from agent_core.environments.terminal_tasks import TerminalTasks
from agent_core.environments.with_verifiers import (
    SeededTask,
    SeededTasksConfig,
    TalariaHarness,
    list_tasks,
)

__all__ = ["TerminalHarness", "TerminalTaskset"]


class TerminalTask(SeededTask):
    """A task that files decide."""

    tasks = TerminalTasks()


class TerminalTaskset(vf.Taskset[TerminalTask, SeededTasksConfig]):
    """The tasks."""

    def load(self) -> Iterable[TerminalTask]:
        """List the tasks of the chosen seeds."""
        return list_tasks(TerminalTask, self.config)


class TerminalHarness(TalariaHarness):
    """The loop that plays them."""

    tasks = TerminalTasks()
