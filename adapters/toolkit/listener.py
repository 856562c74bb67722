"""A listening port with a limited number of connections, each with limited time for its request."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

MOST_CONNECTIONS = 100
"""The most connections at one time; a web page opens six, and then keeps one."""
HEAD_SECONDS = 10.0
"""Seconds that a client has to send the head of its request."""
_END_OF_HEAD = b"\r\n\r\n"


async def listen(
    make_protocol: Callable[[], asyncio.Protocol],
    host: str,
    port: int,
    *,
    head_seconds: float = HEAD_SECONDS,
) -> asyncio.Server:
    """Listen on a port for an HTTP server, which the caller closes. Raises `OSError`.

    aiohttp and uvicorn wait forever for the first request of a connection. If all places are taken,
    the oldest connection without a request is closed, or else the new one is refused. The server
    has to close each connection after one request, because only the first request of a connection
    is watched.
    """
    places = Places(head_seconds)
    return await asyncio.get_running_loop().create_server(
        lambda: places.accept(make_protocol()), host, port
    )


class Places:
    """The places of one port; see `listen`."""

    def __init__(self, head_seconds: float = HEAD_SECONDS) -> None:
        self._opened: dict[_Connection, None] = {}
        self._head_seconds = head_seconds

    def accept(self, protocol: asyncio.Protocol) -> asyncio.Protocol:
        """Return a protocol that passes everything to this one, once it has a place."""
        return _Connection(protocol, self._opened, self._head_seconds)


class _Transport:
    """The server's view of a transport.

    If another protocol takes over, the connection still counts as open.
    """

    def __init__(self, transport: asyncio.Transport, connection: "_Connection") -> None:
        self._transport = transport
        self._connection = connection

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Pass everything to another protocol from now on, as for a WebSocket."""
        self._connection.inner = cast(asyncio.Protocol, protocol)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Connection(asyncio.Protocol):
    """Passes everything to the server's protocol, and watches the head of the request."""

    def __init__(
        self, inner: asyncio.Protocol, opened: dict["_Connection", None], head_seconds: float
    ) -> None:
        self.inner = inner
        self._all = opened
        self._head_seconds = head_seconds
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tail = b""
        self.is_waiting = True
        """True until a whole head has arrived."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, or refuse the connection."""
        self._transport = cast(asyncio.Transport, transport)
        if len(self._all) >= MOST_CONNECTIONS:
            oldest = next((one for one in self._all if one.is_waiting), None)
            (oldest or self).abort()
        self._all[self] = None
        self.inner.connection_made(cast(asyncio.Transport, _Transport(self._transport, self)))
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._head_seconds, self.abort)

    def data_received(self, data: bytes) -> None:
        """Pass data on. The empty line after the head stops the timer."""
        if self.is_waiting:
            # Servers skip empty lines before a request (RFC 9112, 2.2).
            recent = self._tail + data if self._tail else data.lstrip(b"\r\n")
            self._tail = recent[-len(_END_OF_HEAD) + 1 :]
            if _END_OF_HEAD in recent:
                self.is_waiting = False
                self._stop_timer()
        self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass on that the client has sent all its data."""
        return self.inner.eof_received()

    def pause_writing(self) -> None:
        """Pass on the request to pause writing."""
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass on the request to resume writing."""
        self.inner.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        """Give the place back, and let go of the server's protocol, which holds this connection."""
        self._stop_timer()
        self._all.pop(self, None)
        inner, self.inner = self.inner, asyncio.Protocol()
        inner.connection_lost(error)

    def abort(self) -> None:
        """Close the connection at once, and give the place back."""
        self._all.pop(self, None)
        if self._transport:
            self._transport.abort()

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
