"""`/api/` and `/v1/`: the API for programs with a token."""

import asyncio

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.access import Access
from gateway.interfaces.http.gate import API_PATHS
from gateway.interfaces.http.loading import load_api


class ApiRoute(BaseRoute):
    """Answers all paths of the API.

    The first request imports FastAPI and its routes in a thread. That takes a second, and most
    gateways never get such a request.
    """

    def __init__(self, gateway: Gateway, access: Access) -> None:
        self._gateway = gateway
        self._access = access
        self._application: asyncio.Task[ASGIApp] | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the paths of the API; routes before this one come first."""
        is_api = scope["type"] == "http" and scope["path"].startswith(API_PATHS)
        return (Match.FULL if is_api else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if self._application is None:
            self._application = asyncio.create_task(asyncio.to_thread(self._make))
        application = await asyncio.shield(self._application)
        await application(scope, receive, send)

    def _make(self) -> ASGIApp:
        application: ASGIApp = load_api()(self._gateway, self._access)
        return application
