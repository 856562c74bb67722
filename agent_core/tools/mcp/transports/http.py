"""Speak MCP over HTTP, with checked addresses and limited response sizes."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from agent_core.tools.mcp.contract import McpServer
from agent_core.tools.mcp.transports.streams import (
    MOST_BYTES,
    LimitedStream,
    Pace,
    StreamLink,
    pace_bytes,
)
from agent_core.tools.network.addresses import ForbiddenAddress, check_address
from agent_core.tools.network.environment_proxy import find_proxy

_TIMEOUT = httpx2.Timeout(10.0, read=300.0)
_FAREWELL = 2.0
"""Seconds in which a server has to confirm the end of a session."""
_MOST_ANSWER = 8 * MOST_BYTES


@asynccontextmanager
async def open_http(
    server: McpServer, link: StreamLink, auth: httpx2.Auth | None = None
) -> AsyncIterator[TransportStreams]:
    """Provide the streams of a server's messages. Nothing is sent yet."""

    async def note(response: httpx2.Response) -> None:
        if "mcp-session-id" in response.request.headers:
            link.has_lost_session |= response.status_code in (404, 410)
            link.is_refused |= response.status_code == 400

    client = make_client(server, _TIMEOUT, headers=server.headers, auth=auth)
    client.event_hooks = {"response": [note]}
    async with (
        client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MOST_BYTES) as (
            read,
            write,
        ),
    ):
        yield LimitedStream(read, link), write


def make_client(
    server: McpServer,
    timeout: httpx2.Timeout,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """Make a client that connects to checked addresses only, and takes answers of limited size."""
    return httpx2.AsyncClient(
        transport=_GuardedTransport(server),
        headers=dict(headers),
        auth=auth,
        timeout=timeout,
        trust_env=False,
    )


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Resolves a host once, checks the address, and connects to exactly that address.

    A proxy that the environment names resolves names itself; only literal addresses are checked.
    """

    def __init__(self, server: McpServer) -> None:
        self._below = httpx2.AsyncHTTPTransport(trust_env=False)
        self._proxied: dict[str, httpx2.AsyncHTTPTransport] = {}
        self._is_local = server.is_local
        self._chosen = httpx2.URL(server.url).host
        self._pace = pace_bytes()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to a checked address; the size of the response is limited."""
        host, port = request.url.host, request.url.port or _default_port(request.url)
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(_FAREWELL).as_dict()
        if proxy := find_proxy(str(request.url)):
            if _is_literal(host):
                await self._resolve(host, port)
            response = await self._open_proxy(proxy).handle_async_request(request)
        else:
            address = await self._resolve(host, port)
            request.extensions["sni_hostname"] = host
            request.url = request.url.copy_with(host=address)
            response = await self._below.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - it is async
        response.stream = _BoundedAnswer(response.stream, self._pace)
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in (self._below, *self._proxied.values()):
            await transport.aclose()

    def _open_proxy(self, proxy: str) -> httpx2.AsyncHTTPTransport:
        if proxy not in self._proxied:
            try:
                self._proxied[proxy] = httpx2.AsyncHTTPTransport(trust_env=False, proxy=proxy)
            except (ImportError, ValueError) as error:
                scheme = proxy.partition(":")[0]
                reason = f"a proxy with {scheme}:// is not supported, only http://"
                raise httpx2.ConnectError(reason) from error
        return self._proxied[proxy]

    async def _resolve(self, host: str, port: int) -> str:
        """Return the address of a host. Raises `httpx2.ConnectError`."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            address = str(found[0][4][0])
            # The owner chose a literal address on purpose; a name may resolve to another one later,
            # and the server names further hosts for the sign-in.
            if not (self._is_local or (host == self._chosen and _is_literal(host))):
                check_address(address)
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(f"{host} does not resolve") from error
        except ForbiddenAddress as error:
            raise httpx2.ConnectError(f"{error}; `local = true` allows it") from error
        return address


class _BoundedAnswer(httpx2.AsyncByteStream):
    """The body of a response; reading it raises an error if it is too long."""

    def __init__(self, stream: httpx2.AsyncByteStream, pace: Pace) -> None:
        self._stream = stream
        self._pace = pace

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > _MOST_ANSWER:
                raise httpx2.ReadError("the answer is too long")
            await self._pace.take(len(piece))
            yield piece

    async def aclose(self) -> None:
        """Close the wrapped body."""
        await self._stream.aclose()


def _default_port(url: httpx2.URL) -> int:
    return 443 if url.scheme == "https" else 80


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
