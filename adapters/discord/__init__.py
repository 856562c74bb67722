"""Discord, through its gateway and REST API."""

from adapters.discord.adapter import create

__all__ = ["create"]
