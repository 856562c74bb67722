"""A tool of an MCP server, as the model and the policy see it."""

import json
from collections.abc import Mapping, Sequence

from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.mcp.contract import ForeignTool, McpUnavailable
from agent_core.tools.mcp.listing import name_tool
from agent_core.tools.mcp.supervisor import McpConnection
from agent_core.tools.policy import Action
from agent_core.tools.results import bound, fail
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import ToolSpec, make_source

_PATIENCE = 10.0
"""Seconds beyond the limit of a call, within which the connection itself gives up."""
_MOST_SHOWN = 2000


class McpTool:
    """A tool of a server. Not even its description is trusted."""

    def __init__(self, connection: McpConnection, tool: ForeignTool) -> None:
        server = connection.server
        self._connection = connection
        self._tool = tool
        self._mask = SecretMask(server.secrets)
        self.declaration = Declaration(time_limit=server.seconds + _PATIENCE, is_untrusted=True)
        self.spec = ToolSpec(
            name=name_tool(server.name, tool.name),
            description=tool.description or f"A tool of the server {server.name}.",
            schema=tool.schema,
        )

    @property
    def effect(self) -> Effect:
        """A server may claim that a repeat does no harm; nobody has to believe it."""
        return "unsafe"

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """A run on the server; a deletion, too, if the server itself calls the tool destructive."""
        server = self._connection.server
        shown = json.dumps(dict(arguments), ensure_ascii=False)[:_MOST_SHOWN]
        target, place = f"{self._tool.name} {shown}", f"mcp:{server.name}"
        run = Action(kind="run", target=target, place=place, is_outward=not server.is_local)
        if not self._tool.is_destructive:
            return (run,)
        return (
            run,
            Action(kind="delete", target=target, place=place, is_outward=not server.is_local),
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Call the tool on its server; the words of the result are the server's."""
        server = self._connection.server
        try:
            outcome = await self._connection.call(self._tool.name, arguments)
        except McpUnavailable as error:
            return fail(
                f"The server {server.name} {error}. It is not known whether the call took effect."
            )
        return ToolResult(
            text=bound(self._mask.hide(outcome.text)),
            is_error=outcome.is_error,
            sources=(make_source("mcp", server.name),),
        )
