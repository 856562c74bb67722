"""A command below its reaper, as the backend handles it."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Exit, Limit
from agent_core.execution.reaped.reapers import ReaperPipes
from agent_core.execution.subprocesses.spawning import complete_start, open_pipe
from agent_core.execution.timed_command import drain, send

_PIECE = 65_536
_LOOK = 0.05
"""Seconds between two checks of the disk."""
_KILLED = 137
_REAP_SECONDS = 10.0
"""Seconds; more than a reaper takes to kill every process."""
_LIMITS: Mapping[bytes, Limit] = {b"memory": "memory", b"processes": "processes"}

_log = logging.getLogger(__name__)


class ReapedProcess:
    """A command whose reaper kills all its processes when its lifeline closes."""

    def __init__(
        self,
        lifeline: int,
        streams: tuple[asyncio.StreamReader, asyncio.StreamReader],
        stdin: asyncio.StreamWriter | None,
        is_disk_full: Callable[[], Awaitable[bool]],
    ) -> None:
        """`streams` are output and report; `stdin` is the command's input, None if it has none."""
        self.on_end: Callable[[], object] = lambda: None
        self._lifeline = lifeline
        self._stdout, self._report = streams
        self._stdin = stdin
        self._is_disk_full = is_disk_full
        self._reading = asyncio.Lock()
        self._limit: Limit = ""
        self._status = _KILLED
        self._reaper = 0
        self._is_refused = False
        self._listening = asyncio.create_task(self._listen())

    async def read(self) -> bytes:
        """Return the next output; see `Process`."""
        async with self._reading:  # `kill` may drain the pipe while somebody reads
            return await self._stdout.read(_PIECE)

    async def write(self, data: bytes) -> None:
        """Send input; see `Process`."""
        assert self._stdin is not None  # noqa: S101 - only commands with input are written to
        await send(self._stdin, data)

    async def wait(self) -> Exit:
        """Wait until the command ends, and check the disk; see `Process`."""
        while not self._listening.done():
            await asyncio.wait((self._listening,), timeout=_LOOK)
            if not self._listening.done() and not self._limit and await self._is_disk_full():
                self._limit = "disk"
                self._cut()
        self._leave()
        if not (self._reaper or self._is_refused):
            raise BackendUnavailable(
                "the command did not start, because the program that starts it was killed; try"
                " again"
            )
        return Exit(status=self._status, limit=self._limit)

    async def kill(self) -> None:
        """Kill the command with everything that it started; see `Process`."""
        self._cut()
        try:
            async with asyncio.timeout(_REAP_SECONDS):
                await asyncio.gather(drain(self.read), asyncio.shield(self._listening))
        except TimeoutError:
            self._listening.cancel()
            _log.error("a command can't be killed; its reaper is process %d", self._reaper)
        self._leave()

    def _cut(self) -> None:
        """Close the lifeline, once."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def _leave(self) -> None:
        self._cut()
        if self._stdin:
            self._stdin.close()
        self.on_end()

    async def _listen(self) -> None:
        """Read the reaper's reports until the reaper has ended."""
        async for line in self._report:
            word, _, rest = line.strip().partition(b" ")
            if word == b"limit":
                self._limit = _LIMITS.get(rest, self._limit)
            elif word == b"status":
                self._status = int(rest)
            elif word == b"pid":
                self._reaper = int(rest)
            elif word == b"refused":
                self._is_refused = True
            else:
                _log.error("a reaper failed: %s", line.decode(errors="replace").strip())


async def follow(pipes: ReaperPipes, is_disk_full: Callable[[], Awaitable[bool]]) -> ReapedProcess:
    """Return a command that takes over its pipes; cancellation kills the command."""
    return await complete_start(_open(pipes, is_disk_full), ReapedProcess.kill)


async def _open(pipes: ReaperPipes, is_disk_full: Callable[[], Awaitable[bool]]) -> ReapedProcess:
    streams = await _open_reader(pipes.output), await _open_reader(pipes.report)
    stdin = None if pipes.input < 0 else await open_pipe(pipes.input)
    return ReapedProcess(pipes.lifeline, streams, stdin, is_disk_full)


async def _open_reader(descriptor: int) -> asyncio.StreamReader:
    """Open the reading end of a pipe."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    return reader
