"""`talaria mcp`: adds, lists, tests and removes MCP servers, and accepts their tools."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.mcp.arguments import configure as configure
    from gateway.interfaces.cli.mcp.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
