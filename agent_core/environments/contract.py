"""The contract of a task set: tasks made from a seed, and a judge of what became of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

Memory = Mapping[str, tuple[str, ...]]
"""The entries of the lists `memory` and `user`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentTask:
    """A task. Equal seeds give equal tasks.

    `files` are in the workspace, and `known` in the list `user` of the memory, before the
    assistant reads the prompt. `tools` are the only tools that it has. `wanted` is what the judge
    looks for: texts of files by path, or entries of the memory.
    """

    seed: int
    prompt: str
    tools: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    wanted: Mapping[str, str] = field(default_factory=dict)
    unwanted: tuple[str, ...] = ()
    """Words that no entry of the memory may hold in the end."""


class Scene(Protocol):
    """Shows a judge what is left of an episode."""

    async def read_file(self, path: str) -> str | None:
        """Return the text of a file in the workspace; None if there is no such file."""

    async def read_memory(self) -> Memory:
        """Return what the assistant remembers."""


class TaskSet(Protocol):
    """A kind of tasks. Holds no state."""

    @property
    def name(self) -> str:
        """The name, in lower case with `_`."""

    @property
    def needs_workspace(self) -> bool:
        """Whether its tasks work with files and commands."""

    def make(self, seed: int) -> EnvironmentTask:
        """Make the task of a seed; pure."""

    async def judge(self, task: EnvironmentTask, scene: Scene) -> float:
        """Return the reward from 0 to 1 for what is left. The words of the answer don't count."""
