"""Run a command until it ends, with limits of time and output; works with every backend."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, Literal, Protocol, TypeVar

from agent_core.errors import WorkspaceError
from agent_core.execution.contract import Backend, Command, Limit, Process


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The result of a command: its output, its status, and the limit that ended it, if any.

    `refusals` are sentences on what its network refused.
    """

    output: bytes
    status: int
    limit: Limit | Literal["time", "output"] = ""
    refusals: tuple[str, ...] = ()


class Input(Protocol):
    """A stream to a command."""

    def write(self, data: bytes, /) -> None:
        """Accept data to be sent."""

    async def drain(self) -> None:
        """Wait until most data is sent. Raises `ConnectionError`."""

    def close(self) -> None:
        """Close the stream."""

    def is_closing(self) -> bool:
        """Return whether the stream is closed or closing."""


class Ends(Protocol):
    """A command that can be killed, and calls `on_end` when it has ended."""

    on_end: Callable[[], object]

    async def kill(self) -> None:
        """Kill the command with everything that it started."""


P = TypeVar("P", bound=Ends)


class RunningCommands(Generic[P]):
    """The running commands of a backend, by workspace."""

    def __init__(self, note_end: Callable[[str, P], object] = lambda *_: None) -> None:
        """`note_end` is called once for each kept command, right after it has ended."""
        self._running: dict[str, set[P]] = {}
        self._alone: dict[str, P] = {}
        self._note_end = note_end

    def require_privacy(self, command: Command) -> None:
        """Raise `WorkspaceError` if another command could read this one's secret, or the reverse.

        For places where the commands of a workspace see each other's processes.
        """
        if command.workspace in self._alone:
            raise WorkspaceError("a command with a secret runs; try again when it has ended")
        if command.is_alone and self.has(command.workspace):
            raise WorkspaceError(
                "another command runs, and could read the secret here; end it with `process`, or"
                " wait for its end"
            )

    def add(self, workspace: str, process: P, *, is_alone: bool = False) -> None:
        """Keep a command until it ends."""
        self._running.setdefault(workspace, set()).add(process)
        if is_alone:
            self._alone[workspace] = process
        process.on_end = partial(self._drop, workspace, process)

    def has(self, workspace: str) -> bool:
        """Return whether a command of a workspace runs."""
        return bool(self._running.get(workspace))

    def _drop(self, workspace: str, process: P) -> None:
        if process in self._running[workspace]:
            self._running[workspace].discard(process)
            if self._alone.get(workspace) is process:
                del self._alone[workspace]
            self._note_end(workspace, process)

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace."""
        for process in list(self._running.get(workspace, ())):
            await process.kill()

    async def stop_all(self) -> None:
        """Kill every command."""
        for workspace in list(self._running):
            await self.stop(workspace)


async def run_command(
    backend: Backend, command: Command, *, seconds: float, most_bytes: int, given: bytes = b""
) -> Completed:
    """Run a command; kill it if it exceeds a limit of time or output.

    Killing also ends everything that the command started. A command that `has_input` reads `given`.
    Cancellation kills the command, too. Raises `WorkspaceError` and `BackendUnavailable`.
    """
    process = await backend.start(command)
    output = bytearray()
    waiting = asyncio.create_task(process.wait())
    bound: Literal["", "time", "output"] = ""
    try:
        async with asyncio.timeout(seconds):
            if command.has_input:
                await process.write(given)
                await process.write(b"")
            if await _read(process, output, most_bytes):
                await asyncio.shield(waiting)
            else:
                bound = "output"
    except TimeoutError:
        bound = "time"
    finally:
        await process.kill()
        await asyncio.wait((waiting,))
    ended = waiting.result()
    return Completed(
        output=bytes(output),
        status=ended.status,
        limit=bound or ended.limit,
        refusals=ended.refusals,
    )


async def send(stdin: Input, data: bytes) -> None:
    """Send input to a command, or close it for b"". Raises `WorkspaceError` if it is closed."""
    try:
        if stdin.is_closing():
            raise BrokenPipeError
        if not data:
            stdin.close()
            return
        stdin.write(data)
        await stdin.drain()
    except ConnectionError as error:
        raise WorkspaceError("the command reads no more input") from error


async def drain(read: Callable[[], Awaitable[bytes]]) -> None:
    """Read the rest of the output: asyncio misses the end of a process while its pipe is full."""
    while await read():
        pass


async def _read(process: Process, output: bytearray, most: int) -> bool:
    """Collect the output; return False if it exceeds the limit."""
    while piece := await process.read():
        output += piece[: most - len(output)]
        if len(output) >= most:
            return False
    return True
