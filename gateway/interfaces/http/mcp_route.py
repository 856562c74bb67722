"""`/mcp`: MCP for programs with a token."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Self

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from gateway.app.gateway import Gateway
from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.api.responses import read_body
from gateway.interfaces.mcp_server.loading import MISSING, Endpoint, is_installed, load_endpoint

_LOCKED = "The token is missing or wrong. `talaria tokens create` makes one."
_MOST_BYTES = 64 * 1024


class McpRoute:
    """Answers at `/mcp`. Imports the SDK at the first request, which takes a second."""

    def __init__(self, gateway: Gateway, access: ApiAccess) -> None:
        self._gateway = gateway
        self._access = access
        self._endpoint: tuple[asyncio.Future[Endpoint], asyncio.Task[None]] | None = None
        """The endpoint, and the task that keeps it open."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Self]:
        """End the SDK's work when the block ends."""
        try:
            yield self
        finally:
            if self._endpoint:
                _, task = self._endpoint
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request: 401 without a valid token, 503 while the store is unavailable."""
        request = Request(scope, receive)
        client = await self._access.find(request.headers, "mcp")
        if client is None:
            await _refuse(HTTPStatus.UNAUTHORIZED, _LOCKED)(scope, receive, send)
            return
        if not is_installed():
            await _refuse(HTTPStatus.NOT_IMPLEMENTED, MISSING)(scope, receive, send)
            return
        body = await read_body(request, _MOST_BYTES)
        endpoint = await self._open()
        await endpoint.serve(scope, _make_receive(body, receive), send, client)

    async def _open(self) -> Endpoint:
        """Return the endpoint; open it at the first request, and again after an error."""
        if self._endpoint is None or self._endpoint[1].done():
            future: asyncio.Future[Endpoint] = asyncio.get_running_loop().create_future()
            self._endpoint = future, asyncio.create_task(self._keep_open(future))
        opened, task = self._endpoint
        await asyncio.wait((opened, task), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task  # raises what ended it
        return opened.result()

    async def _keep_open(self, opened: asyncio.Future[Endpoint]) -> None:
        open_endpoint = await load_endpoint()
        async with open_endpoint(self._gateway) as endpoint:
            opened.set_result(endpoint)
            await asyncio.Event().wait()


def _make_receive(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that was already read, then the messages after it."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _refuse(status: HTTPStatus, sentence: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return JSONResponse({"error": sentence}, status, headers)
