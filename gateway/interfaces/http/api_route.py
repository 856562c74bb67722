"""`/api/` and `/v1/`: the API for programs with a token."""

import asyncio

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.app.lifecycle import Gateway
from gateway.interfaces.api.access import Access
from gateway.interfaces.http.gate import API_PATHS
from gateway.interfaces.http.loading import load_api


class ApiRoute(BaseRoute):
    """Answers all paths of the API.

    FastAPI and its routes are imported on a thread, which takes a second: after the start, or for
    a request before its end.
    """

    def __init__(self, gateway: Gateway, access: Access) -> None:
        self._gateway = gateway
        self._access = access
        self._application: asyncio.Task[ASGIApp] | None = None
        gateway.ready.connect(self._prepare)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the paths of the API; routes before this one come first."""
        is_api = scope["type"] == "http" and scope["path"].startswith(API_PATHS)
        return (Match.FULL if is_api else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        application = await asyncio.shield(self._load())
        await application(scope, receive, send)

    def _prepare(self, _: None) -> None:
        self._load()

    def _load(self) -> "asyncio.Task[ASGIApp]":
        """Begin to import the routes, unless that is under way or done."""
        if self._application is None:
            self._application = asyncio.create_task(asyncio.to_thread(self._make))
        return self._application

    def _make(self) -> ASGIApp:
        application: ASGIApp = load_api()(self._gateway, self._access)
        return application
