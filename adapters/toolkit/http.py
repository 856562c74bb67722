"""What all wires over HTTP here do alike: connect, read up to a bound, tell what broke."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from adapters.errors import AdapterError, Unreachable

CONNECT_TIMEOUT = 10.0
"""Seconds until a connection stands."""
_IDLE = 30.0
"""Seconds after which an unused connection is closed, before a server or router does so
unseen, which would make the next message an unsure one."""
_CHUNK = 65_536


def make_connector(connections: int) -> aiohttp.TCPConnector:
    """At most so many connections at once, none of them kept until it is stale."""
    return aiohttp.TCPConnector(limit=connections, keepalive_timeout=_IDLE)


def has_proxy(address: str) -> bool:
    """Whether the environment names a proxy for an address.

    Where it does not, a session has no reason to trust the environment: it would look for one at
    every call, in a thread, and read `~/.netrc` besides, whose passwords are not for bots.
    """
    parts = urlsplit(address)
    is_direct = parts.hostname is None or proxy_bypass(parts.hostname)
    return not is_direct and parts.scheme in getproxies()


async def read_at_most(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes | None:
    """The body of an answer, None if it is longer; never reads on beyond `most_bytes`."""
    if (answer.content_length or 0) > most_bytes:
        return None
    found = bytearray()
    async for chunk in answer.content.iter_chunked(_CHUNK):
        found += chunk
        if len(found) > most_bytes:
            return None
    return bytes(found)


def read_wait(header: str, *, default: float) -> float:
    """The seconds that a Retry-After asks for; `default` where it does not say."""
    return float(header) if header.isdecimal() else default


def name_mishap(error: Exception, platform: str, *, lost: type[AdapterError]) -> AdapterError:
    """This wing's name for what aiohttp raised, or for an answer that could not be read.

    `lost` is raised when a request left and no clear answer came: what that means depends on
    whether the call may be made twice. `platform` is its name in sentences.
    """
    match error:
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return Unreachable(f"{platform} can't be reached: {error}.")
        case TimeoutError():
            return lost(f"{platform} did not answer in time.")
        case aiohttp.ClientError() | OSError():  # its text may hold an address with a token
            return lost(f"The connection to {platform} broke ({type(error).__name__}).")
        case _:
            return lost(f"{platform}'s answer can't be read: {error}.")
