"""The console: a Unix socket in the home, for `talaria chat` and the console page."""

from adapters.console.adapter import create

__all__ = ["create"]
