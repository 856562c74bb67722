"""The console's pages, rendered on the server, from Today to Health."""

from gateway.interfaces.pages.rendering import NOBODY, render, render_note
from gateway.interfaces.pages.routes import Login, has_route, make_pages

__all__ = ["NOBODY", "Login", "has_route", "make_pages", "render", "render_note"]
