"""Usage: the daily cost of model calls, savings by caching, and the rest of the limits."""

from gateway.interfaces.pages.usage.views import show, show_everyone

__all__ = ["show", "show_everyone"]
