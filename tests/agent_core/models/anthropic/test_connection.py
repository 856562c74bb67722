"""The connection sends what Anthropic's own SDK sends, and reads errors as it does."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import pytest
from aiohttp import web
from anthropic import AsyncAnthropic

from agent_core.models.anthropic import create
from agent_core.models.anthropic.connection import ApiError, Connection
from agent_core.models.contract import CountsTokens
from agent_core.models.http import find_proxy
from tests.agent_core.models.calls import ask, complete
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.streaming import Fault

HEADERS = ("Authorization", "anthropic-version", "Content-Type", "Accept")
MODEL = "claude-sonnet-5-5"
Sent = list[tuple[str, str, list[str | None]]]


class ListeningEmulator(AnthropicEmulator):
    """An emulator that keeps the head of each request."""

    def __init__(self) -> None:
        super().__init__(key="good-key")
        self.sent: Sent = []

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        head = [request.headers.get(name) for name in HEADERS]
        self.sent.append((request.method, request.raw_path, head))
        return await super().respond(request)


@pytest.fixture
async def listener() -> AsyncIterator[ListeningEmulator]:
    async with ListeningEmulator() as api:
        yield api


@asynccontextmanager
async def serving(handler: Any) -> AsyncIterator[str]:
    server = web.Server(handler)
    runner = web.ServerRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_calls_have_the_address_and_the_headers_of_the_sdk(
    listener: ListeningEmulator,
) -> None:
    async with AsyncAnthropic(api_key="good-key", base_url=listener.url, max_retries=0) as sdk:
        messages: Any = [{"role": "user", "content": "hi"}]
        await sdk.models.retrieve(MODEL)
        with pytest.raises(anthropic.NotFoundError):
            await sdk.models.retrieve("a/b c")
        await sdk.messages.count_tokens(model=MODEL, messages=messages)
        await sdk.messages.create(model=MODEL, max_tokens=9, messages=messages, stream=True)
    wanted, listener.sent = listener.sent, []

    model = create({"api_key": "good-key", "base_url": f"{listener.url}/"})
    assert isinstance(model, CountsTokens)
    await model.check(MODEL)
    with pytest.raises(Exception, match="answered 404"):
        await model.check("a/b c")
    await model.count(ask("hi"))
    await complete(model, ask("hi"))
    await model.close()

    assert len(wanted) == 4
    # A request without a body has no type; ours says what it would be.
    assert [(method, path) for method, path, _ in listener.sent] == [
        (method, path) for method, path, _ in wanted
    ]
    assert [head[:2] for _, _, head in listener.sent] == [head[:2] for _, _, head in wanted]
    assert [head for _, _, head in listener.sent[2:]] == [head for _, _, head in wanted[2:]]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=400, message="no such thing"),
        Fault(status=429, error_code="ramp_limit_exceeded", retry_after="7"),
        Fault(status=529, message="busy"),
    ],
)
async def test_an_error_is_read_as_the_sdk_reads_it(api: AnthropicEmulator, fault: Fault) -> None:
    body: Any = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    api.plan(fault, fault)
    async with AsyncAnthropic(api_key="good-key", base_url=api.url, max_retries=0) as sdk:
        with pytest.raises(anthropic.APIStatusError) as theirs:
            await sdk.messages.create(**body)
    connection = Connection(api.url, "good-key", 5.0)
    with pytest.raises(ApiError) as ours:
        await connection.post("/v1/messages", json.dumps(body).encode())
    await connection.close()
    assert (ours.value.status, str(ours.value), ours.value.kind, ours.value.code or None) == (
        theirs.value.status_code,
        theirs.value.api_message,
        theirs.value.type,
        theirs.value.error_code,
    )
    assert ours.value.retry_after == theirs.value.response.headers.get("retry-after")


async def test_an_error_that_comes_in_pieces_or_breaks_off_keeps_its_status() -> None:
    whole = b'{"error": {"type": "authentication_error", "message": "wrong key"}}'
    is_whole = True

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(status=401, headers={"Content-Length": str(len(whole))})
        await response.prepare(request)
        await response.write(whole[:20])
        await asyncio.sleep(0)
        if is_whole:
            await response.write(whole[20:])
        elif request.transport:
            request.transport.close()
        return response

    async with serving(answer) as address:
        connection = Connection(address, "k", 5.0)
        with pytest.raises(ApiError, match=r"^wrong key$") as found:
            await connection.get("/v1/models/x")
        assert found.value.kind == "authentication_error"
        is_whole = False
        with pytest.raises(ApiError) as found:
            await connection.get("/v1/models/x")
        assert (found.value.status, found.value.kind) == (401, "")
        await connection.close()


async def test_a_name_and_a_password_in_the_address_sign_in_there(
    listener: ListeningEmulator,
) -> None:
    address = listener.url.replace("http://", "http://ada:love%20lace@")
    connection = Connection(address, "good-key", 5.0)
    with pytest.raises(ApiError):
        await connection.get("/v1/models/x")
    await connection.close()
    _, _, head = listener.sent[0]
    assert head[0] == "Basic " + base64.b64encode(b"ada:love lace").decode()


async def test_calls_go_through_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(f"{request.raw_path} {request.headers['Authorization']}")
        return web.json_response({})

    async with serving(answer) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        connection = Connection("http://model.invalid", "k", 5.0)
        async with await connection.get("/v1/models/x"):
            pass
        await connection.close()
    assert asked == ["http://model.invalid/v1/models/x Bearer k"]


def test_a_proxy_is_found_by_scheme_or_for_all_and_not_for_excepted_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert find_proxy("https://api.anthropic.com") is None
    monkeypatch.setenv("ALL_PROXY", "http://everything:3128")
    assert find_proxy("https://api.anthropic.com") == "http://everything:3128"
    monkeypatch.setenv("HTTPS_PROXY", "safe:3128")
    assert find_proxy("https://api.anthropic.com") == "http://safe:3128"
    monkeypatch.setenv("NO_PROXY", "anthropic.com")
    assert find_proxy("https://api.anthropic.com") is None
