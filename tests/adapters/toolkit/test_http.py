"""HTTP reads are limited, and failures are distinguished."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from adapters.errors import AdapterError, Unreachable, Unsure
from adapters.toolkit.http import make_connector, name_mishap, read_at_most, read_wait

DATA = b"x" * 200_000


@pytest.fixture
async def server() -> AsyncIterator[TestServer]:
    """Gives the same bytes whole, and in pieces without saying how many they are."""

    async def whole(request: web.Request) -> web.Response:
        return web.Response(body=DATA)

    async def pieces(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        for start in range(0, len(DATA), 50_000):
            await answer.write(DATA[start : start + 50_000])
        return answer

    app = web.Application()
    app.router.add_get("/whole", whole)
    app.router.add_get("/pieces", pieces)
    async with TestServer(app) as running:
        yield running


@pytest.mark.parametrize("path", ["/whole", "/pieces"])
async def test_a_file_is_read_up_to_the_bound(server: TestServer, path: str) -> None:
    async with aiohttp.ClientSession(connector=make_connector(1)) as session:
        async with session.get(server.make_url(path)) as answer:
            assert await read_at_most(answer, len(DATA)) == DATA
        async with session.get(server.make_url(path)) as answer:
            assert await read_at_most(answer, len(DATA) - 1) is None


@pytest.mark.parametrize(("header", "wait"), [("7", 7), ("", 5), ("soon", 5), ("-1", 5)])
def test_a_pause_is_as_long_as_it_is_asked_for(header: str, wait: float) -> None:
    assert read_wait(header, default=5) == wait


async def test_unsent_requests_are_distinguished_from_possibly_applied_ones() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as refused:
            await session.get("http://127.0.0.1:1/")
    assert type(name_mishap(refused.value, "Pigeon", lost=Unsure)) is Unreachable
    slow = aiohttp.ConnectionTimeoutError("slow")
    assert type(name_mishap(slow, "Pigeon", lost=Unsure)) is Unreachable


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (TimeoutError(), "Pigeon did not answer in time."),
        (aiohttp.ServerTimeoutError(), "Pigeon did not answer in time."),
        (
            aiohttp.ServerDisconnectedError("https://x/token"),
            "The connection to Pigeon broke (ServerDisconnectedError).",
        ),
        (ConnectionResetError("x"), "The connection to Pigeon broke (ConnectionResetError)."),
        (ValueError("no JSON"), "Pigeon's answer can't be read: no JSON."),
    ],
)
@pytest.mark.parametrize("lost", [Unsure, Unreachable])
def test_a_request_without_a_clear_response_is_unknown(
    error: Exception, sentence: str, lost: type[AdapterError]
) -> None:
    found = name_mishap(error, "Pigeon", lost=lost)
    assert (type(found), str(found)) == (lost, sentence)
