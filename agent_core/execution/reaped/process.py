"""A command below its reaper: what its backend sees of it."""

import asyncio
import logging
from asyncio.subprocess import Process as Child
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agent_core.execution.contract import Exit, Limit
from agent_core.execution.running import send

_PIECE = 65_536
_LOOK = 0.05
"""Seconds between two looks at the disk."""
_KILLED = 137
_REAP_SECONDS = 10.0
"""More than a reaper takes to kill every process."""
_LIMITS: Mapping[bytes, Limit] = {b"limit memory\n": "memory", b"limit processes\n": "processes"}

_log = logging.getLogger(__name__)


class ReapedProcess:
    """A command whose reaper kills its whole tree when its own input closes."""

    def __init__(
        self,
        child: Child,
        stdin: asyncio.StreamWriter | None,
        is_disk_full: Callable[[], Awaitable[bool]],
    ) -> None:
        """`stdin` is the command's input; None if it has none."""
        assert child.stdin is not None  # noqa: S101 - all are pipes
        assert child.stdout is not None  # noqa: S101
        assert child.stderr is not None  # noqa: S101
        self.on_end: Callable[[], object] = lambda: None
        self._child = child
        self._lifeline, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        self._stdin = stdin
        self._is_disk_full = is_disk_full
        self._reading = asyncio.Lock()
        self._limit: Limit = ""
        self._is_lost = False
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
        """Wait for the end, and look at the disk; see `Process`."""
        while self._child.returncode is None and not self._is_lost:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._child.wait()
                    break
            if not self._limit and await self._is_disk_full():
                self._limit = "disk"
                self._lifeline.close()
        if not self._is_lost:
            await asyncio.wait((self._listening,))
        self._leave()
        status = self._child.returncode
        return Exit(status=_KILLED if status is None or status < 0 else status, limit=self._limit)

    async def kill(self) -> None:
        """Kill the command with all that it started; see `Process`."""
        self._lifeline.close()
        try:
            async with asyncio.timeout(_REAP_SECONDS):
                await asyncio.gather(self._drain(), self._child.wait())
        except TimeoutError:
            self._is_lost = True
            _log.error("a command can't be killed; its reaper is process %d", self._child.pid)
        self._leave()

    def _leave(self) -> None:
        if self._stdin:
            self._stdin.close()
        self.on_end()

    async def _drain(self) -> None:
        while await self.read():
            pass

    async def _listen(self) -> None:
        """Read which limit the reaper names."""
        async for line in self._stderr:
            self._limit = _LIMITS.get(line, self._limit)
