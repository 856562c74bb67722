"""HTTP shared by the platforms: connection limits, bounded reads and error mapping."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from adapters.errors import AdapterError, Unreachable

CONNECT_TIMEOUT = 10.0
"""Seconds to establish a connection."""
_IDLE = 30.0
"""Seconds after which an unused connection is closed. A server or router would otherwise close
it silently, and the next message's delivery would be unknown.
"""
_CHUNK = 65_536


def make_connector(connections: int) -> aiohttp.TCPConnector:
    """Limit the number of connections and close idle ones before they go stale."""
    return aiohttp.TCPConnector(limit=connections, keepalive_timeout=_IDLE)


def has_proxy(address: str) -> bool:
    """Return whether the environment names a proxy for an address.

    Without a proxy, the session need not trust the environment. Otherwise aiohttp would look for
    the proxy in a thread on every call, and would also read `~/.netrc`, whose passwords are not for
    bots.
    """
    parts = urlsplit(address)
    is_direct = parts.hostname is None or proxy_bypass(parts.hostname)
    return not is_direct and parts.scheme in getproxies()


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
