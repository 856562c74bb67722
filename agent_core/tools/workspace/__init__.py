"""Tools that act in a person's workspace: `terminal`, files and search."""

from agent_core.tools.workspace.catalog import WORKSPACE_TOOLS, make_workspace_tools

__all__ = ["WORKSPACE_TOOLS", "make_workspace_tools"]
