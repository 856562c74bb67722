"""The console's pages, rendered on the server, from Today to Health."""

from gateway.interfaces.pages.routes import make_pages

__all__ = ["make_pages"]
