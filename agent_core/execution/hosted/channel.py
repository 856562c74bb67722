"""The streams of a supervisor behind an SDK, in the form of a child process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Protocol

from agent_core.errors import BackendUnavailable
from agent_core.execution.supervisor_script import BEAT, STOP

_MOST_WAITING = 262_144
"""Unread bytes of output above which the sandbox has to wait."""
_MOST_SENT = 700_000
"""Bytes of one request; room for two lines of input. SDKs allow less than a megabyte."""
_BEAT_SECONDS = 20.0
"""Seconds; less than a third of the supervisor's patience, so that two beats may be lost."""
_GONE = 255

_log = logging.getLogger(__name__)

Take = Callable[[bytes], Awaitable[None]]
"""Takes the next bytes of a stream; waits while too many bytes are unread."""


class OutputLine(Protocol):
    """A supervisor that runs in a sandbox. Every method raises `BackendUnavailable`."""

    async def follow(self, take_output: Take, take_words: Take) -> None:
        """Pass on both outputs until the supervisor has ended."""

    async def send(self, data: bytes) -> None:
        """Send whole lines to the supervisor's standard input; less than a megabyte."""

    async def stay(self) -> None:
        """Tell the provider that the sandbox is in use."""

    async def end(self) -> None:
        """Remove the supervisor, which ends it if it still runs, and its leftovers."""


class Channel:
    """The gateway's side of a line; see `Client`."""

    def __init__(self, line: OutputLine) -> None:
        self.returncode: int | None = None
        self.stdin = _Lifeline(line)
        self.stdout, self.stderr = _Buffer(), asyncio.StreamReader()
        self._line = line
        self._following = asyncio.create_task(self._follow())

    async def wait(self) -> int:
        """Wait until both outputs have ended."""
        await asyncio.wait((self._following,))
        return self.returncode or 0

    def kill(self) -> None:
        """Stop listening."""
        self._following.cancel()

    async def _follow(self) -> None:
        beating = asyncio.create_task(self._beat())
        try:
            await self._line.follow(self.stdout.take, self._take_words)
            self.returncode = 0
        except BackendUnavailable as error:
            self.stderr.feed_data(f"{error}\n".encode())
        finally:
            beating.cancel()
            self.stdin.close_for_good()
            self.returncode = _GONE if self.returncode is None else self.returncode
            self.stdout.end()
            self.stderr.feed_eof()
            self._removing = asyncio.create_task(self._remove())

    async def _remove(self) -> None:
        try:
            await self._line.end()
        except BackendUnavailable as error:  # the sandbox removes it when it ends
            _log.info("what is left of a command can't be removed: %s", error)

    async def _take_words(self, data: bytes) -> None:
        self.stderr.feed_data(data)

    async def _beat(self) -> None:
        """Tell the supervisor that the gateway is alive; `_follow` notices a lost line."""
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            try:
                await self.stdin.send(BEAT)
                await self._line.stay()
            except BackendUnavailable as error:
                _log.warning("a command's sandbox can't be told that it is in use: %s", error)


class _Lifeline:
    """Standard input of a supervisor; see `Input`."""

    def __init__(self, line: OutputLine) -> None:
        self._line = line
        self._waiting = bytearray()
        self._sending = asyncio.Lock()
        self._stopping: asyncio.Task[None] | None = None
        self._has_ended = False

    def write(self, data: bytes, /) -> None:
        """Queue whole lines."""
        self._waiting += data

    async def drain(self) -> None:
        """Send the queued lines. Raises `ConnectionError`."""
        data = bytes(self._waiting)
        self._waiting.clear()
        try:
            await self.send(data)
        except BackendUnavailable as error:
            raise ConnectionError(str(error)) from error

    async def send(self, data: bytes) -> None:
        """Send whole lines after earlier ones. Raises `BackendUnavailable`."""
        async with self._sending:
            for piece in _split(data):
                await self._line.send(piece)

    def close(self) -> None:
        """Make the supervisor end its command; returns at once, before pending data is sent."""
        if not self.is_closing():
            self._stopping = asyncio.create_task(self._stop())

    def close_for_good(self) -> None:
        """Note that the supervisor has ended."""
        self._has_ended = True

    def is_closing(self) -> bool:
        """Return whether it is no longer possible to send."""
        return self._has_ended or self._stopping is not None

    async def _stop(self) -> None:
        with suppress(BackendUnavailable):  # then it is killed, or ends without a beat
            await self.send(STOP)


def _split(data: bytes) -> Iterator[bytes]:
    """Split lines into pieces that fit into requests."""
    piece = b""
    for line in data.splitlines(keepends=True):
        if piece and len(piece) + len(line) > _MOST_SENT:
            yield piece
            piece = b""
        piece += line
    yield piece


class _Buffer:
    """Output that waits for its only reader; see `Output`."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._has_ended = False
        self._filled, self._emptied = asyncio.Event(), asyncio.Event()

    async def take(self, data: bytes) -> None:
        """Add output; wait while too much of it is unread."""
        self._waiting += data
        self._filled.set()
        while len(self._waiting) > _MOST_WAITING:
            self._emptied.clear()
            await self._emptied.wait()

    def end(self) -> None:
        """Note that no more output will follow."""
        self._has_ended = True
        self._filled.set()

    async def read(self, most: int, /) -> bytes:
        """Return the next bytes; b"" at the end. Cancellation loses no bytes."""
        while not self._waiting and not self._has_ended:
            self._filled.clear()
            await self._filled.wait()
        data = bytes(self._waiting[:most])
        del self._waiting[:most]
        self._emptied.set()
        return data
