"""The application behind the port: its routes, and its answer while the store fails."""

from collections.abc import Sequence
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from agent_core.errors import StoreError
from gateway.app.lifecycle import Gateway
from gateway.interfaces.api.access import Access
from gateway.interfaces.api.errors import answer_http
from gateway.interfaces.api.responses import answer_disconnect, answer_store_error
from gateway.interfaces.health import examine
from gateway.interfaces.http.api_route import ApiRoute
from gateway.interfaces.http.gate import HOOKS, MCP_PATH
from gateway.interfaces.http.mcp_route import McpRoute
from gateway.interfaces.http.metrics import CONTENT_TYPE, Metrics
from gateway.interfaces.http.webhooks import Webhooks


def make_application(
    gateway: Gateway, console: Sequence[BaseRoute], mcp: McpRoute, access: Access
) -> Starlette:
    """Make the application of a gateway. The `Guard` in front of it checks every client.

    `console` are the routes of the console's pages.
    """

    async def report_health(_: Request) -> Response:
        is_well, report = await examine(gateway)
        status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse(report, status)

    metrics = Metrics(gateway)

    async def report_metrics(_: Request) -> Response:
        return Response(await metrics.scrape(), media_type=CONTENT_TYPE)

    routes: list[BaseRoute] = [
        Route("/health", report_health),
        Route("/metrics", report_metrics),
        Route(f"{HOOKS}{{secret}}", Webhooks(gateway).receive, methods=["POST"]),
        Route(MCP_PATH, mcp, methods=["POST"]),
        *console,
        ApiRoute(gateway, access),
    ]
    handlers = {
        StoreError: answer_store_error,
        HTTPException: answer_http,
        ClientDisconnect: answer_disconnect,
    }
    application = Starlette(routes=routes, exception_handlers=handlers)
    application.router.redirect_slashes = False
    return application
