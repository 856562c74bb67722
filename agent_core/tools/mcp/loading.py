"""Load the MCP SDK when the first server is configured; it takes a second and 50 MB."""

import asyncio
from importlib import import_module
from types import ModuleType
from typing import cast

from agent_core.errors import name_installation
from agent_core.tools.mcp.contract import McpUnavailable, OpenSession
from agent_core.tools.mcp.token_files import Revoke

_SESSIONS = "agent_core.tools.mcp.session"
_REVOCATION = "agent_core.tools.mcp.transports.revocation"


async def load_sessions() -> OpenSession:
    """Import what opens sessions. Raises `McpUnavailable` if the SDK is not installed."""
    return cast(OpenSession, (await _load(_SESSIONS)).open_session)


async def load_revoke() -> Revoke:
    """Import what revokes tokens. Raises `McpUnavailable` if the SDK is not installed."""
    return cast(Revoke, (await _load(_REVOCATION)).revoke)


async def _load(module: str) -> ModuleType:
    """Import a module on a thread, so that nothing else waits for it."""
    try:
        return await asyncio.to_thread(import_module, module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise McpUnavailable(
            f"needs a package that is not installed; run {name_installation('mcp')}"
        ) from error
