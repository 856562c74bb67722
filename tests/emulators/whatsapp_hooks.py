"""Our side of Meta's webhooks, for tests of the adapter alone: passes each request to it."""

from typing import Any

from aiohttp import web

from adapters.abilities import WebRequest
from tests.emulators.server import LoopbackServer


class HookServer(LoopbackServer):
    """A server that does what the gateway does with `/hooks/whatsapp`."""

    adapter: Any = None

    def application(self) -> web.Application:
        made = web.Application(client_max_size=10_000_000)
        made.router.add_route("*", "/hooks/whatsapp", self._pass_on)
        return made

    @property
    def callback(self) -> str:
        return f"{self.url}/hooks/whatsapp"

    async def _pass_on(self, request: web.Request) -> web.Response:
        answer = await self.adapter.take_request(
            WebRequest(
                method=request.method,
                query=dict(request.query),
                headers={name.lower(): value for name, value in request.headers.items()},
                body=await request.read(),
            )
        )
        return web.Response(status=answer.status, text=answer.text)
