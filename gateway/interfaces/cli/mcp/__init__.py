"""`talaria mcp`: adds, lists, tests and removes MCP servers, and accepts their tools."""
