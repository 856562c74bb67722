"""Long-running programs that speak over their standard streams, with nothing left of them after.

In the sandbox, bubblewrap ends every process with the first one. Without it, the process reaper
does.
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
from agent_core.execution.sandbox import SandboxLimits, prepare
from agent_core.execution.subprocesses.process_tree import list_below, measure
from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import finish, spawn

_REAPER = "agent_core.execution.subprocesses.process_reaper"
_PIECE = 65_536
_GRACE = 1.0
"""Seconds in which a program may end on its own after its input is closed."""
_REAP_SECONDS = 10.0
_ERROR_PIECES = 8
"""Pieces of its error output that are kept."""
_NAMES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf")
"""Files that turn host names into addresses; only for programs with a network."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProgram:
    """A program that serves over its standard streams.

    `folder` is its own: its home, and in the sandbox its workspace. `environ` is added to a small
    one. `readable` and `writable` are further paths that the sandbox shows at the same place.
    """

    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]
    limits: SandboxLimits
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    has_network: bool = False


class ServerProcess:
    """A running program: what it reads and writes, and its whole tree of processes."""

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
        """The process above all others of the program."""
        return self._child.pid

    def errors(self) -> str:
        """Return the end of its error output."""
        return b"".join(self._errors).decode(errors="replace")

    async def read(self) -> bytes:
        """Return its next output; b"" at the end. Nothing more is read meanwhile."""
        return await self._stdout.read(_PIECE)

    async def write(self, data: bytes) -> None:
        """Write to its input; waits while it does not read. Raises `OSError` after its end."""
        self._stdin.write(data)
        await self._stdin.drain()

    def measure(self) -> tuple[int, int]:
        """Count its processes, and the bytes of memory that they take."""
        pids = list_below(self._child.pid)
        return len(pids), sum(map(measure, pids))

    async def end(self) -> None:
        """Close its input, and kill the whole tree unless it ends soon.

        Completes in bounded time even if cancelled, and leaves nothing running.
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
            self._child.stdin.close()  # the reaper kills its tree then
            return
        # The kernel ends all processes of the sandbox with its first one.
        first = list_below(self._child.pid, 1)[:1]
        with suppress(ProcessLookupError):
            os.kill(first[0] if first else self._child.pid, signal.SIGKILL)

    async def _drain(self) -> None:
        """Read the rest of its output: asyncio misses the end of a process with a full pipe."""
        while await self._stdout.read(_PIECE):
            pass
        await asyncio.wait((self._draining,))

    async def _keep_errors(self) -> None:
        while piece := await self._stderr.read(_PIECE // 16):
            self._errors.append(piece)


async def start_sandboxed(program: ServerProgram, hidden: Sequence[Path] = ()) -> ServerProcess:
    """Start a program in a sandbox that shows its own folder, and what it names besides.

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
        # Words on a command line are open to every user of the machine; this file is not.
        os.write(given, _spell_environment(program.environ))
        os.lseek(given, 0, os.SEEK_SET)
        more = ["--args", str(given), *_list_openings(program)]
        with prepare(bubblewrap, program.folder, "", program.limits, hidden, more) as (words, fds):
            child = await _spawn([*words, *program.argv], {}, [*fds, given], None)
    finally:
        os.close(given)
    assert child.stdin is not None  # noqa: S101 - it is a pipe
    return ServerProcess(child, child.stdin, is_sandboxed=True)


async def start_unsandboxed(program: ServerProgram, inherited: Mapping[str, str]) -> ServerProcess:
    """Start a program as the gateway's user, below the process reaper.

    `inherited` is the environment that it gets besides its own. Raises `BackendUnavailable`.
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


async def open_pipe(descriptor: int) -> asyncio.StreamWriter:
    """Open the writing end of a pipe."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop=loop),
        os.fdopen(descriptor, "wb", buffering=0),
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


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
    """List the words that open the sandbox for a program."""
    words = ["--share-net"] if program.has_network else []
    for name in _NAMES if program.has_network else ():
        words += ["--ro-bind-try", name, name]
    for path in program.readable:
        words += ["--ro-bind", str(path), str(path)]
    for path in program.writable:
        words += ["--bind", str(path), str(path)]
    return words
