"""HTTP shared by the platforms: connection limits, proxies, bounded reads and error mapping."""

import ipaddress
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.helpers import strip_auth_from_url
from yarl import URL

from adapters.errors import AdapterError, Unreachable

CONNECT_TIMEOUT = 10.0
"""Seconds to establish a connection."""
_IDLE = 30.0
"""Seconds after which an unused connection is closed. A server or router would otherwise close
it silently, and the next message's delivery would be unknown.
"""
_CHUNK = 65_536
_MOST_ORIGINS = 256
"""Servers whose proxies are remembered."""


def make_connector(connections: int) -> aiohttp.TCPConnector:
    """Limit the number of connections, close idle ones, and obey the environment's proxies."""
    return _Connector(limit=connections, keepalive_timeout=_IDLE)


class _Connector(aiohttp.TCPConnector):
    """Connects through the proxy that the environment names for each host.

    A session that trusts the environment would also read `~/.netrc`, whose passwords are not for
    bots. It would look for the proxy in a thread on every call, and ignore `ALL_PROXY`.
    """

    def __init__(self, *, limit: int, keepalive_timeout: float) -> None:
        super().__init__(limit=limit, keepalive_timeout=keepalive_timeout)
        self._found: dict[str, URL | None] = {}

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> Any:
        """Provide a connection to a host, or to the proxy in front of it."""
        origin = str(req.url.origin())
        if origin not in self._found:
            if len(self._found) >= _MOST_ORIGINS:
                self._found.clear()
            self._found[origin] = URL(proxy) if (proxy := find_proxy(origin)) else None
        proxy_url = self._found[origin]
        if proxy_url is not None:
            if proxy_url.scheme not in ("http", "https"):
                fault = OSError(
                    f"a proxy with {proxy_url.scheme}:// is not supported, only http://"
                )
                raise aiohttp.ClientConnectorError(req.connection_key, fault)
            req.update_proxy(*strip_auth_from_url(proxy_url), None)
        return await super().connect(req, traces, timeout)


def find_proxy(address: str) -> str:
    """Return the proxy that the environment names for an address; "" to connect directly.

    `HTTPS_PROXY` and `HTTP_PROXY` go before `ALL_PROXY`. Hosts of `NO_PROXY` and of this machine
    are reached directly. WebSockets use the proxy of their HTTP address.
    """
    parts = urlsplit(address)
    host, scheme = parts.hostname or "", {"ws": "http", "wss": "https"}.get(parts.scheme)
    proxies = getproxies()
    proxy = proxies.get(scheme or parts.scheme) or proxies.get("all", "")
    if not proxy or not host or _is_here(host) or _is_left_out(host, parts.port, proxies):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_left_out(host: str, port: int | None, proxies: Mapping[str, str]) -> bool:
    """Return whether `NO_PROXY` names a host, a domain above it, or a network around it."""
    if proxy_bypass(host if port is None else f"{host}:{port}"):
        return True
    for entry in proxies.get("no", "").split(","):
        with suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip(), strict=False):
                return True
    return False


async def read_at_most(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes | None:
    """Read a response body; None if it exceeds `most_bytes`. Never reads further than that."""
    if (answer.content_length or 0) > most_bytes:
        return None
    found = bytearray()
    async for chunk in answer.content.iter_chunked(_CHUNK):
        found += chunk
        if len(found) > most_bytes:
            return None
    return bytes(found)


def read_wait(header: str, *, default: float) -> float:
    """Parse a Retry-After header into seconds; `default` if it is missing or unreadable."""
    return float(header) if header.isdecimal() else default


def name_mishap(error: Exception, platform: str, *, lost: type[AdapterError]) -> AdapterError:
    """Map an aiohttp error or an unreadable response to a platform error.

    Raises `lost` if the request was sent but not clearly answered; its meaning depends on whether
    the call may be repeated. `platform` is the name used in sentences.
    """
    match error:
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return Unreachable(f"{platform} can't be reached: {error}.")
        case TimeoutError():
            return lost(f"{platform} did not answer in time.")
        case aiohttp.ClientError() | OSError():  # the error's text may hold an address with a token
            return lost(f"The connection to {platform} broke ({type(error).__name__}).")
        case _:
            return lost(f"{platform}'s answer can't be read: {error}.")
