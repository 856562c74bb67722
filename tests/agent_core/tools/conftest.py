"""A small web on loopback, and a listener there that nothing may reach."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.emulators.sources import Sources


@dataclass
class Listener:
    """A port of this machine, and the number of connections that it got."""

    port: int = 0
    count: int = 0


@pytest.fixture
async def web() -> AsyncIterator[Sources]:
    async with Sources() as sources:
        yield sources


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    found = Listener()

    def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.count += 1
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    yield found
    server.close()
