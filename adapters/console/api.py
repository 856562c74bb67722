"""The console's connection: a Unix socket, its clients, and JSON lines in both directions."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from adapters.console.render import Line
from adapters.console.settings import LONGEST_LINE, OWNER, ConsoleSettings
from adapters.errors import AdapterStopped, Unreachable, Unsure

_log = logging.getLogger(__name__)

_CLOSE = 1.0

Hear = Callable[[str, "ConsoleClient"], Awaitable[None]]


class ConsoleClient:
    """The connection of one client."""

    shows_buttons = False
    user = OWNER
    """Whose conversation it shows."""
    has_written = False
    """True after its first line; from then on, it is of this user."""

    def __init__(self, writer: asyncio.StreamWriter, longest_backlog: int) -> None:
        self._writer = writer
        self._longest_backlog = longest_backlog

    def write(self, line: str) -> None:
        """Send a line; disconnects a client that has stopped reading."""
        if self._writer.is_closing():
            return
        self._writer.write(line.encode())
        if self._writer.transport.get_write_buffer_size() > self._longest_backlog:
            self._writer.transport.abort()

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        try:
            async with asyncio.timeout(_CLOSE):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self._writer.transport.abort()


class ConsoleServer:
    """Listens on the socket and passes each client line to `hear`."""

    def __init__(self, settings: ConsoleSettings, hear: Hear) -> None:
        self._path = settings.socket
        self._confirm = settings.confirm
        self._longest_backlog = settings.longest_backlog
        self._hear = hear
        self._clients: set[ConsoleClient] = set()
        self._waiting: dict[tuple[str, str], asyncio.Future[None]] = {}

    async def serve(self, on_open: Callable[[], None]) -> None:
        """Listen until cancelled. Raises `AdapterStopped` if the socket cannot be created."""
        try:
            # We hold the home's lock, so no process uses an existing socket.
            self._path.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(
                self._attend, self._path, limit=LONGEST_LINE, start_serving=False
            )
            self._path.chmod(0o600)
            await server.start_serving()
        except OSError as error:
            raise AdapterStopped(
                f"The console's socket {self._path} can't be made: {error}. A path of more than"
                " about 100 characters is too long for a socket; set TALARIA_HOME to a shorter one."
            ) from error
        on_open()
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            for client in list(self._clients):
                await client.close()
            self._path.unlink(missing_ok=True)

    def broadcast(self, user: str, line: Line, *, besides: ConsoleClient | None = None) -> None:
        """Send a line to every client of a user, or to all except `besides`, unconfirmed."""
        for client in self._clients:
            if client.user == user and client is not besides:
                client.write(line.full if client.shows_buttons else line.plain)

    async def post(self, user: str, line: Line, key: str) -> None:
        """Send a line to every client of a user and wait until one confirms it.

        Raises `Unreachable` without any client, and `Unsure` if none confirms in time.
        """
        if not any(client.user == user for client in self._clients):
            raise Unreachable("nobody has the console open")
        shown = self._waiting[user, key] = asyncio.get_running_loop().create_future()
        try:
            self.broadcast(user, line)
            async with asyncio.timeout(self._confirm):
                await shown
        except TimeoutError as error:
            raise Unsure("no client of the console said that it has shown this") from error
        finally:
            del self._waiting[user, key]

    def confirm(self, user: str, key: str) -> None:
        """Record that a client of a user has shown the line with this key.

        Nobody can confirm what is for another, which would then count as sent.
        """
        shown = self._waiting.get((user, key))
        if shown and not shown.done():
            shown.set_result(None)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = ConsoleClient(writer, self._longest_backlog)
        self._clients.add(client)
        try:
            while line := await _read_line(reader):
                await self._hear(line, client)
                client.has_written = True
        except OSError as error:
            _log.debug("a client of the console disconnected: %s", error)
        finally:
            self._clients.discard(client)
            await client.close()


async def _read_line(reader: asyncio.StreamReader) -> str:
    """Return the next line, "" at the end; an overlong line arrives as an unreadable stub."""
    is_too_long = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return ""
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
            is_too_long = True
            continue
        return "too long" if is_too_long else line.decode(errors="replace")
