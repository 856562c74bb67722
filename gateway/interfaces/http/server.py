"""The server of the port: FastAPI on uvicorn, for the page, health, webhooks, MCP and the API."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.requests import HTTPConnection
from starlette.routing import WebSocketRoute
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from adapters.toolkit.listener import Places
from gateway.app.gateway import Gateway
from gateway.errors import StartError
from gateway.home import CONSOLE_SOCKET, HTTP_TOKEN, describe_unwritable
from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.api.responses import BODY_SECONDS, find_bearer
from gateway.interfaces.http.application import make_application
from gateway.interfaces.http.console import LONGEST_LINE, Bridge, ChatFiles
from gateway.interfaces.http.gate import Gate, Guard, load_token
from gateway.interfaces.http.link_login import LinkLogin
from gateway.interfaces.http.logins import Logins
from gateway.interfaces.http.mcp_route import McpRoute
from gateway.interfaces.http.page_data import PageData
from gateway.interfaces.http.readers import Readers
from gateway.interfaces.pages.routes import Login, has_route, make_pages

_HEARTBEAT = 30.0
_LAST_ANSWERS = 2
"""Seconds that running responses get to finish when the server stops."""
_START = 10.0
_SOCKET = "/console"
"""The path of the chat's WebSocket."""


class _Protocol(H11Protocol):
    """uvicorn's protocol of one connection, which lets go of its request at the end.

    The two hold each other, and would stay in memory until the collector runs.
    """

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.cycle = cast(RequestResponseCycle, None)


class _Server(uvicorn.Server):
    """uvicorn without signal handlers: `talaria run` has its own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `talaria run`."""
        yield


@asynccontextmanager
async def serving_page(
    gateway: Gateway, bound: socket.socket, *, body_seconds: float = BODY_SECONDS
) -> AsyncIterator[str]:
    """Serve on a bound port while the block runs; yield the page's address with the token.

    A request has `body_seconds` for its body. Raises `StartError` if the token can't be stored.
    """
    http, home = gateway.settings.http, gateway.settings.home
    try:
        token = await asyncio.to_thread(load_token, home / HTTP_TOKEN)
    except OSError as error:
        raise StartError(describe_unwritable(home, error)) from error
    logins = Logins(gateway.database, gateway.now)
    gate = Gate(bind=http.bind, port=http.port, token=token, public_url=http.public_url)
    access = ApiAccess(gateway, token)

    async def find_login(request: HTTPConnection) -> Login | None:
        if gate.knows_token(find_bearer(request.headers)):
            return Login(person_id=None)  # a token in a header never expires
        login = await logins.find(request.cookies.get(gate.cookie, ""))
        return Login(person_id=login.person_id) if login else None

    pages = make_pages(gateway, find_login)
    readers = Readers(gateway, find_login)
    page_data = PageData(gateway, readers)
    bridge = Bridge(home / CONSOLE_SOCKET, readers, page_data)
    chat = [*ChatFiles().list_routes(), *page_data.list_routes()]
    console = [
        WebSocketRoute(_SOCKET, bridge.join),
        *chat,
        *pages.list_routes(),
        *LinkLogin(logins, gate).list_routes(),
    ]
    async with McpRoute(gateway, access).opened() as mcp:
        application = make_application(gateway, console, mcp, access, pages.show_error)
        guard = Guard(
            application,
            gate,
            logins,
            access,
            is_of_pages=lambda path: (
                path == _SOCKET or has_route(chat, path) or pages.has_path(path)
            ),
            is_known=partial(has_route, application.routes),
            body_seconds=body_seconds,
        )
        async with _running(guard, bound):
            yield f"http://{_name_host(http.bind)}:{http.port}/?token={token}"


@asynccontextmanager
async def _running(application: ASGIApp, bound: socket.socket) -> AsyncIterator[None]:
    places = Places()

    def accept(**parts: Any) -> asyncio.Protocol:
        return places.accept(_Protocol(**parts))

    config = uvicorn.Config(
        application,
        http=cast(type[asyncio.Protocol], accept),
        ws="wsproto",
        ws_max_size=LONGEST_LINE,
        ws_ping_interval=_HEARTBEAT,
        ws_ping_timeout=_HEARTBEAT,
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,  # the access log would contain the address with the token
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    logging.getLogger("uvicorn.error").addFilter(_CUT_STREAMS)
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        async with asyncio.timeout(_START):
            while not server.started:
                if serving.done():
                    serving.result()
                await asyncio.sleep(0)
        yield
    finally:
        server.should_exit = True
        await serving


class _CutStreams(logging.Filter):
    """Leaves out what uvicorn says of streams, such as those of open pages, that a stop cuts."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is about something else."""
        error = record.exc_info[1] if record.exc_info else None
        is_cut = isinstance(error, asyncio.CancelledError)
        return not is_cut and "graceful shutdown exceeded" not in record.getMessage()


_CUT_STREAMS = _CutStreams()


def _name_host(bind: str) -> str:
    """Return a host name that leads to a bound address on this machine."""
    if bind in ("0.0.0.0", "::"):  # noqa: S104 - compared with, not bound to
        return "localhost"
    return f"[{bind}]" if ":" in bind else bind
