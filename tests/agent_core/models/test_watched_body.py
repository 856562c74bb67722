"""A body ends in an error once nothing has come for too long."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from agent_core.models.watched_body import watch


class Body(httpx2.AsyncByteStream):
    """Two pieces, and then silence for ever."""

    is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"
        await asyncio.Event().wait()

    async def aclose(self) -> None:
        self.is_closed = True


async def read_all(response: httpx2.Response, read: list[bytes]) -> None:
    async for piece in response.aiter_raw():
        read.append(piece)


@pytest.mark.thorough
async def test_silence_ends_the_body_and_what_came_before_is_read() -> None:
    body = Body()
    response = httpx2.Response(200, stream=body)
    watch(response, 0.0)
    read: list[bytes] = []
    with pytest.raises(httpx2.ReadTimeout):
        await read_all(response, read)
    assert read == [b"one ", b"two"]
    assert body.is_closed
