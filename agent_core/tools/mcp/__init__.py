"""Tools of foreign MCP servers: connections, pinned descriptions, and results.

Only the modules that speak the protocol import the SDK. They are loaded when the first server is
configured.
"""
