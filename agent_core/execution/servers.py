"""Long-running programs that speak over standard streams, and leave no process behind.

In the sandbox, the kernel ends all processes with the first one. Without a sandbox, the process
reaper ends them.
"""

import asyncio
import logging
import os
import shutil
import signal
from asyncio.subprocess import Process as Child
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import BackendUnavailable
from agent_core.execution.local import find_bubblewrap
from agent_core.execution.sandbox import WORKSPACE, SandboxLimits, prepare
from agent_core.execution.subprocesses.process_tree import list_below, measure
from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import finish, open_pipe, spawn

_REAPER = "agent_core.execution.subprocesses.process_reaper"
_PIECE = 65_536
_GRACE = 1.0
"""Seconds in which a program may end by itself after its input is closed."""
_REAP_SECONDS = 10.0
_ERROR_PIECES = 8
"""Pieces of the program's error output that are kept."""
_NAMES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf")
"""Files for resolving host names; only for programs with a network."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProgram:
    """A program that serves over its standard streams.

    `folder` belongs to the program: it is its home, and in the sandbox its workspace. `environ` is
    added to a minimal environment. `readable` and `writable` are further paths that the sandbox
    shows at the same place.
    """

    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]
    limits: SandboxLimits
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    has_network: bool = False


class ServerProcess:
    """A running program: its streams, and all its processes."""

    def __init__(self, child: Child, stdin: asyncio.StreamWriter, *, is_sandboxed: bool) -> None:
        assert child.stdout is not None  # noqa: S101 - both are pipes
        assert child.stderr is not None  # noqa: S101
        self._child = child
        self._stdin = stdin
        self._stdout = child.stdout
        self._stderr = child.stderr
        self._is_sandboxed = is_sandboxed
        self._errors: deque[bytes] = deque(maxlen=_ERROR_PIECES)
        self._draining = asyncio.create_task(self._keep_errors())

    @property
    def pid(self) -> int:
        """The id of the program's topmost process."""
        return self._child.pid

    def errors(self) -> str:
        """Return the end of the program's error output."""
        return b"".join(self._errors).decode(errors="replace")

    async def read(self) -> bytes:
        """Return the next output; b"" at the end. Output is read only on demand."""
        return await self._stdout.read(_PIECE)

    async def write(self, data: bytes) -> None:
        """Write to the program's input; wait until it reads. Raises `OSError` if it ended."""
        self._stdin.write(data)
        await self._stdin.drain()

    def measure(self) -> tuple[int, int]:
        """Count the program's processes, and the bytes of their memory."""
        pids = list_below(self._child.pid)
        return len(pids), sum(map(measure, pids))

    async def end(self) -> None:
        """Close the program's input, and kill all its processes unless they end soon.

        Takes a limited time, even if cancelled, and leaves nothing running.
        """
        await finish(self._end())

    async def _end(self) -> None:
        self._stdin.close()
        gone = asyncio.gather(self._child.wait(), self._drain())
        done, _ = await asyncio.wait((gone,), timeout=_GRACE)
        if not done:
            self._kill()
            done, _ = await asyncio.wait((gone,), timeout=_REAP_SECONDS)
        if not done:
            _log.error("a server can't be killed; it was process %d", self._child.pid)
            with suppress(ProcessLookupError):
                self._child.kill()
            gone.cancel()
            await asyncio.wait((gone,))
        self._draining.cancel()
        await asyncio.wait((self._draining,))

    def _kill(self) -> None:
        if not self._is_sandboxed:
            assert self._child.stdin is not None  # noqa: S101 - it is a pipe
            self._child.stdin.close()  # then the reaper kills all its processes
            return
        # When the first process ends, the kernel ends all others of the sandbox.
        first = list_below(self._child.pid, 1)[:1]
        with suppress(ProcessLookupError):
            os.kill(first[0] if first else self._child.pid, signal.SIGKILL)

    async def _drain(self) -> None:
        """Read the rest of the output: asyncio misses the end of a process with a full pipe."""
        while await self._stdout.read(_PIECE):
            pass
        await asyncio.wait((self._draining,))

    async def _keep_errors(self) -> None:
        while piece := await self._stderr.read(_PIECE // 16):
            self._errors.append(piece)


async def start_sandboxed(program: ServerProgram, hidden: Sequence[Path] = ()) -> ServerProcess:
    """Start a program in a sandbox that shows its own folder, and the paths that it lists.

    Cancellation leaves nothing running. Raises `BackendUnavailable`.
    """
    bubblewrap = find_bubblewrap()
    if bubblewrap is None:
        raise BackendUnavailable(
            "bubblewrap is not installed; install it, for instance with `apt install bubblewrap`"
        )
    _make_folder(program.folder)
    given = os.memfd_create("environment")
    try:
        # Every user of the machine can read a command line, but not this file.
        os.write(given, _spell_environment(program.environ))
        os.lseek(given, 0, os.SEEK_SET)
        # The folder is the program's own, and keeps what the program stores in its home.
        more = ["--setenv", "HOME", WORKSPACE, "--args", str(given), *_list_openings(program)]
        with prepare(bubblewrap, program.folder, "", program.limits, hidden, more) as (words, fds):
            child = await _spawn([*words, *program.argv], {}, [*fds, given], None)
    finally:
        os.close(given)
    assert child.stdin is not None  # noqa: S101 - it is a pipe
    return ServerProcess(child, child.stdin, is_sandboxed=True)


async def start_unsandboxed(program: ServerProgram, inherited: Mapping[str, str]) -> ServerProcess:
    """Start a program as the gateway's user, below the process reaper.

    `inherited` is added to the program's own environment. Raises `BackendUnavailable`.
    """
    _make_folder(program.folder)
    environ = {**inherited, **program.environ}
    if shutil.which(program.argv[0], path=environ.get("PATH")) is None:
        raise BackendUnavailable(f"there is no program `{program.argv[0]}`")
    reads, writes = os.pipe()
    limits = program.limits
    numbers = (limits.memory, limits.file, limits.processes, 1)
    source = f"/dev/fd/{reads}"
    words = make_command(_REAPER, *map(str, numbers), source, *program.argv, has_packages=False)
    try:
        stdin = await open_pipe(writes)
        try:
            child = await _spawn(words, environ, [reads], program.folder)
        except BaseException:
            stdin.close()
            raise
    finally:
        os.close(reads)
    return ServerProcess(child, stdin, is_sandboxed=False)


async def _spawn(
    words: Sequence[str], environ: Mapping[str, str], fds: Sequence[int], folder: Path | None
) -> Child:
    try:
        return await spawn(words, _abandon, environ=environ, inherited=fds, folder=folder)
    except OSError as error:
        raise BackendUnavailable(f"it can't be started: {error.strerror}") from error
    except ValueError as error:
        raise BackendUnavailable("its command holds a NUL character") from error


async def _abandon(child: Child) -> None:
    assert child.stdin is not None  # noqa: S101 - it is a pipe
    await ServerProcess(child, child.stdin, is_sandboxed=True).end()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BackendUnavailable(f"its folder can't be made: {error.strerror}") from error


def _spell_environment(environ: Mapping[str, str]) -> bytes:
    words = [word for name, value in environ.items() for word in ("--setenv", name, value)]
    return b"".join(word.encode() + b"\0" for word in words)


def _list_openings(program: ServerProgram) -> list[str]:
    """List the bubblewrap arguments that open the sandbox for a program."""
    words = ["--share-net"] if program.has_network else []
    for name in _NAMES if program.has_network else ():
        words += ["--ro-bind-try", name, name]
    for path in program.readable:
        words += ["--ro-bind", str(path), str(path)]
    for path in program.writable:
        words += ["--bind", str(path), str(path)]
    return words
