"""The application behind the port: its routes, and the answer while the store fails."""

from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from agent_core.errors import StoreError
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.access import Access
from gateway.interfaces.api.clients import ERRORS, make_finder
from gateway.interfaces.api.errors import HANDLERS
from gateway.interfaces.api.events import add_events
from gateway.interfaces.api.requests import Requests
from gateway.interfaces.api.resources import add_resources
from gateway.interfaces.api.responses import STORE, refuse
from gateway.interfaces.api.routes import add_api
from gateway.interfaces.health import examine
from gateway.interfaces.http.gate import HOOKS, MCP_PATH
from gateway.interfaces.http.mcp_route import McpRoute
from gateway.interfaces.http.metrics import CONTENT_TYPE, Metrics
from gateway.interfaces.http.webhooks import Webhooks


def make_application(
    gateway: Gateway, console: Sequence[BaseRoute], mcp: McpRoute, access: Access
) -> FastAPI:
    """Make the application of a gateway. The `Guard` in front of it checks who asks.

    `console` are the routes of the console's pages.
    """

    async def report_health(_: Request) -> Response:
        is_well, report = await examine(gateway)
        status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse(report, status)

    metrics = Metrics(gateway)

    async def report_metrics(_: Request) -> Response:
        return Response(await metrics.scrape(), media_type=CONTENT_TYPE)

    requests = Requests(gateway)
    api = APIRouter(prefix="/api", responses=ERRORS)
    add_resources(api, gateway, access, requests)
    add_events(api, gateway, access)
    routes: list[BaseRoute] = [
        Route("/health", report_health),
        Route("/metrics", report_metrics),
        Route(f"{HOOKS}{{secret}}", Webhooks(gateway).receive, methods=["POST"]),
        Route(MCP_PATH, mcp, methods=["POST"]),
        *console,
        *api.routes,  # `include_router` would analyse each of them again
    ]
    application = FastAPI(
        title="Talaria",
        version=version("talaria"),
        routes=routes,
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers={StoreError: answer_store_error, **HANDLERS},
    )
    add_api(application, gateway, make_finder(access), requests)
    application.add_route("/api/openapi.json", lambda _: JSONResponse(application.openapi()))
    return application


async def answer_store_error(_: Request, __: Exception) -> Response:
    """Answer 503 while the database is unavailable."""
    return refuse(HTTPStatus.SERVICE_UNAVAILABLE, STORE)
