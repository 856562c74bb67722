"""The local backend: commands in bubblewrap on this machine."""

import asyncio
import logging
import os
import shutil
import signal
from asyncio.subprocess import Process as Child
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from agent_core.errors import BackendUnavailable, WorkspaceError
from agent_core.execution.circles import Circle, Member
from agent_core.execution.contract import Command, Exit, Limit
from agent_core.execution.folders import FolderBackend, shorten
from agent_core.execution.network import HeldNetwork
from agent_core.execution.sandbox import SandboxLimits, prepare
from agent_core.execution.subprocesses.process_tree import end_abandoned, list_below, measure
from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import finish, spawn
from agent_core.execution.timed_command import RunningCommands, drain, send

if TYPE_CHECKING:
    from agent_core.tools.network.proxy import SandboxProxy

WORKSPACES = "workspaces"
"""The folder in Talaria's home with one workspace per person."""
_ENTRY = "agent_core.execution.subprocesses.namespace_entry"
_LOOK = 0.05
"""Seconds between two checks of a command's limits."""
_LOOK_FOR_FIRST = 0.002
"""Seconds between two checks for the first process of a sandbox; it starts in milliseconds."""
_PIECE = 65_536
_KILLED = 128 + signal.SIGKILL
_HEALTH_SECONDS = 10.0
_REAP_SECONDS = 10.0
"""Seconds; more than the kernel takes to end every process of a sandbox."""
_SHOWN = 300

_log = logging.getLogger(__name__)


def find_bubblewrap() -> str | None:
    """Return the path of bubblewrap; None if it is not installed."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")


class LocalBackend(FolderBackend):
    """Runs commands on this machine, in a sandbox that can change only the workspace."""

    is_confined = True

    def __init__(
        self,
        root: Path,
        limits: SandboxLimits,
        *,
        hidden: Sequence[Path] = (),
        program: str,
        network: "SandboxProxy | None" = None,
        name: str = "local",
    ) -> None:
        """`root` holds a folder for each workspace; `hidden` folders are never shown.

        `program` is bubblewrap's path. Without `network`, commands have no network.
        """
        # If this process is root, containers have given the files to another user.
        super().__init__(root, limits, owner=None if os.geteuid() else 0)
        self.name = name
        self._hidden = hidden
        self._program = program
        self._network = network
        self._root = root
        self._running = RunningCommands[_LocalProcess]()
        self._circles: WeakValueDictionary[tuple[str, str], Circle] = WeakValueDictionary()

    def has_network(self, workspace: str) -> bool:
        """Return whether commands of this workspace may reach the allowed hosts."""
        return self._network is not None and self._network.is_open(workspace)

    def has_wall(self, workspace: str) -> bool:
        """Return whether the proxy's list bounds the commands: wherever they have a network."""
        return self.has_network(workspace)

    async def end_abandoned(self) -> int:
        """Kill sandboxes whose parent died before their user was set; see `Backend`."""
        return await asyncio.to_thread(end_abandoned, self._program, self._root)

    async def start(self, command: Command) -> "_LocalProcess":
        """Start a command in its sandbox; see `Backend`."""
        folder = shorten(command.folder)
        place = await self._folders.find(command.workspace, folder)
        has_network = self.has_network(command.workspace) and not command.is_offline
        network = self._network if has_network else None
        key = (command.workspace, command.circle)
        is_alone = command.is_alone or command.is_offline or not command.circle
        circle = Circle() if is_alone else self._find(key)
        process = await self._start(command.argv, place, folder, network, circle)
        if not command.has_input:
            process.close_input()
        self._running.add(command.workspace, process)
        return process

    def _find(self, key: tuple[str, str]) -> Circle:
        circle = self._circles.get(key)
        if circle is None:
            circle = self._circles[key] = Circle()
        return circle

    async def _start(
        self,
        argv: Sequence[str],
        place: Path,
        folder: str,
        network: "SandboxProxy | None" = None,
        circle: Circle | None = None,
    ) -> "_LocalProcess":
        """Start a program in a sandbox whose workspace is `place`."""
        before = await self._folders.disk.look(place)
        circle = circle or Circle()
        async with circle.lock:
            child = await self._spawn(argv, (place, folder), network, circle)
            member = circle.join(child)
        is_disk_full = partial(self._folders.disk.is_exceeded, place, before)
        return _LocalProcess(child, self._limits, is_disk_full, member)

    async def _spawn(
        self,
        argv: Sequence[str],
        where: tuple[Path, str],
        network: "SandboxProxy | None",
        circle: Circle,
    ) -> Child:
        """Start bubblewrap, in the network of its circle if that has one."""
        shared = await circle.open_network()
        with ExitStack() as stack:
            entry: tuple[str, ...] = ()
            if shared is not None:
                stack.callback(os.close, shared)
                entry = make_command(_ENTRY, str(shared), has_packages=False)
            held = stack.enter_context(closing(HeldNetwork())) if network else None
            more = [*(held.words if held else ()), *(["--share-net"] if entry else ())]
            words, given = stack.enter_context(
                prepare(self._program, *where, self._limits, self._hidden, more)
            )
            given += [] if shared is None else [shared]
            try:
                child = await spawn(
                    [*entry, *words, *argv],
                    _abandon,
                    environ={},  # bubblewrap's own environment is readable in the sandbox
                    inherited=[*given, *(held.inherited if held else ())],
                    has_one_output=True,
                )
            except OSError as error:
                raise BackendUnavailable(f"the sandbox can't start: {error.strerror}") from error
            except ValueError as error:
                raise WorkspaceError("a command can't hold a NUL character") from error
            if held and entry:
                held.skip()
            elif network and held:
                try:
                    circle.serve(await network.serve(await held.open(child)))
                except BaseException:
                    await _abandon(child)
                    raise
        return child

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace; see `Backend`."""
        await self._running.stop(workspace)

    async def sleep(self, workspace: str) -> None:
        """Do nothing: an idle workspace costs nothing here."""

    async def close(self) -> None:
        """Kill every command; see `Backend`."""
        await self._running.stop_all()

    async def health(self) -> None:
        """Start the sandbox once; see `Backend`."""
        with TemporaryDirectory() as folder:
            process = await self._start(("/bin/true",), Path(folder), "")
            process.close_input()
            try:
                async with asyncio.timeout(_HEALTH_SECONDS):
                    output = await process.read()
                    ended = await process.wait()
            except TimeoutError as error:
                raise BackendUnavailable("the sandbox does not start in time") from error
            finally:
                await process.kill()
        if ended.status:
            raise BackendUnavailable(_describe(output))


class _LocalProcess:
    """A command in its sandbox: bubblewrap, below it the first process, below that the rest."""

    def __init__(
        self,
        child: Child,
        limits: SandboxLimits,
        is_disk_full: Callable[[], Awaitable[bool]],
        network: Member,
    ) -> None:
        assert child.stdin is not None  # noqa: S101 - both are pipes
        assert child.stdout is not None  # noqa: S101
        self.on_end: Callable[[], object] = lambda: None
        self._child = child
        self._stdin = child.stdin
        self._stdout = child.stdout
        self._reading = asyncio.Lock()
        self._limits = limits
        self._is_disk_full = is_disk_full
        self._network = network
        self._limit: Limit = ""
        self._is_lost = False

    async def read(self) -> bytes:
        """Return the next output; see `Process`."""
        async with self._reading:  # `kill` may drain the pipe while somebody reads
            return await self._stdout.read(_PIECE)

    async def write(self, data: bytes) -> None:
        """Send input; see `Process`."""
        await send(self._stdin, data)

    def close_input(self) -> None:
        """Close the command's input."""
        self._stdin.close()

    async def wait(self) -> Exit:
        """Wait until the command ends, and check its limits; see `Process`."""
        while self._child.returncode is None and not self._is_lost:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._child.wait()
                    break
            limit = await self._find_excess()
            if limit and self._child.returncode is None:
                self._limit = limit
                _signal_first(self._child)
        self._leave()
        status = self._child.returncode
        if status is None or status < 0:
            status = _KILLED if status is None else 128 - status
        return Exit(status=status, limit=self._limit, refusals=self._network.refusals)

    async def kill(self) -> None:
        """Kill the command with everything that it started; see `Process`."""
        try:
            self._is_lost = not await finish(_end(self._child, self.read))
        finally:
            self._leave()

    def _leave(self) -> None:
        self._stdin.close()
        self._network.close()
        self.on_end()

    async def _find_excess(self) -> Limit:
        most = self._limits.processes
        pids = list_below(self._child.pid, most + 1)
        if len(pids) > most + 1:  # the first process is the sandbox's, not the command's
            return "processes"
        if sum(map(measure, pids)) > self._limits.memory:
            return "memory"
        return "disk" if await self._is_disk_full() else ""


def _signal_first(child: Child) -> bool:
    """Kill the first process of the sandbox; return whether it existed.

    The kernel then ends all other processes of the sandbox. Bubblewrap itself ends after them, so
    its end shows that none is left. If bubblewrap were killed just after that first process
    started, the first process would survive.
    """
    first = list_below(child.pid, 1)[:1]
    with suppress(ProcessLookupError):
        for pid in first:
            os.kill(pid, signal.SIGKILL)
    return bool(first)


async def _end(child: Child, read: Callable[[], Awaitable[bytes]]) -> bool:
    """Kill a command, read the rest of its output, and wait; return whether it has ended."""
    if child.stdin:
        child.stdin.close()
    try:
        async with asyncio.timeout(_REAP_SECONDS):
            await asyncio.gather(_kill_first(child), drain(read), child.wait())
    except TimeoutError:
        with suppress(ProcessLookupError):
            child.kill()
        _log.error("a command can't be killed; its sandbox was process %d", child.pid)
        return False
    return True


async def _kill_first(child: Child) -> None:
    while child.returncode is None and not _signal_first(child):
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_FOR_FIRST):
                await child.wait()


async def _abandon(child: Child) -> None:
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    await finish(_end(child, partial(child.stdout.read, _PIECE)))


def _describe(output: bytes) -> str:
    """Explain why the sandbox does not start."""
    complaint = output.decode(errors="replace").removeprefix("bwrap: ").strip()[:_SHOWN]
    return f"bubblewrap can't start a sandbox here: {complaint or 'it gives no reason'}"
