"""The MCP server: lists the tools that a client may use, and runs its calls."""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Protocol

from mcp import types
from mcp.server.lowlevel import Server

from agent_core.tools.contract import ToolResult
from agent_core.transcript import ToolSpec
from gateway.turns.client_calls import READ_ONLY

INSTRUCTIONS = (
    "Talaria is this person's assistant. Look up what they said with `recall`, what it remembers"
    " with `read_memory`, and what it keeps with `archive`. Changes, and messages to others, are"
    " proposed to the person in their chat."
)
"""The server's instructions for the client's model."""


class Calls(Protocol):
    """The tools that one client may list and call."""

    async def list_tools(self) -> Sequence[ToolSpec]:
        """List the tools. Raises `StoreError` and `StartError`."""

    async def call(self, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        """Run a call. Raises `StoreError` and `StartError`."""


def make_server(find_calls: Callable[[Any], Calls]) -> Server[Any]:
    """Make a server. `find_calls` maps a request's context to the calls of its client."""

    async def list_tools(context: Any, _: object) -> types.ListToolsResult:
        specs = await find_calls(context).list_tools()
        return types.ListToolsResult(tools=[_describe(spec) for spec in specs])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = await find_calls(context).call(params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result.text)], is_error=result.is_error
        )

    return Server(
        "talaria",
        version=version("talaria"),
        title="Talaria",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _describe(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=json.loads(spec.schema),
        annotations=types.ToolAnnotations(
            read_only_hint=spec.name in READ_ONLY, open_world_hint=spec.name == "send_message"
        ),
    )
