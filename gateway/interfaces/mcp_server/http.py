"""MCP over HTTP: each request is independent, and belongs to the person of its token."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from agent_core.tools.contract import ToolResult
from agent_core.transcript import ToolSpec
from gateway.app.gateway import Gateway
from gateway.interfaces.mcp_server.server import make_server
from gateway.turns.client_calls import Client, ClientCalls

_STATE = "talaria_client"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnCalls:
    """The tool calls of one client, in this gateway."""

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

    async def serve(self, scope: Scope, receive: Receive, send: Send, client: Client) -> None:
        """Answer one request of a client."""
        calls = _OwnCalls(client=client, calls=self._gateway.client_calls)
        state = {**scope.get("state", {}), _STATE: calls}
        await self._manager.handle_request({**scope, "state": state}, receive, send)


@asynccontextmanager
async def open_endpoint(gateway: Gateway) -> AsyncIterator[McpEndpoint]:
    """Open the endpoint of a gateway; its work ends with the block."""
    server = make_server(lambda context: context.request.scope["state"][_STATE])
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    async with manager.run():
        yield McpEndpoint(gateway, manager)
