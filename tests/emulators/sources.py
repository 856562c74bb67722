"""Sources of digests on loopback: pages, feeds, calendars and GitHub's REST API."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from tests.emulators.server import LoopbackServer


@dataclass
class Served:
    """The response of a path; `waits` is an event to wait for first."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    waits: asyncio.Event | None = None


@dataclass
class Sources(LoopbackServer):
    """A small web. `asked` has the requested paths with their headers."""

    host: str = "127.0.0.1"
    pages: dict[str, Served] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    token: str = "ghp_right"
    notifications: list[dict[str, object]] = field(default_factory=list)

    def serve(self, path: str, body: str | bytes, media_type: str = "text/html") -> str:
        """Add a response; return its address."""
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = Served(body=data, headers={"Content-Type": media_type})
        return self.url + path

    def move(self, path: str, target: str, status: int = 302) -> str:
        """Redirect a path to another address; return its own."""
        self.pages[path] = Served(status=status, headers={"Location": target})
        return self.url + path

    def notify(self, title: str, *, kind: str = "PullRequest", api: str | None = "pulls/5") -> None:
        """One more unread notification."""
        repository = "octo/repo"
        self.notifications.append(
            {
                "id": str(len(self.notifications) + 1),
                "unread": True,
                "reason": "review_requested",
                "updated_at": "2026-11-20T07:00:00Z",
                "subject": {
                    "title": title,
                    "type": kind,
                    "url": f"{self.url}/repos/{repository}/{api}" if api else None,
                },
                "repository": {
                    "full_name": repository,
                    "html_url": f"https://github.example/{repository}",
                },
            }
        )

    def __post_init__(self) -> None:
        super().__init__(host=self.host)

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/notifications", self._list)
        application.router.add_get("/{path:.*}", self._give)
        return application

    async def _give(self, request: web.Request) -> web.Response:
        self.asked.append((request.path_qs, request.headers))
        served = self.pages.get(request.path, Served(status=404))
        if served.waits:
            await served.waits.wait()
        return web.Response(status=served.status, body=served.body, headers=served.headers)

    async def _list(self, request: web.Request) -> web.Response:
        """`GET /notifications` as GitHub documents it: by token, in pages, with a Link header."""
        self.asked.append((request.path_qs, request.headers))
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.json_response({"message": "Bad credentials"}, status=401)
        size, page = int(request.query["per_page"]), int(request.query.get("page", "1"))
        found = self.notifications[(page - 1) * size : page * size]
        headers = {}
        if len(self.notifications) > page * size:
            further = request.url.update_query(page=page + 1)
            headers["Link"] = f'<{further}>; rel="next"'
        return web.Response(
            body=json.dumps(found).encode(), content_type="application/json", headers=headers
        )
