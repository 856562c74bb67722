"""Search engines on loopback: SearXNG, Brave and Tavily, as their documents describe them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aiohttp import web

from tests.emulators.server import LoopbackServer

BRAVE_KEY = "BSAright"
TAVILY_KEY = "tvly-right"


@dataclass
class SearchEngines(LoopbackServer):
    """Three engines that find the same pages: titles, addresses and snippets.

    `status` and `body` replace every answer. `queries` are the searches that came.
    """

    pages: Sequence[tuple[str, str, str]] = ()
    has_json: bool = True
    """SearXNG's setting `search.formats`."""
    status: int = 0
    body: bytes = b""
    queries: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/search", self._searxng)
        application.router.add_get("/res/v1/web/search", self._brave)
        application.router.add_post("/search", self._tavily)
        return application

    def _note(self, engine: str, query: Mapping[str, object]) -> web.Response | None:
        self.queries.append((engine, dict(query)))
        if self.status:
            return web.Response(status=self.status, body=self.body)
        return None

    async def _searxng(self, request: web.Request) -> web.Response:
        """https://docs.searxng.org/dev/search_api.html"""
        if replaced := self._note("searxng", request.query):
            return replaced
        if not self.has_json:
            return web.Response(status=403)
        return web.json_response({"query": request.query["q"], "results": self._list("content")})

    async def _brave(self, request: web.Request) -> web.Response:
        """https://api-dashboard.search.brave.com/app/documentation/web-search/query"""
        if replaced := self._note("brave", request.query):
            return replaced
        if request.headers.get("X-Subscription-Token") != BRAVE_KEY:
            error = {"code": "SUBSCRIPTION_TOKEN_INVALID", "status": 422}
            return web.json_response({"type": "ErrorResponse", "error": error}, status=422)
        found = self._list("description")[: int(request.query["count"])]
        parts = {"web": {"type": "search", "results": found}} if found else {}
        return web.json_response({"type": "search", "query": {}, **parts})

    async def _tavily(self, request: web.Request) -> web.Response:
        """https://docs.tavily.com/documentation/api-reference/endpoint/search"""
        wanted = json.loads(await request.read())
        if replaced := self._note("tavily", wanted):
            return replaced
        if request.headers.get("Authorization") != f"Bearer {TAVILY_KEY}":
            detail = {"error": "Unauthorized: missing or invalid API key."}
            return web.json_response({"detail": detail}, status=401)
        found = self._list("content")[: wanted["max_results"]]
        return web.json_response({"query": wanted["query"], "answer": None, "results": found})

    def _list(self, snippet: str) -> list[dict[str, object]]:
        return [{"title": title, "url": url, snippet: text} for title, url, text in self.pages]
