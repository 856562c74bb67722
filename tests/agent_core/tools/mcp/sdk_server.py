"""A server written with the official SDK; the first word chooses the transport."""

import os
import sys
import time

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("python")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=ToolAnnotations(destructive_hint=True, read_only_hint=False))
def wipe(name: str) -> str:
    """Delete something."""
    return f"{name} is gone"


@server.tool()
def fail() -> str:
    """Always fail."""
    raise RuntimeError("out of paper")


@server.tool()
def environment(name: str) -> str:
    """Show one variable."""
    return os.environ.get(name, "not set")


@server.tool()
def sleep(seconds: float) -> str:
    """Take a while."""
    time.sleep(seconds)
    return "done"


@server.tool()
async def grow(context: Context) -> str:
    """Add a further tool."""
    server.add_tool(lambda: "new", name="grown", description="A tool that came later.")
    await context.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        server.run("streamable-http", port=int(os.environ["PORT"]))
    else:
        server.run("stdio")
