"""The contract of execution backends: where the commands and the files of a person are."""

from dataclasses import dataclass
from typing import Literal, Protocol

Limit = Literal["", "memory", "processes", "disk"]
"""The limit that ended a command; "" for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program with its arguments, run in a workspace.

    `workspace` is the slug of its person, and `folder` is relative to the workspace. Standard
    input is empty, unless it `has_input`: then it is what `Process.write` sends.
    """

    workspace: str
    argv: tuple[str, ...]
    folder: str = ""
    has_input: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """The end of a command: its status in the way of a shell, and the limit it exceeded.

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
    """A command that was started."""

    async def read(self) -> bytes:
        """Return the next output, both streams in the order of writing; b"" at the end.

        May wait as long as the command runs. Cancellation loses nothing.
        """

    async def write(self, data: bytes) -> None:
        """Send input to a command that `has_input`; b"" closes it.

        May wait as long as the command does not read. A cancelled call may have sent all of it.
        Raises `WorkspaceError` if the command reads no more.
        """

    async def wait(self) -> Exit:
        """Wait for the end, and keep the command within its limits meanwhile.

        Cancellation leaves the command running; whoever starts a command calls `kill` at last.
        Raises `BackendUnavailable` if the backend is lost meanwhile.
        """

    async def kill(self) -> None:
        """Kill the command and everything that it started, however that tries to get away.

        Returns once nothing of it is left; does nothing after the end. The signals are sent
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
        """True if commands can change nothing but their workspace; constant."""

    def has_network(self, workspace: str) -> bool:
        """True if the commands of a workspace may reach a network; never waits."""

    async def end_abandoned(self) -> int:
        """Kill what an earlier process left running; return how many processes that were.

        Call it before the first command, and only in the gateway: other processes may have
        commands of the same workspaces.
        """

    async def start(self, command: Command) -> Process:
        """Start a command. Cancellation leaves nothing running.

        Everything that it starts ends with it, and with this process; where that was killed, soon
        after. Raises `WorkspaceError` if
        the folder does not exist. In a full workspace a command may delete, but add nothing.
        """

    async def read_file(self, workspace: str, path: str, most: int) -> FileContent:
        """Read at most so many bytes of a file. `path` is relative to the workspace.

        Raises `WorkspaceError` if it is no plain file, or leads out of the workspace.
        """

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file at once, or create it with its folders; a cancelled call may complete.

        Raises `WorkspaceError` if the path is a folder or leads out of the workspace, and if the
        workspace is full.
        """

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace."""

    async def sleep(self, workspace: str) -> None:
        """Free the resources of an idle workspace; the next command takes them again.

        Does nothing while a command runs.
        """

    async def close(self) -> None:
        """Kill every command, and give back everything; the last call. Raises nothing."""

    async def health(self) -> None:
        """Run a harmless command; raise `BackendUnavailable` with the reason if it fails."""
