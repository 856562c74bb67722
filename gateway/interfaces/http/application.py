"""The application behind the port: its routes, and how errors are answered."""

from http import HTTPStatus

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from agent_core.errors import StoreError
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.http.console import Bridge, Pages
from gateway.interfaces.http.gate import HOOKS, MCP_PATH
from gateway.interfaces.http.health import examine
from gateway.interfaces.http.mcp_route import McpRoute
from gateway.interfaces.http.page_data import PageData
from gateway.interfaces.http.responses import STORE, TooLarge, refuse
from gateway.interfaces.http.webhooks import Webhooks

_TOO_LARGE = "The request is too large."


def make_application(
    gateway: Gateway, page_data: PageData, bridge: Bridge, mcp: McpRoute
) -> FastAPI:
    """Make the application of a gateway. The `Guard` in front of it checks who asks."""

    async def report_health(_: Request) -> Response:
        is_well, report = await examine(gateway)
        status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse(report, status)

    routes: list[BaseRoute] = [
        Route("/health", report_health),
        Route(f"{HOOKS}{{secret}}", Webhooks(gateway).receive, methods=["POST"]),
        Route(MCP_PATH, mcp, methods=["POST"]),
        WebSocketRoute("/console", bridge.join),
        *Pages().list_routes(),
        *page_data.list_routes(),
    ]
    return FastAPI(
        routes=routes,
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers={StoreError: _answer_store_error, TooLarge: _answer_too_large},
    )


async def _answer_store_error(_: Request, __: Exception) -> Response:
    return refuse(HTTPStatus.SERVICE_UNAVAILABLE, STORE)


async def _answer_too_large(_: Request, __: Exception) -> Response:
    return refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
