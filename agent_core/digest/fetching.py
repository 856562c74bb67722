"""Fetches from the web: from open addresses only, within bounds of size and time."""

import asyncio
import ipaddress
import socket
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urljoin, urlsplit

import aiohttp
from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from agent_core.digest.formatting import FetchFailed
from agent_core.tools.untrusted_text import is_hidden

_LONGEST = 2000
"""Characters of an address; browsers and servers take no more either."""
_GLOBAL_6 = ipaddress.ip_network("2000::/3")
"""All that is given out of IPv6 (RFC 4291, 2.4); what wraps IPv4 for NAT64 lies outside."""
_RELAYS = (
    ipaddress.ip_network("192.88.99.0/24"),  # 6to4 relays, RFC 7526
    ipaddress.ip_network("2001::/32"),  # Teredo, which carries IPv4
    ipaddress.ip_network("2002::/16"),  # 6to4, which carries IPv4
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class ForbiddenAddress(Exception):
    """An address that may not be fetched from; the text says why, as the end of a sentence."""


def check_url(url: str) -> SplitResult:
    """The parts of an address that may be tried. Raises `ForbiddenAddress`."""
    if len(url) > _LONGEST:
        raise ForbiddenAddress(f"its address is longer than {_LONGEST} characters")
    if any(sign.isspace() or is_hidden(sign) or sign == "\\" for sign in url):
        raise ForbiddenAddress("its address holds characters that none has")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenAddress("its address can't be read") from error
    if parts.scheme not in ("http", "https"):
        raise ForbiddenAddress("only http and https addresses are fetched")
    if "@" in parts.netloc:
        raise ForbiddenAddress("an address with a name or a password in it is not fetched")
    if not parts.hostname or port == 0:
        raise ForbiddenAddress("its address names no host")
    return parts


def check_address(text: str) -> None:
    """Raise `ForbiddenAddress` for an IP address that is not one of the open internet."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError as error:
        raise ForbiddenAddress("its name leads to no address") from error
    if not _is_open(address):
        raise ForbiddenAddress(f"{address} is not on the open internet")


def _is_open(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return _is_open(address.ipv4_mapped)
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_6:
        return False
    if any(address in relay for relay in _RELAYS if relay.version == address.version):
        return False
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


MOST_BYTES = 3_000_000
"""Of one answer, once it is unpacked."""
SECONDS = 15.0
"""For one fetch with all its redirects."""
MOST_REDIRECTS = 5
_CONNECT_SECONDS = 5.0
_PIECE = 65_536
_MOVED = (301, 302, 303, 307, 308)
_AGENT = "Talaria (self-hosted assistant)"

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the IP addresses of a host for a port. Raises `OSError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What an address gave. `url` is where it was found in the end; `next_url` where it goes on,
    if it says so (RFC 8288).
    """

    url: str
    body: bytes
    media_type: str
    next_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """What is to be fetched. Own `headers` go to the first address only, which must answer itself.

    `is_trusted` is for servers that the house's owner has set: they may be anywhere, but what they
    send on to is as any other.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_trusted: bool = False


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host as the system knows them. Raises `OSError`."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Fetcher:
    """Gets pages. Names are looked up once, what they lead to is checked, and exactly that is
    connected to; every redirect is a new address.

    `allow_private` lets in what lies in this machine's own network. `seconds` are for one page.
    """

    def __init__(
        self, *, allow_private: bool = False, resolve: Resolve = resolve, seconds: float = SECONDS
    ) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._seconds = seconds

    async def fetch(self, wanted: FetchRequest) -> Page:
        """The page of an address. Raises `FetchFailed`."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(wanted)
        except ForbiddenAddress as error:
            raise FetchFailed(str(error)) from error
        except TimeoutError as error:
            raise FetchFailed(f"it took longer than {self._seconds:g} s") from error
        except aiohttp.ClientSSLError as error:
            raise FetchFailed("its certificate can't be trusted") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchFailed(f"it can't be reached ({type(error).__name__})") from error

    async def _follow(self, wanted: FetchRequest) -> Page:
        url = wanted.url
        for _ in range(MOST_REDIRECTS + 1):
            parts = check_url(url)
            is_trusted = wanted.is_trusted and url == wanted.url
            addresses = await self._look_up(parts, is_checked=not is_trusted)
            found = await self._get(url, addresses, wanted.headers)
            if isinstance(found, Page):
                return found
            if wanted.headers:
                raise FetchFailed("it sends on to another address")
            url = urljoin(url, found)
        raise FetchFailed(f"it sends on more than {MOST_REDIRECTS} times")

    async def _look_up(self, parts: SplitResult, *, is_checked: bool) -> Sequence[str]:
        """The addresses to connect to. Raises `ForbiddenAddress`, and `OSError`."""
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise FetchFailed("its name leads to no address") from error
        if is_checked and not self._allow_private:
            for address in addresses:
                check_address(address)
        return addresses

    async def _get(
        self, url: str, addresses: Sequence[str], headers: Mapping[str, str]
    ) -> Page | str:
        """The page, or where it has moved."""
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(addresses), socket_factory=_gate(addresses), force_close=True
        )
        async with (
            aiohttp.ClientSession(
                connector=connector,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=SECONDS, sock_connect=_CONNECT_SECONDS),
                headers={"User-Agent": _AGENT, "Accept-Encoding": "gzip, deflate", **headers},
            ) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            moved = answer.headers.get("Location", "")
            if answer.status in _MOVED and moved:
                return moved
            if answer.status != 200:
                raise FetchFailed(f"it answered with status {answer.status}", status=answer.status)
            return Page(
                url=url,
                body=await _read(answer),
                media_type=answer.content_type,
                next_url=next(
                    (str(link["url"]) for name, link in answer.links.items() if name == "next"), ""
                ),
            )


class _Pinned(AbstractResolver):
    """Knows one host: the one whose addresses were checked just now."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Those addresses, whatever the name's server says by now."""
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
        """There is nothing to close."""


def _gate(addresses: Sequence[str]) -> Callable[[AddrInfoType], socket.socket]:
    """Opens sockets for those addresses and no other, however somebody has read the URL."""

    def open_socket(info: AddrInfoType) -> socket.socket:
        if info[4][0] not in addresses:
            raise OSError(f"{info[4][0]} is not what was checked")
        return socket.socket(info[0], info[1], info[2])

    return open_socket


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    """The body, unpacked as it comes and never beyond the bound. Raises `FetchFailed`."""
    unpack = _choose(answer.headers.get("Content-Encoding", "").strip().lower())
    found = bytearray()
    async for piece in answer.content.iter_chunked(_PIECE):
        found += unpack(piece, MOST_BYTES + 1 - len(found))
        if len(found) > MOST_BYTES:
            raise FetchFailed(f"it is larger than {MOST_BYTES / 1e6:g} MB")
    return bytes(found)


def _choose(encoding: str) -> Callable[[bytes, int], bytes]:
    """What unpacks pieces of a body, to at most so many bytes each."""
    if encoding in ("", "identity"):
        return lambda piece, most: piece[:most]
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed("it is packed in a way that was not asked for")
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return inflater.decompress(piece, most)
        except zlib.error as error:
            raise FetchFailed("it is packed in a broken way") from error

    return unpack
