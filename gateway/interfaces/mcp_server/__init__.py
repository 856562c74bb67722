"""Talaria as an MCP server: over HTTP with a token, and over standard streams."""
