"""Load the MCP SDK when the first server is configured; it takes a second and 50 MB."""

import asyncio
from importlib import import_module
from typing import cast

from agent_core.errors import name_installation
from agent_core.tools.mcp.contract import McpUnavailable, OpenSession

_MODULE = "agent_core.tools.mcp.session"


async def load_sessions() -> OpenSession:
    """Import the module that opens sessions, on a thread, so that nothing else waits for it.

    Raises `McpUnavailable` if the SDK is not installed.
    """
    try:
        module = await asyncio.to_thread(import_module, _MODULE)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise McpUnavailable(
            f"needs a package that is not installed; run {name_installation('mcp')}"
        ) from error
    return cast(OpenSession, module.open_session)
