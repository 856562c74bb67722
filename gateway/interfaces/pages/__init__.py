"""The console's pages, rendered on the server: Today, Turns, Memory, Jobs, Usage and Health."""

from gateway.interfaces.pages.routes import make_pages

__all__ = ["make_pages"]
