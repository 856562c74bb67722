"""An MCP server whose inbox holds Mallory's orders, and which can pass mails on."""

import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("mail")


@server.tool()
def inbox() -> str:
    """Read the newest mail."""
    return sys.argv[1]


@server.tool()
def forward(to: str) -> str:
    """Pass the newest mail on."""
    Path("/workspace/forwarded").write_text(to)
    return "forwarded"


if __name__ == "__main__":
    server.run("stdio")
