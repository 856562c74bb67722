"""A forward proxy on loopback that leads invented hosts to emulators."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

_ABSOLUTE = re.compile(rb"\A([A-Z]{3,7}) (?:http|ws)://[^/ ]+/")


class LoopbackProxy:
    """Serves CONNECT and plain requests. `hosts` are the ports behind host names."""

    def __init__(self, hosts: Mapping[str, int]) -> None:
        self.hosts = hosts
        self.asked: list[str] = []
        """The hosts that were asked for, one for each connection."""
        self.heads: list[str] = []
        """The first lines of each connection."""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._start, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def address(self) -> str:
        """The host and port."""
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def _start(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode())
            method, target = head.decode().split(" ", 2)[:2]
            host = urlsplit(f"//{target}" if method == "CONNECT" else target).hostname or ""
            self.asked.append(host)
            there, back = await asyncio.open_connection("127.0.0.1", self.hosts[host])
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                back.write(_relative(head))
            await asyncio.gather(_pipe(reader, back), _pipe(there, writer))


def _relative(piece: bytes) -> bytes:
    """Write the whole address of a request as a path, as servers expect it."""
    return _ABSOLUTE.sub(rb"\1 /", piece)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65_536):
            writer.write(_relative(piece))
            await writer.drain()
    finally:
        writer.close()
