"""The proxy of sandboxes: lets commands reach the hosts that the owner allows, and no others.

It supports CONNECT and plain HTTP (RFC 9110, 9112). It resolves each host once and, as every fetch
does, connects to public addresses only.
"""

import asyncio
import logging
import re
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlunsplit

from agent_core.execution.folders import find_own
from agent_core.tools.network.addresses import ForbiddenAddress, check_url
from agent_core.tools.network.lookup import HostLookup

MOST_CONNECTIONS = 32
"""Connections of one command at the same time."""
MOST_IN_ALL = 128
"""Connections of all commands; each takes two file descriptors of the gateway, which often may have
only 1,024.
"""
_HEAD_BYTES = 32_768
_HEAD_SECONDS = 15.0
_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 300.0
_LINGER_SECONDS = 2.0
_PIECE = 65_536
_MOST_REFUSALS = 10
_LONGEST_HOST = 80
_PORTS = (80, 443)
"""The allowed ports of a host that is listed without a port."""
_METHOD = re.compile(r"[A-Z]{1,20}")
_OWN_FIELDS = ("connection", "keep-alive", "te", "upgrade", "host")
"""Header fields that concern a single connection, or that this proxy writes itself."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Target:
    """The destination of a request; `head` is sent to the server first, and is "" for a tunnel."""

    host: str
    port: int
    head: bytes = b""


class _Refused(Exception):
    """The refusal of a request: its status, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class AllowedHosts:
    """The allow list: `pypi.org`, `*.pypi.org` for all names below it, `*` for every host.

    Each entry may have a port; without one, ports 80 and 443 are allowed.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [_split(pattern.lower()) for pattern in patterns]

    def has(self, host: str, port: int) -> bool:
        """Return whether a host may be reached at a port."""
        return any(
            port in ports and (pattern in ("*", host) or _is_below(host, pattern))
            for pattern, ports in self._patterns
        )


class SandboxProxy:
    """The proxy for the commands of some people: each command of theirs has a port of its own.

    `people` are the names of their workspaces, or `*` for everyone.
    """

    def __init__(
        self, people: Iterable[str], hosts: AllowedHosts, lookup: HostLookup | None = None
    ) -> None:
        self._people = frozenset(people)
        self._hosts = hosts
        self._lookup = lookup or HostLookup()
        self._open: set[asyncio.Task[None]] = set()

    def is_open(self, workspace: str) -> bool:
        """Return whether the commands of a workspace may use the proxy; never waits."""
        return find_own(workspace) == workspace and bool(self._people & {workspace, "*"})

    async def serve(self, listener: socket.socket) -> "ProxySession":
        """Serve the port of one command; the session then owns the listener."""
        session = ProxySession(self._hosts, self._lookup, self._open)
        await session.listen(listener)
        return session


class ProxySession:
    """The connections of one command, or of the running commands of a conversation."""

    def __init__(
        self, hosts: AllowedHosts, lookup: HostLookup, everyone: set[asyncio.Task[None]]
    ) -> None:
        """`everyone` holds the open connections of all commands."""
        self._hosts = hosts
        self._lookup = lookup
        self._tasks: set[asyncio.Task[None]] = set()
        self._everyone = everyone
        self._refusals: dict[str, int] = {}
        """The sentences, each with the number of its last refusal."""
        self._refused = 0
        self._server: asyncio.Server | None = None

    async def listen(self, listener: socket.socket) -> None:
        """Accept the command's connections; the session owns the listener."""
        try:
            self._server = await asyncio.start_server(self._meet, sock=listener, limit=_HEAD_BYTES)
        except BaseException:
            listener.close()
            raise

    @property
    def refusals(self) -> tuple[str, ...]:
        """Sentences on the refused hosts for the model, without repeats."""
        return tuple(self._refusals)

    def count_refusals(self) -> int:
        """Return the number of refusals so far."""
        return self._refused

    def list_refusals(self, since: int) -> tuple[str, ...]:
        """Return the sentences on refusals after the first ones, without repeats."""
        return tuple(one for one, number in self._refusals.items() if number > since)

    def close(self) -> None:
        """Close the port and every connection; never waits."""
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()

    def _meet(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Handle a connection of the command."""
        task = asyncio.create_task(self._serve(reader, writer))
        for tasks in (self._tasks, self._everyone):
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                try:
                    await self._answer(reader, writer)
                except _Refused as error:
                    await _refuse(reader, writer, error)
        finally:
            writer.close()

    async def _answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Read a request, connect to its destination, and pass on all data."""
        if len(self._tasks) > MOST_CONNECTIONS:
            raise self._note(503, f"The sandbox has more than {MOST_CONNECTIONS} connections")
        if len(self._everyone) > MOST_IN_ALL:
            raise self._note(503, "All sandboxes together have too many connections; try again")
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                target = _read_request(await reader.readuntil(b"\r\n\r\n"))
        except asyncio.LimitOverrunError as error:
            raise _Refused(431, "The head of the request is too long") from error
        except ForbiddenAddress as error:
            raise self._note(400, f"The request can't be sent: {error}") from error
        theirs = await self._connect(target)
        try:
            if target.head:
                theirs[1].write(target.head)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _pass_on((reader, writer), theirs)
        finally:
            theirs[1].close()

    async def _connect(self, target: _Target) -> tuple[StreamReader, StreamWriter]:
        """Connect to an allowed host at a checked address. Raises `_Refused`."""
        host, port = target.host, target.port
        shown = host[:_LONGEST_HOST] + ("" if port in _PORTS else f":{port}")
        if not self._hosts.has(host, port):
            raise self._note(403, f"{shown} is not on the allow list of the sandbox")
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                for address in await self._lookup.find(host, port):
                    with suppress(OSError):
                        return await asyncio.open_connection(address, port)
        except ForbiddenAddress as error:
            raise self._note(403, f"{shown} can't be reached from the sandbox: {error}") from error
        except (OSError, TimeoutError) as error:
            reason = "it does not answer in time"
            if not isinstance(error, TimeoutError):
                reason = "its name does not resolve"
            raise self._note(502, f"{shown} can't be reached: {reason}") from error
        raise self._note(502, f"{shown} can't be reached: it accepts no connection")

    def _note(self, status: int, sentence: str) -> _Refused:
        """Keep a sentence for the model, and return the refusal for the command."""
        self._refused += 1
        if sentence in self._refusals:
            self._refusals[sentence] = self._refused
        elif len(self._refusals) < _MOST_REFUSALS:
            self._refusals[sentence] = self._refused
            _log.info("a command's connection was refused: %s", sentence)
        return _Refused(status, sentence)


def _split(pattern: str) -> tuple[str, tuple[int, ...]]:
    found = re.fullmatch(r"(.+?)(?::(\d+))?", pattern)
    assert found  # noqa: S101 - any text fits
    return found[1], (int(found[2]),) if found[2] else _PORTS


def _is_below(host: str, pattern: str) -> bool:
    return pattern.startswith("*.") and host.endswith(pattern[1:])


def _read_request(head: bytes) -> _Target:
    """Read the head of a request. Raises `_Refused` and `ForbiddenAddress`."""
    line, *fields = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    method, _, rest = line.partition(" ")
    target, _, version = rest.rpartition(" ")
    if not (_METHOD.fullmatch(method) and target and version in ("HTTP/1.0", "HTTP/1.1")):
        raise _Refused(400, "This is not a proxy request")
    parts = check_url(f"https://{target}/" if method == "CONNECT" else target)
    host = (parts.hostname or "").rstrip(".")
    if not re.fullmatch(r"[a-z0-9._:-]+", host):
        raise ForbiddenAddress("its host has characters that no host has")
    if method == "CONNECT":
        return _Target(host, parts.port or 443)
    if parts.scheme != "http":
        raise ForbiddenAddress("a proxy gets https addresses by CONNECT")
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    kept = [field for field in fields if not _is_own(field)]
    lines = [f"{method} {path} HTTP/1.1", f"Host: {parts.netloc}", *kept, "Connection: close"]
    return _Target(host, parts.port or 80, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


def _is_own(field: str) -> bool:
    name = field.partition(":")[0].strip().lower()
    return name in _OWN_FIELDS or name.startswith("proxy-")


async def _refuse(reader: StreamReader, writer: StreamWriter, error: _Refused) -> None:
    """Answer with a sentence, also in the status line, because many programs show only that.

    Then read and drop what the command still sends; otherwise the kernel would drop the answer.
    """
    body = f"{error}.\n".encode()
    head = (
        f"HTTP/1.1 {error.status} {error}\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode("latin-1", "replace") + body)
    writer.write_eof()
    async with asyncio.timeout(_LINGER_SECONDS):
        while await reader.read(_PIECE):
            pass


async def _pass_on(
    one: tuple[StreamReader, StreamWriter], other: tuple[StreamReader, StreamWriter]
) -> None:
    """Pass bytes in both directions until both ends are closed, or no data passes for long."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(_IDLE_SECONDS) as idle:

        def note() -> None:
            idle.reschedule(loop.time() + _IDLE_SECONDS)

        await asyncio.gather(_copy(one[0], other[1], note), _copy(other[0], one[1], note))


async def _copy(reader: StreamReader, writer: StreamWriter, note: Callable[[], None]) -> None:
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
        note()
    with suppress(OSError):
        writer.write_eof()
