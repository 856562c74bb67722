"""MCP over HTTP: each request stands alone, and belongs to the person of its token."""

import asyncio
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aiohttp import web
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from agent_core.tools import ToolResult
from agent_core.transcript import ToolSpec
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.mcp_server.server import make_server
from gateway.turns import Client, ClientCalls

_STATE = "talaria_client"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnCalls:
    """The calls of one client, in this gateway."""

    client: Client
    calls: ClientCalls

    async def list_tools(self) -> Sequence[ToolSpec]:
        """See `Calls`."""
        return await self.calls.list_tools(self.client)

    async def call(self, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        """See `Calls`."""
        return await self.calls.call(self.client, tool, arguments)


class McpEndpoint:
    """Answers the requests at `/mcp`."""

    def __init__(self, gateway: Gateway, manager: StreamableHTTPSessionManager) -> None:
        self._gateway = gateway
        self._manager = manager

    async def serve(self, request: web.Request, client: Client) -> web.Response:
        """Answer one request of a client."""
        calls = _OwnCalls(client=client, calls=self._gateway.client_calls)
        answer = _Answer()
        await self._manager.handle_request(
            _make_scope(request, calls), _make_receive(await request.read()), answer.send
        )
        return answer.finish()


@asynccontextmanager
async def open_endpoint(gateway: Gateway) -> AsyncIterator[McpEndpoint]:
    """Make the endpoint of a gateway; its work ends with the block."""
    server = make_server(lambda context: context.request.scope["state"][_STATE])
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    async with manager.run():
        yield McpEndpoint(gateway, manager)


class _Answer:
    """Collects what the SDK's server sends."""

    def __init__(self) -> None:
        self._status = int(HTTPStatus.INTERNAL_SERVER_ERROR)
        self._headers: list[tuple[str, str]] = []
        self._body = bytearray()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Take a message of the ASGI protocol."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in message.get("headers", ())
                if name.lower() != b"content-length"
            ]
        else:
            self._body += message.get("body", b"")

    def finish(self) -> web.Response:
        """Return the whole response."""
        return web.Response(status=self._status, headers=self._headers, body=bytes(self._body))


def _make_scope(request: web.Request, calls: _OwnCalls) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in request.headers.items()
        ],
        "state": {_STATE: calls},
    }


def _make_receive(body: bytes) -> Any:
    """Give the body once; then wait, as a client that stays does."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> MutableMapping[str, Any]:
        if not pending:
            await asyncio.Event().wait()
        return pending.pop()

    return receive
