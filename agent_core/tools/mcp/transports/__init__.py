"""Carry the messages of MCP: over HTTP, and over the standard streams of programs."""
