"""What npm installed for the tests."""

import os
from pathlib import Path

FOLDER = Path(os.environ.get("MCP_TEST_NPM") or Path.home() / ".cache" / "talaria-mcp-npm")
NODE = FOLDER / "node_modules" / "node" / "bin" / "node"
SUITE = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
