"""The Unix socket: takes terminals in, reads their lines, shows everything to all of them."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from adapters.console.wire import LONGEST_LINE, Got, Hello, Wrote, read_line, write_line
from adapters.errors import AdapterStopped, Unreachable, Unsure

_REMEMBERED_KEYS = 4096
_WRITE_TIMEOUT = 5.0
"""Seconds after which a terminal that reads nothing is let go."""


class Api:
    """The server side of the wire."""

    def __init__(self, path: Path, *, answer_timeout: float) -> None:
        self._path = path
        self._answer_timeout = answer_timeout
        self._viewers: set[asyncio.StreamWriter] = set()
        self._awaited: dict[str, asyncio.Future[None]] = {}
        self._got: dict[str, None] = {}

    @property
    def viewer_count(self) -> int:
        """How many terminals are looking."""
        return len(self._viewers)

    async def serve(
        self, take: Callable[[Wrote], Awaitable[None]], on_open: Callable[[], None]
    ) -> None:
        """Serve until cancelled. `take` returns once a message is durable.

        Raises `AdapterStopped` when the socket can't be had.
        """
        listener = await self._bind()
        try:
            async with asyncio.TaskGroup() as group:

                def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                    group.create_task(self._attend(reader, writer, take))

                server = await asyncio.start_unix_server(attend, sock=listener, limit=LONGEST_LINE)
                try:
                    on_open()
                    await asyncio.get_running_loop().create_future()
                finally:
                    # Not `async with server`: from Python 3.12 on that waits for terminals to
                    # hang up, and the group, which closes them, would wait for it.
                    server.close()
        finally:
            self._viewers.clear()
            listener.close()
            self._path.unlink(missing_ok=True)

    async def show(self, line: bytes) -> None:
        """Write a line to all terminals. Raises `Unreachable` if none takes it."""
        written = await asyncio.gather(*(self._write(viewer, line) for viewer in [*self._viewers]))
        if not any(written):
            raise Unreachable("No terminal is open.")

    async def deliver(self, key: str, line: bytes) -> None:
        """Show a message and wait until a terminal confirms it. Raises `Unreachable`, `Unsure`."""
        if self.is_delivered(key):
            return
        answer = asyncio.get_running_loop().create_future()
        self._awaited[key] = answer
        try:
            await self.show(line)
            async with asyncio.timeout(self._answer_timeout):
                await answer
        except TimeoutError:
            raise Unsure("No terminal has confirmed the message.") from None
        finally:
            del self._awaited[key]

    def is_delivered(self, key: str) -> bool:
        """True if a terminal confirmed the message to this process."""
        return key in self._got

    async def _bind(self) -> socket.socket:
        """A socket at the path that nobody but the owner can open, from its first moment on."""
        if self._path.exists() and not self._path.is_socket():
            raise AdapterStopped(f"{self._path} is in the way of the console's socket.")
        if self._path.is_socket():
            if await _answers(self._path):
                raise AdapterStopped(f"Another process serves the console at {self._path}.")
            self._path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.setblocking(False)
            listener.bind(str(self._path))
            self._path.chmod(0o600)  # before it listens: until then nobody can connect
        except OSError as error:
            listener.close()
            raise AdapterStopped(
                f"The console's socket can't be made at {self._path}: {error.strerror}."
            ) from error
        return listener

    async def _attend(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        take: Callable[[Wrote], Awaitable[None]],
    ) -> None:
        """Answer one terminal until it hangs up."""
        try:
            async for line in _lines(reader):
                try:
                    if line is None:
                        raise ValueError(f"A line has at most {LONGEST_LINE} bytes.")
                    said = read_line(line)
                except ValueError as error:
                    await self._write(writer, write_line(type="error", text=str(error)))
                    continue
                match said:
                    case Hello():
                        self._viewers.add(writer)
                    case Got():
                        self._confirm(said.key)
                    case Wrote():
                        await self._take(writer, said, take)
        except ConnectionError:
            pass  # it hung up without a word, which is its right
        finally:
            self._viewers.discard(writer)
            writer.close()

    async def _take(
        self,
        writer: asyncio.StreamWriter,
        wrote: Wrote,
        take: Callable[[Wrote], Awaitable[None]],
    ) -> None:
        try:
            await take(wrote)
        except Unreachable as error:
            answer = write_line(type="error", text=str(error), id=wrote.message_id)
        else:
            answer = write_line(type="ack", id=wrote.message_id)
        await self._write(writer, answer)

    def _confirm(self, key: str) -> None:
        answer = self._awaited.get(key)
        if answer is not None and not answer.done():
            answer.set_result(None)
        self._got[key] = None
        if len(self._got) > _REMEMBERED_KEYS:
            del self._got[next(iter(self._got))]

    async def _write(self, writer: asyncio.StreamWriter, line: bytes) -> bool:
        """True if the line is on its way. A terminal that does not read is let go."""
        try:
            writer.write(line)
            async with asyncio.timeout(_WRITE_TIMEOUT):
                await writer.drain()
        except (ConnectionError, TimeoutError):
            self._viewers.discard(writer)
            writer.transport.abort()
            return False
        return True


async def _answers(path: Path) -> bool:
    """Whether a living process serves the socket, or a dead one left it behind."""
    try:
        async with asyncio.timeout(2):
            _, writer = await asyncio.open_unix_connection(str(path))
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes | None]:
    """The lines of a terminal; None in place of one that was too long."""
    is_overlong = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
            is_overlong = True
        except asyncio.IncompleteReadError:
            return
        else:
            yield None if is_overlong else line
            is_overlong = False
