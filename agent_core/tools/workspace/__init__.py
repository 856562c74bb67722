"""Tools that act in a person's workspace: `terminal`, files and search."""

from agent_core.tools.workspace.catalog import WORKSPACE_TOOLS, make_workspace_tools
from agent_core.tools.workspace.workspaces import find_slug

__all__ = ["WORKSPACE_TOOLS", "find_slug", "make_workspace_tools"]
