"""The console's pages, rendered on the server, from Today to Health."""

from gateway.interfaces.pages.rendering import NOBODY, render, render_note
from gateway.interfaces.pages.routes import Login, make_pages

__all__ = ["NOBODY", "Login", "make_pages", "render", "render_note"]
