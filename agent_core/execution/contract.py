"""The contract of execution backends, which run a person's commands and hold their files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

Limit = Literal["", "memory", "processes", "disk"]
"""The limit that ended a command; "" for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program with its arguments, run in a workspace.

    `workspace` is the slug of its person, and `folder` is relative to the workspace. Standard input
    is empty, unless it `has_input`: then `Process.write` sends it.

    A command that `is_alone` holds a secret. Where commands of a workspace see each other, none
    runs beside it.

    Running commands of one `circle`, such as a conversation, reach each other at 127.0.0.1; "" for
    a command that nothing reaches. Some backends have one such network for each workspace.

    A command that `is_offline` gets no network and no circle, where a list of hosts would bound it.
    """

    workspace: str
    argv: tuple[str, ...]
    folder: str = ""
    has_input: bool = False
    is_alone: bool = False
    circle: str = ""
    is_offline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """The end of a command: its status as a shell reports it, and the limit that it exceeded.

    `refusals` are sentences on what its network refused.
    """

    status: int
    limit: Limit = ""
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """The first bytes of a file, and the size of the whole file in bytes."""

    data: bytes
    size: int


class Process(Protocol):
    """A started command."""

    async def read(self) -> bytes:
        """Return the next output of both streams, in the order of writing; b"" at the end.

        May wait as long as the command runs. Cancellation loses no output.
        """

    async def write(self, data: bytes) -> None:
        """Send input to a command that `has_input`; b"" closes the input.

        May wait as long as the command does not read. A cancelled call may have sent all data.
        Raises `WorkspaceError` if the command no longer reads.
        """

    async def wait(self) -> Exit:
        """Wait until the command ends, and enforce its limits meanwhile.

        Cancellation leaves the command running; the caller who started it must call `kill` in the
        end. Raises `BackendUnavailable` if the backend is lost meanwhile.
        """

    async def kill(self) -> None:
        """Kill the command and everything that it started, even processes that try to escape.

        Returns when all of them have ended; does nothing if they ended before. Signals are sent
        before the first wait, so a cancelled call kills, too.
        """


class Backend(Protocol):
    """A place where commands run, one workspace per person.

    A command sees its own workspace, at `/workspace`, and no other data of Talaria. Every method
    may wait, and raises `BackendUnavailable` if the backend can't be used now.
    """

    @property
    def name(self) -> str:
        """The name in the configuration; constant."""

    @property
    def is_confined(self) -> bool:
        """True if commands can change only their workspace; constant."""

    def has_network(self, workspace: str) -> bool:
        """True if the commands of a workspace may reach a network; never waits."""

    def has_wall(self, workspace: str) -> bool:
        """True if a list of hosts bounds what the commands of a workspace reach; never waits."""

    def find_seconds(self, workspace: str) -> int:
        """Return the longest time of a command in a workspace, in seconds; never waits."""

    def find_place(self, workspace: str) -> Path | None:
        """Return the folder of this machine that holds a workspace; None if it lies elsewhere."""

    async def end_abandoned(self) -> int:
        """Kill the processes that an earlier gateway left running; return their number.

        Call this before the first command, and only in the gateway: other processes may have
        commands in the same workspaces.
        """

    async def start(self, command: Command) -> Process:
        """Start a command. Cancellation leaves nothing running.

        Everything that the command starts ends with it, and when this process ends; if this process
        is killed, soon after. Raises `WorkspaceError` if the folder does not exist. In a full
        workspace, a command may delete, but add nothing.
        """

    async def read_file(self, workspace: str, path: str, most: int) -> FileContent:
        """Read at most `most` bytes of a file. `path` is relative to the workspace.

        Raises `WorkspaceError` if it is not a plain file, or leads out of the workspace.
        """

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file atomically, or create it with its folders; a cancelled call may complete.

        Raises `WorkspaceError` if the path is a folder or leads out of the workspace, and if the
        workspace is full.
        """

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace."""

    async def sleep(self, workspace: str) -> None:
        """Free the resources of an idle workspace; the next command allocates them again.

        Does nothing while a command runs.
        """

    async def close(self) -> None:
        """Kill every command, and free all resources; the last call. Raises nothing."""

    async def health(self) -> None:
        """Run a harmless command; raise `BackendUnavailable` with the reason if it fails."""
