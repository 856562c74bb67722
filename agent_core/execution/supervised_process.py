"""A command with a supervisor, as the backend handles it."""

import asyncio
import logging
import shlex
from asyncio.subprocess import Process as Child
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from agent_core.errors import BackendCrowded, BackendUnavailable, WorkspaceError
from agent_core.execution.contract import Exit, Limit
from agent_core.execution.subprocesses.spawning import spawn
from agent_core.execution.supervisor_script import MARK, make_input
from agent_core.execution.timed_command import Input, drain, send

_PIECE = 65_536
_LOOK = 0.25
"""Seconds between two checks of the disk."""
_KILLED = 137
_BEGIN_SECONDS = 30.0
"""Seconds; more than a container or a connection takes to start a command."""
_END_SECONDS = 5.0
"""Seconds in which a supervisor has to kill its command; after that, `force` does."""
_SHOWN = 300
_LIMITS: Mapping[str, Limit] = {
    "memory": "memory",
    "processes": "processes",
    "disk": "disk",
}

_log = logging.getLogger(__name__)


class Output(Protocol):
    """The standard output of a supervisor: its command's output."""

    async def read(self, most: int, /) -> bytes:
        """Return the next bytes; b"" at the end."""


class Words(Protocol):
    """The standard error of a supervisor: its reports about its command."""

    async def readline(self) -> bytes:
        """Return the next line; b"" at the end. Raises `ValueError` for a line without an end."""


class Client(Protocol):
    """The gateway's side of a supervisor: three streams, of a program or of an SDK."""

    @property
    def stdin(self) -> Input:
        """The lifeline, which also carries the command's input."""

    @property
    def stdout(self) -> Output:
        """The command's output."""

    @property
    def stderr(self) -> Words:
        """The supervisor's own lines, and errors of the connection."""

    @property
    def returncode(self) -> int | None:
        """A number once both outputs have ended; None before."""

    async def wait(self) -> int:
        """Wait until both outputs have ended."""

    def kill(self) -> None:
        """End the gateway's side at once."""


class _Program:
    """A child process as the client of a supervisor."""

    def __init__(self, child: Child) -> None:
        assert child.stdin is not None  # noqa: S101 - all are pipes
        assert child.stdout is not None  # noqa: S101
        assert child.stderr is not None  # noqa: S101
        self._child = child
        self.stdin, self.stdout, self.stderr = child.stdin, child.stdout, child.stderr
        self.wait, self.kill = child.wait, child.kill

    @property
    def returncode(self) -> int | None:
        return self._child.returncode


class SupervisedProcess:
    """A command elsewhere. `force` ends it if its supervisor does not."""

    def __init__(self, child: Client, force: Callable[[int], Awaitable[None]]) -> None:
        self.on_end: Callable[[], object] = lambda: None
        self.is_disk_full: Callable[[], Awaitable[bool]] | None = None
        self._child = child
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        self._force = force
        self._reading = asyncio.Lock()
        self._begun = asyncio.Event()
        self._complaints: list[str] = []
        self._pid = 0
        self._refusal = ""
        self._status: int | None = None
        self._limit: Limit = ""
        self._is_killed = False
        self._listening = asyncio.create_task(self._listen())

    @property
    def has_reported(self) -> bool:
        """True if the supervisor has reported that its command ended, so no process is left."""
        return self._status is not None

    async def begin(self, setup: bytes) -> None:
        """Send the setup, and wait until the command runs.

        Raises `WorkspaceError` for a bad folder, `BackendCrowded` and `BackendUnavailable`.
        """
        try:
            async with asyncio.timeout(_BEGIN_SECONDS):
                self._stdin.write(setup)
                with suppress(ConnectionError):
                    await self._stdin.drain()
                await self._begun.wait()
        except BaseException as error:
            await self.kill()
            if isinstance(error, TimeoutError):
                raise BackendUnavailable("a command does not start in time") from error
            raise
        if self._pid:
            return
        await self.kill()
        about, _, reason = self._refusal.partition(" ")
        if about == "folder":
            raise WorkspaceError(f"the folder {reason}")
        if about == "crowded":
            raise BackendCrowded(reason)
        raise BackendUnavailable(reason or self.describe_complaints())

    def describe_complaints(self) -> str:
        """Return the client's error output, as a reason."""
        return " ".join(self._complaints)[-_SHOWN:].strip() or "it gives no reason"

    async def read(self) -> bytes:
        """Return the next output; see `Process`."""
        async with self._reading:  # `kill` may drain the pipe while somebody reads
            return await self._stdout.read(_PIECE)

    async def write(self, data: bytes) -> None:
        """Send input; see `Process`."""
        if self._status is not None:
            raise WorkspaceError("the command reads no more input")
        await send(self._stdin, make_input(data))

    async def wait(self) -> Exit:
        """Wait until the command ends, and check the disk; see `Process`."""
        while self._child.returncode is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._child.wait()
                    break
            if self.is_disk_full and not self._is_killed and await self.is_disk_full():
                self._limit = "disk"
                self._stdin.close()
        await asyncio.wait((self._listening,))
        self._stdin.close()
        self.on_end()
        if self._status is not None:
            return Exit(status=self._status, limit=self._limit)
        if self._is_killed or self._limit:
            return Exit(status=_KILLED, limit=self._limit)
        reason = self.describe_complaints().rstrip(".")
        raise BackendUnavailable(
            f"the command was lost ({reason}); part of its work may be done, so look before you"
            " repeat it"
        )

    async def kill(self) -> None:
        """Kill the command with everything that it started; see `Process`."""
        self._is_killed = True
        self._stdin.close()
        if not await self._end_within(_END_SECONDS):
            try:
                await self._force(self._pid)
            except BackendUnavailable as error:
                _log.error("a command may still run where it was started: %s", error)
            if not await self._end_within(_END_SECONDS):
                with suppress(ProcessLookupError):
                    self._child.kill()
                if not await self._end_within(_END_SECONDS):
                    # Another process holds its outputs, such as the hung master of ssh.
                    self._listening.cancel()
        self.on_end()

    async def _end_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(drain(self.read), self._child.wait())
        except TimeoutError:
            return False
        return True

    async def _listen(self) -> None:
        """Read the supervisor's reports and its client's errors, until both have ended."""
        try:
            while line := await self._stderr.readline():
                self._hear(line.decode(errors="replace").rstrip("\n"))
        except ValueError:  # a supervisor never writes a line without an end
            _log.error("the client of a command wrote too much output")
        finally:
            self._begun.set()

    def _hear(self, line: str) -> None:
        if not line.startswith(MARK):
            self._complaints = [*self._complaints[-8:], line.strip()]
            return
        word, _, rest = line.removeprefix(MARK).strip().partition(" ")
        if word == "refused":
            self._refusal = rest
        elif word == "limit":
            self._limit = _LIMITS.get(rest, "")
        elif word in ("ready", "status") and rest.isascii() and rest.isdecimal():
            if word == "status":
                self._status = int(rest)
            else:
                self._pid = int(rest)
                self._begun.set()


async def start_supervised(
    argv: Sequence[str],
    setup: bytes,
    environ: Mapping[str, str],
    force: Callable[[int], Awaitable[None]],
) -> SupervisedProcess:
    """Start the client of a supervisor, and wait until its command runs.

    Cancellation leaves nothing running. Raises `WorkspaceError` and `BackendUnavailable`.
    """

    async def abandon(child: Child) -> None:
        await SupervisedProcess(_Program(child), force).kill()

    try:
        child = await spawn(argv, abandon, environ=environ)
    except OSError as error:
        raise BackendUnavailable(f"{argv[0]} can't be started: {error.strerror}") from error
    process = SupervisedProcess(_Program(child), force)
    await process.begin(setup)
    return process


async def call(
    argv: Sequence[str], environ: Mapping[str, str], seconds: float, data: bytes = b""
) -> tuple[int, str, str]:
    """Run a client until it ends; return its status and outputs. Raises `BackendUnavailable`."""

    async def end(child: Child) -> None:
        with suppress(ProcessLookupError):
            child.kill()
        await child.communicate()

    try:
        child = await spawn(argv, end, environ=environ)
    except OSError as error:
        raise BackendUnavailable(f"{argv[0]} can't be started: {error.strerror}") from error
    try:
        async with asyncio.timeout(seconds):
            output, errors = await child.communicate(data)
    except TimeoutError as error:
        raise BackendUnavailable(f"`{shlex.join(argv[:2])}` does not answer") from error
    finally:
        if child.returncode is None:
            await end(child)
    return child.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace")
