"""MCP over standard streams: passes calls on to the running gateway."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server.stdio import stdio_server

from agent_core.tools.contract import ToolResult
from agent_core.transcript import ToolSpec
from gateway.errors import Declined, StartError
from gateway.interfaces.client import NoGateway, ask_as_client
from gateway.interfaces.mcp_server.server import make_server

_STOPPED = "Talaria does not run. Start it with `talaria run`."
_PATIENCE = 900.0
"""Seconds for a call: it may ask the person, who has ten minutes to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _RemoteCalls:
    """The calls of one person, by folder name, in the gateway of a home."""

    home: Path
    person: str

    async def list_tools(self) -> Sequence[ToolSpec]:
        """See `Calls`."""
        answer = await self._ask("tools", {})
        return [ToolSpec(**spec) for spec in answer["tools"]]

    async def call(self, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        """See `Calls`. If the gateway can't run the call, the result says why."""
        try:
            answer = await self._ask("call", {"tool": tool, "arguments": dict(arguments)})
        except NoGateway:
            return ToolResult(text=_STOPPED, is_error=True)
        except (Declined, StartError) as error:
            return ToolResult(text=str(error), is_error=True)
        return ToolResult(text=answer["text"], is_error=answer["is_error"])

    async def _ask(self, verb: str, asked: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(
            ask_as_client, self.home, verb, {"person": self.person, **asked}, timeout=_PATIENCE
        )


async def serve(home: Path, person: str) -> None:
    """Serve until the standard input ends.

    Raises `NoGateway`, `Declined` for an unknown person, and `StartError`.
    """
    calls = _RemoteCalls(home=home, person=person)
    await calls.list_tools()
    server = make_server(lambda _: calls)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
