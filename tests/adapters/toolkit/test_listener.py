"""A port with few places, each with limited time for a request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from aiohttp import web

from adapters.toolkit.listener import MOST_CONNECTIONS, listen
from tests.patience import PATIENCE


@asynccontextmanager
async def listening(head_seconds: float) -> AsyncIterator[int]:
    """An application behind a bounded port, and its number."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="here")

    application = web.Application()
    application.router.add_get("/", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    assert runner.server
    listener = await listen(runner.server, "127.0.0.1", 0, head_seconds=head_seconds)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        await runner.cleanup()


BEGUN = (b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HT", b"\r\n\r\n", b"\r\n\r\n\r\nGET / HT")


@pytest.mark.parametrize("begun", BEGUN)
async def test_a_request_whose_head_does_not_end_is_closed(begun: bytes) -> None:
    async with listening(head_seconds=0.2) as port, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(begun)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


async def test_a_head_in_pieces_is_answered() -> None:
    async with listening(head_seconds=45) as port, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for piece in (b"GET / HTTP/1.1\r\nHost: x\r", b"\n\r", b"\n"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_idle_connections_make_room_for_one_that_asks() -> None:
    async with listening(head_seconds=45) as port, asyncio.timeout(PATIENCE):
        idle = [
            await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS + 20)
        ]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"here")
        closed = [await _is_closed(reader) for reader, _ in idle[:20]]
        assert all(closed)
        for _, waiting in [*idle, (reader, writer)]:
            waiting.close()


async def _is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True
