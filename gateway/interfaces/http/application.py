"""The application behind the port: its routes, and its answer while the store fails."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.abilities import TakesRequests, WebRequest
from agent_core.errors import StoreError
from gateway.app.gateway import Gateway
from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.api.errors import answer_http
from gateway.interfaces.api.responses import (
    answer_disconnect,
    answer_store_error,
    read_body,
    refuse,
)
from gateway.interfaces.health import examine
from gateway.interfaces.http.gate import API_PATHS, HOOKS, MCP_PATH, is_for_people
from gateway.interfaces.http.loading import load_api
from gateway.interfaces.http.mcp_route import McpRoute
from gateway.interfaces.http.metrics import CONTENT_TYPE, Metrics

ShowError = Callable[[Request, HTTPStatus], Awaitable[Response]]
"""Makes the page about a request that has no answer."""
_DELIVERY = ("Idempotency-Key", "X-GitHub-Delivery", "webhook-id")
"""Headers that identify a delivery, so that a repeated delivery starts its job only once."""
_MINUTE = 60_000
_FAILED = "Something went wrong here. The log of Talaria says what."
_CROWDED = "The job was started too often this hour."
_RETRY_AFTER = "3600"
_MOST_KEY = 200
_MOST_BYTES = 64 * 1024


def make_application(
    gateway: Gateway,
    console: Sequence[BaseRoute],
    mcp: McpRoute,
    access: ApiAccess,
    show_error: ShowError,
) -> Starlette:
    """Make the application of a gateway. The `Guard` in front of it checks every client.

    `console` are the routes of the console's pages; `show_error` makes the page about a fault.
    """

    async def answer(request: Request, error: Exception) -> Response:
        """Answer a fault: people get a page, programs a sentence."""
        tell: Callable[[Request, Exception], Awaitable[Response]]
        if isinstance(error, HTTPException):
            status, tell = HTTPStatus(error.status_code), answer_http
        elif isinstance(error, StoreError):
            status, tell = HTTPStatus.SERVICE_UNAVAILABLE, answer_store_error
        else:
            status, tell = HTTPStatus.INTERNAL_SERVER_ERROR, _answer_failure
        if is_for_people(request) and not request.url.path.startswith(API_PATHS):
            return await show_error(request, status)
        return await tell(request, error)

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
        Route(f"{HOOKS}{{secret}}", Webhooks(gateway).receive, methods=["GET", "POST"]),
        Route(MCP_PATH, mcp, methods=["POST"]),
        *console,
        ApiRoute(gateway, access),
    ]
    handlers = {
        StoreError: answer,
        HTTPException: answer,
        ClientDisconnect: answer_disconnect,
        Exception: answer,
    }
    application = Starlette(routes=routes, exception_handlers=handlers)
    application.router.redirect_slashes = False
    return application


async def _answer_failure(_: Request, __: Exception) -> Response:
    return refuse(HTTPStatus.INTERNAL_SERVER_ERROR, _FAILED)


class ApiRoute(BaseRoute):
    """Answers all paths of the API.

    FastAPI and its routes are imported on a thread, which takes a second: after the start, or for
    a request before its end.
    """

    def __init__(self, gateway: Gateway, access: ApiAccess) -> None:
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


async def _pass_on(request: Request, adapter: TakesRequests) -> Response:
    """Let a platform answer a request of its servers; it checks who sent it."""
    body = await read_body(request, adapter.most_request_bytes)
    answer = await adapter.take_request(
        WebRequest(
            method=request.method,
            query=dict(request.query_params),
            headers={name.lower(): value for name, value in request.headers.items()},
            body=body,
        )
    )
    return PlainTextResponse(answer.text, answer.status)


class Webhooks:
    """Answers below `/hooks/`: platforms that call us, by name, and jobs, by a secret."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def receive(self, request: Request) -> Response:
        """Start the job of an address, and answer 202 once the start is on disk.

        A platform's own path has its own answers.

        404 for an unknown address, 413 for more than 64 KB, 429 if the job was started too often in
        an hour, and 503 while the store is unavailable.
        """
        gateway = self._gateway
        secret: str = request.path_params["secret"]
        adapter = gateway.adapters.get(secret)
        if adapter is not None and isinstance(adapter, TakesRequests):
            return await _pass_on(request, adapter)
        if request.method != "POST":
            return refuse(HTTPStatus.METHOD_NOT_ALLOWED, "Jobs are started with POST.")
        data = await read_body(request, _MOST_BYTES)
        named = next((request.headers[name] for name in _DELIVERY if name in request.headers), "")
        key = named[:_MOST_KEY] or _name_body(data, gateway.now())
        body = data.decode(errors="replace").replace("\0", "")
        try:
            outcome = await gateway.event_jobs.call(secret, key, body)
        except StoreError:
            return refuse(HTTPStatus.SERVICE_UNAVAILABLE, "The request was not stored. Repeat it.")
        if outcome == "unknown":
            return refuse(HTTPStatus.NOT_FOUND, "There is no such address.")
        if outcome == "crowded":
            answer = refuse(HTTPStatus.TOO_MANY_REQUESTS, _CROWDED)
            answer.headers["Retry-After"] = _RETRY_AFTER
            return answer
        return refuse(HTTPStatus.ACCEPTED, "The job starts.")


def _name_body(data: bytes, now: int) -> str:
    """Identify a delivery without an id: equal bodies within the same minute are one delivery."""
    return hashlib.sha256(b"%d:%b" % (now // _MINUTE, data)).hexdigest()
