"""HTTP fetches from public addresses only, limited in size and time."""

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import SplitResult, urljoin

import aiohttp
from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from agent_core.tools.network.addresses import ForbiddenAddress, check_url
from agent_core.tools.network.lookup import HostLookup, Resolve, resolve
from agent_core.tools.readers.faults import FetchFailed, LedElsewhere

T = TypeVar("T")

MOST_BYTES = 3_000_000
"""Bytes of a response, after decompression."""
SECONDS = 15.0
"""Seconds of one fetch, including all redirects."""
MOST_REDIRECTS = 5
_CONNECT_SECONDS = 5.0
_PIECE = 65_536
_MOVED = (301, 302, 303, 307, 308)
_ENCODINGS = "gzip, deflate"
_AGENT = "Talaria (self-hosted assistant)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A response. `url` is the final address; `next_url` is the next page, if the server names one
    (RFC 8288).
    """

    url: str
    body: bytes
    media_type: str
    charset: str = ""
    next_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A page to fetch. Custom `headers` go only to the first address, which must not redirect.

    `is_trusted` is for servers that the owner configured: they may have a private address, but
    their redirects may not. A `body` is sent with POST. At most `most_bytes` are read. With
    `stays`, a redirect may only change http to https.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_trusted: bool = False
    body: bytes = b""
    most_bytes: int = MOST_BYTES
    stays: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A server's answer to a sent request; its body is not read.

    `retry_after` is the header of that name, "" if it is missing.
    """

    status: int
    retry_after: str = ""


class Fetcher:
    """Fetches pages. Resolves each host once, and connects only to the checked addresses.

    Every redirect is checked, too. `allow_hosts` are hosts, each with or without a port, that may
    have an address of the local network. `seconds` limits one page.
    """

    def __init__(
        self,
        *,
        allow_hosts: Iterable[str] = (),
        resolve: Resolve = resolve,
        seconds: float = SECONDS,
    ) -> None:
        self._lookup = HostLookup(allow_hosts, resolve)
        self._seconds = seconds

    async def fetch(self, wanted: FetchRequest) -> Page:
        """Fetch a page. Raises `FetchFailed`; `LedElsewhere` if a page that `stays` has moved."""
        return await self._limit(self._follow(wanted))

    async def send(self, wanted: FetchRequest) -> Reply:
        """Send a body, and return the answer; a redirect is an answer like any other.

        Raises `FetchFailed` if the server doesn't answer.
        """
        return await self._limit(self._send(wanted))

    async def _limit(self, work: Awaitable[T]) -> T:
        """Await a request with a time limit. Raises `FetchFailed`."""
        try:
            async with asyncio.timeout(self._seconds):
                return await work
        except ForbiddenAddress as error:
            raise FetchFailed(str(error)) from error
        except TimeoutError as error:
            raise FetchFailed(f"it took longer than {self._seconds:g} s") from error
        except aiohttp.ClientSSLError as error:
            raise FetchFailed("its certificate can't be trusted") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchFailed(f"it is unreachable ({type(error).__name__})") from error

    async def _follow(self, wanted: FetchRequest) -> Page:
        url, may_be_local = wanted.url, True
        for _ in range(MOST_REDIRECTS + 1):
            parts = check_url(url)
            is_listed = self._is_listed(parts)
            is_trusted = (may_be_local and is_listed) or (wanted.is_trusted and url == wanted.url)
            addresses = await self._look_up(parts, is_trusted=is_trusted)
            may_be_local = is_listed  # a page of the internet must not lead into the local network
            async with self._request(url, addresses, wanted) as answer:
                found = await _read_page(answer, url, wanted.most_bytes)
            if isinstance(found, Page):
                return found
            if wanted.headers or wanted.body:
                raise FetchFailed("it redirects, which is not allowed here")
            moved = urljoin(url, found)
            if wanted.stays and moved != f"https://{url.removeprefix('http://')}":
                raise LedElsewhere(moved)
            url = moved
        raise FetchFailed(f"it redirects more than {MOST_REDIRECTS} times")

    async def _send(self, wanted: FetchRequest) -> Reply:
        parts = check_url(wanted.url)
        is_trusted = wanted.is_trusted or self._is_listed(parts)
        addresses = await self._look_up(parts, is_trusted=is_trusted)
        async with self._request(wanted.url, addresses, wanted) as answer:
            return Reply(status=answer.status, retry_after=answer.headers.get("Retry-After", ""))

    def _is_listed(self, parts: SplitResult) -> bool:
        return self._lookup.is_listed(*_find_end(parts))

    async def _look_up(self, parts: SplitResult, *, is_trusted: bool) -> Sequence[str]:
        """Resolve and check the addresses of a host. Raises `ForbiddenAddress`."""
        try:
            return await self._lookup.find(*_find_end(parts), is_trusted=is_trusted)
        except OSError as error:
            raise FetchFailed("its host name does not resolve") from error

    @asynccontextmanager
    async def _request(
        self, url: str, addresses: Sequence[str], wanted: FetchRequest
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Request one URL, at its checked addresses."""
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(addresses), socket_factory=_gate(addresses), force_close=True
        )
        async with (
            aiohttp.ClientSession(
                connector=connector,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=SECONDS, sock_connect=_CONNECT_SECONDS),
                headers={"User-Agent": _AGENT, "Accept-Encoding": _ENCODINGS, **wanted.headers},
            ) as session,
            session.request(
                "POST" if wanted.body else "GET",
                url,
                data=wanted.body or None,
                allow_redirects=False,
            ) as answer,
        ):
            yield answer


def _find_end(parts: SplitResult) -> tuple[str, int]:
    """Return the host and the port of an address."""
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


async def _read_page(answer: aiohttp.ClientResponse, url: str, most: int) -> Page | str:
    """Read the page, or the target of a redirect. Raises `FetchFailed`."""
    moved = answer.headers.get("Location", "")
    if answer.status in _MOVED and moved:
        return moved
    if answer.status != 200:
        raise FetchFailed(f"it answered with status {answer.status}", status=answer.status)
    return Page(
        url=url,
        body=await _read(answer, most),
        media_type=answer.content_type,
        charset=answer.charset or "",
        next_url=next(
            (str(link["url"]) for name, link in answer.links.items() if name == "next"), ""
        ),
    )


class _Pinned(AbstractResolver):
    """Resolves one host to its checked addresses."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the checked addresses, whatever DNS answers now."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Do nothing: no connection is open."""


def _gate(addresses: Sequence[str]) -> Callable[[AddrInfoType], socket.socket]:
    """Create sockets for the checked addresses only, however a library parses the URL."""

    def open_socket(info: AddrInfoType) -> socket.socket:
        if info[4][0] not in addresses:
            raise OSError(f"{info[4][0]} is not a checked address")
        return socket.socket(info[0], info[1], info[2])

    return open_socket


async def _read(answer: aiohttp.ClientResponse, most: int) -> bytes:
    """Read the body, decompressed in pieces, up to the limit. Raises `FetchFailed`."""
    unpack = _choose(answer.headers.get("Content-Encoding", "").strip().lower())
    found = bytearray()
    # A declared length over the limit is refused at once; a smaller one may be wrong.
    is_too_large = (answer.content_length or 0) > most
    while not is_too_large and (piece := await answer.content.read(_PIECE)):
        found += unpack(piece, most + 1 - len(found))
        is_too_large = len(found) > most
    if is_too_large:
        raise FetchFailed(f"it is larger than {most / 1e6:g} MB")
    return bytes(found)


def _choose(encoding: str) -> Callable[[bytes, int], bytes]:
    """Choose the decompressor for a content encoding."""
    if encoding in ("", "identity"):
        return lambda piece, most: piece[:most]
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed("its encoding was not requested")
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return inflater.decompress(piece, most)
        except zlib.error as error:
            raise FetchFailed("its encoding is broken") from error

    return unpack
