"""Usage: what model calls cost by day, what caching saved, and what is left of the limits."""

from gateway.interfaces.pages.usage.views import show, show_everyone

__all__ = ["show", "show_everyone"]
