"""MCP servers of others as tools: connections, pinned descriptions, and results.

Only the modules that speak the protocol import the SDK; they are loaded with the first server.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.mcp.calls import CallHooks, RunningCall
    from agent_core.tools.mcp.contract import (
        EVERYONE,
        CallOutcome,
        ForeignTool,
        Listing,
        McpServer,
        McpSession,
        McpUnavailable,
        OpenSession,
        Surroundings,
    )
    from agent_core.tools.mcp.forms import Field, Form, FormAnswer, PageLink, Value
    from agent_core.tools.mcp.hub import McpServers, Notify, ServerReport
    from agent_core.tools.mcp.listing import combine, name_tool
    from agent_core.tools.mcp.loading import load_sessions
    from agent_core.tools.mcp.offers import name_command
    from agent_core.tools.mcp.pins import (
        Judged,
        Pins,
        accept_tools,
        forget_server,
        judge,
        list_digests,
        read_pins,
    )
    from agent_core.tools.mcp.sign_in import SignInFault, SignInUnavailable
    from agent_core.tools.mcp.supervisor import McpConnection, Timings
    from agent_core.tools.mcp.tool import FormAsker
else:
    __getattr__ = export_lazily(__name__, __file__)
