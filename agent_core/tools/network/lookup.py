"""Look up hosts that a model names: each is resolved once, and its addresses are checked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

from agent_core.tools.network.addresses import check_address

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a host and port to IP addresses. Raises `OSError`."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Resolve a host with the system's resolver. Raises `OSError`."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class HostLookup:
    """Finds the addresses to connect to. A caller connects to these, and does not resolve again.

    `allow_hosts` are hosts, each with or without a port, that may have an address of the local
    network.
    """

    def __init__(self, allow_hosts: Iterable[str] = (), resolve: Resolve = resolve) -> None:
        self._allow_hosts = frozenset(host.lower().rstrip(".") for host in allow_hosts)
        self._resolve = resolve

    def is_listed(self, host: str, port: int) -> bool:
        """Return whether a host may have an address of the local network."""
        name = f"[{host}]" if ":" in host else host.rstrip(".")
        return bool({name, f"{name}:{port}"} & self._allow_hosts)

    async def find(self, host: str, port: int, *, is_trusted: bool | None = None) -> Sequence[str]:
        """Resolve a host; all of its addresses must be public, unless it is trusted.

        By default, only a listed host is. Raises `ForbiddenAddress`, and `OSError` if it does not
        resolve.
        """
        try:
            addresses = await self._resolve(host, port)
        except UnicodeError as error:
            raise OSError("this is no name of a host") from error
        if not (self.is_listed(host, port) if is_trusted is None else is_trusted):
            for address in addresses:
                check_address(address)
        return addresses
