"""The console page and its companions, out of the package."""

from collections.abc import Mapping
from importlib import resources

from aiohttp import web

_FILES: Mapping[str, tuple[str, str]] = {
    "/": ("console.html", "text/html"),
    "/console.css": ("console.css", "text/css"),
    "/console.js": ("console.js", "text/javascript"),
    "/choices.js": ("choices.js", "text/javascript"),
    "/markdown.js": ("markdown.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


class Pages:
    """The files, read once."""

    def __init__(self) -> None:
        folder = resources.files("gateway.http") / "static"
        self._bodies = {
            path: (folder.joinpath(name).read_bytes(), kind)
            for path, (name, kind) in _FILES.items()
        }

    def add_to(self, application: web.Application) -> None:
        """Serve each at its path."""
        for path in self._bodies:
            application.router.add_get(path, self._show)

    async def _show(self, request: web.Request) -> web.Response:
        body, kind = self._bodies[request.path]
        headers = {
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
                # Safari before 15.4 does not count its own host's WebSocket as 'self'. The gate
                # has let only hosts through that are this machine.
                f" connect-src 'self' ws://{request.headers['Host']};"
                " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
        }
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)


async def harden(_: web.Request, response: web.StreamResponse) -> None:
    """Headers of every answer: no guessing of types, no referrer, no copy in a cache."""
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
