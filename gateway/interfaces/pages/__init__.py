"""The console's pages, rendered on the server, from Today to Health."""

from gateway.interfaces.pages.rendering import Viewer, render
from gateway.interfaces.pages.routes import Login, make_pages

__all__ = ["Login", "Viewer", "make_pages", "render"]
