"""Scopes of tokens. Quick to import, for the command line."""

from typing import Literal

TokenScope = Literal["mcp", "api", "manage"]
"""The scope of a token: the tools of `/mcp`, the API to ask and read, or the whole API."""
