"""The two servers: the console page on a port, and the control socket in the home directory."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import resources
from pathlib import Path

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.typedefs import Handler, Middleware

from adapters.toolkit import listen
from agent_core.errors import StoreError
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox, outbox
from gateway.bootstrap.factories import make_prompt_cache
from gateway.bootstrap.lifecycle import Gateway
from gateway.config import CONSOLE_SOCKET, CONTROL_SOCKET, HTTP_TOKEN, describe_unwritable
from gateway.errors import Declined, Mistaken, StartError
from gateway.interfaces.http.gate import HOOKS, MCP_PATH, Gate, load_token, make_guard
from gateway.interfaces.http.health import examine
from gateway.interfaces.http.logins import Logins
from gateway.interfaces.http.mcp_route import McpRoute, call_local, list_local
from gateway.interfaces.http.page_data import PageData
from gateway.interfaces.http.webhooks import GATEWAY, receive
from gateway.interfaces.operations.contract import OperationContext, scheduling_context
from gateway.interfaces.operations.registry import OPERATIONS

LONGEST_LINE = 8_000_000
"""Bytes of one line, as on the console's socket: a message of a million characters."""
_HEARTBEAT = 30.0
_CONNECT = 5.0
_WATCH = 1.0
"""Seconds between two looks at the login and the conversation of an open page."""
_NEWS = json.dumps({"type": "news"})


class Bridge:
    """Connects each browser to the console's socket, and closes all of them at the end."""

    def __init__(self, socket: Path, cookie: str, logins: Logins, page_data: PageData) -> None:
        self._socket = socket
        self._cookie = cookie
        self._logins = logins
        self._page_data = page_data
        self._open: set[web.WebSocketResponse] = set()

    async def join(self, request: web.Request) -> web.StreamResponse:
        """Pass lines both ways until either side leaves or the login ends."""
        page = web.WebSocketResponse(heartbeat=_HEARTBEAT, max_msg_size=LONGEST_LINE)
        await page.prepare(request)
        self._open.add(page)
        try:
            async with asyncio.timeout(_CONNECT):
                reader, writer = await asyncio.open_unix_connection(
                    str(self._socket), limit=LONGEST_LINE
                )
        except (OSError, TimeoutError):
            self._open.discard(page)
            await page.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"the console is not on")
            return page
        try:
            watch = self._watch(page, request.cookies.get(self._cookie))
            await _pass_until_over(watch, _pass_down(page, reader), _pass_up(page, writer))
        finally:
            self._open.discard(page)
            writer.close()
            await page.close()
        return page

    async def _watch(self, page: web.WebSocketResponse, secret: str | None) -> None:
        """Tell a page of turns on any platform; return when its login has ended.

        The token of a header never ends. Any process may end a login, so nothing can signal it.
        """
        seen = await self._page_data.find_news()
        while secret is None or await self._logins.is_open(secret):
            news = await self._page_data.find_news()
            if news != seen:
                seen = news
                await page.send_str(_NEWS)
            await asyncio.sleep(_WATCH)

    async def close(self, _: web.Application) -> None:
        """Tell every page that the gateway stops; pages reconnect on their own."""
        for page in list(self._open):
            await page.close(code=WSCloseCode.GOING_AWAY, message=b"the gateway is stopping")


async def _pass_until_over(*work: Coroutine[object, object, None]) -> None:
    """Run until one of these ends, and cancel the others."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_down(page: web.WebSocketResponse, reader: asyncio.StreamReader) -> None:
    """Pass lines to the page, until the gateway leaves or sends a line that is too long."""
    try:
        while line := await reader.readline():
            await page.send_str(line.decode("utf-8", "replace").rstrip("\n"))
    except (OSError, ValueError):
        return  # the socket broke: the page is closed and reconnects


async def _pass_up(page: web.WebSocketResponse, writer: asyncio.StreamWriter) -> None:
    """Pass lines to the gateway, until the page leaves."""
    async for message in page:
        if message.type is not WSMsgType.TEXT:
            continue
        # A line break in a frame would split it into two lines.
        line = " ".join(message.data.splitlines())
        try:
            writer.write(line.encode("utf-8", "replace") + b"\n")
            await writer.drain()
        except OSError:
            return


_FILES: Mapping[str, tuple[str, str]] = {
    "/": ("console.html", "text/html"),
    "/console.css": ("console.css", "text/css"),
    "/console.js": ("console.js", "text/javascript"),
    "/choices.js": ("choices.js", "text/javascript"),
    "/commands.js": ("commands.js", "text/javascript"),
    "/files.js": ("files.js", "text/javascript"),
    "/markdown.js": ("markdown.js", "text/javascript"),
    "/messages.js": ("messages.js", "text/javascript"),
    "/texts.js": ("texts.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


class Pages:
    """The static files, read once."""

    def __init__(self) -> None:
        folder = resources.files("gateway.interfaces.http") / "static"
        self._bodies = {
            path: (folder.joinpath(name).read_bytes(), kind)
            for path, (name, kind) in _FILES.items()
        }

    def add_to(self, application: web.Application) -> None:
        """Serve each file at its path."""
        for path in self._bodies:
            application.router.add_get(path, self._show)

    async def _show(self, request: web.Request) -> web.Response:
        body, kind = self._bodies[request.path]
        headers = {
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self';"
                " img-src 'self' blob:;"
                # Safari before 15.4 does not count its own host's WebSocket as 'self'. The gate
                # has let only hosts through that are this machine.
                f" connect-src 'self' ws://{request.headers['Host']};"
                " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
        }
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)


async def harden(_: web.Request, response: web.StreamResponse) -> None:
    """Add security headers to every response: no type guessing, no referrer, no caching."""
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"


@web.middleware
async def close_afterwards(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Serve one request per connection, so that `listen` sees each of them begin."""
    try:
        response = await handler(request)
    except web.HTTPException as error:
        error.force_close()
        raise
    response.force_close()
    return response


_LARGEST_REQUEST = 64 * 1024
_LAST_ANSWERS = 2.0
"""Seconds that running responses have when the server stops."""
_QUIET_POLL = 0.03


@asynccontextmanager
async def serving_control(gateway: Gateway) -> AsyncIterator[None]:
    """Serve the control socket while the block runs. Raises `StartError`.

    File permissions are the socket's only protection: whoever can open it owns the home.
    """
    path = gateway.settings.home / CONTROL_SOCKET
    application = _make_application(gateway)
    application.router.add_get("/quiet", _wait_for_quiet)
    application.router.add_post("/control/{operation}", _operate)
    application.router.add_post("/client/tools", list_local)
    application.router.add_post("/client/call", call_local)
    async with _running(application) as runner:
        try:
            path.unlink(missing_ok=True)  # left by a killed process; this one holds the home's lock
            await web.UnixSite(runner, str(path)).start()
            path.chmod(0o600)
        except OSError as error:
            raise StartError(f"The socket {path} can't be created: {error.strerror}.") from error
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


@asynccontextmanager
async def serving_page(gateway: Gateway) -> AsyncIterator[str]:
    """Serve the console page while the block runs; yield its address with the token.

    Raises `StartError` if the port is taken or the token can't be stored.
    """
    http, home = gateway.settings.http, gateway.settings.home
    try:
        token = await asyncio.to_thread(load_token, home / HTTP_TOKEN)
    except OSError as error:
        raise StartError(describe_unwritable(home, error)) from error
    logins = Logins(gateway.database, gateway.now)
    gate = Gate(bind=http.bind, port=http.port, token=token)
    page_data = PageData(gateway)
    bridge = Bridge(home / CONSOLE_SOCKET, gate.cookie, logins, page_data)
    application = _make_application(gateway, close_afterwards, make_guard(gate, logins))
    application.router.add_get("/console", bridge.join)
    application.router.add_post(f"{HOOKS}{{secret}}", receive)
    mcp = McpRoute(gateway)
    application.router.add_post(MCP_PATH, mcp.answer)
    application.cleanup_ctx.append(mcp.run)
    application.on_shutdown.append(bridge.close)
    Pages().add_to(application)
    page_data.add_to(application)
    async with _running(application) as runner:
        assert runner.server is not None  # noqa: S101 - the runner was set up
        try:
            listener = await listen(runner.server, http.bind, http.port)
        except OSError as error:
            raise StartError(
                f"The console page can't listen on {http.bind} port {http.port}:"
                f" {_name_fault(error)}. Set TALARIA_HTTP__PORT to a free one."
            ) from error
        try:
            yield f"http://{_name_host(http.bind)}:{http.port}/?token={token}"
        finally:
            listener.close()


def _make_application(gateway: Gateway, *middlewares: Middleware) -> web.Application:
    application = web.Application(middlewares=middlewares, client_max_size=_LARGEST_REQUEST)
    application[GATEWAY] = gateway
    application.on_response_prepare.append(harden)
    application.router.add_get("/health", _report_health)
    return application


@asynccontextmanager
async def _running(application: web.Application) -> AsyncIterator[web.AppRunner]:
    # No access log: its lines would contain the address with the token.
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_LAST_ANSWERS)
    await runner.setup()
    try:
        yield runner
    finally:
        await runner.cleanup()


def _name_fault(error: OSError) -> str:
    """Return the system's own message, without the text that event loops add."""
    return os.strerror(error.errno) if error.errno else str(error)


def _name_host(bind: str) -> str:
    """Return a host name under which this machine reaches a bound address."""
    if bind in ("0.0.0.0", "::"):  # noqa: S104 - compared with, not bound to
        return "localhost"
    return f"[{bind}]" if ":" in bind else bind


async def _report_health(request: web.Request) -> web.Response:
    is_well, report = await examine(request.app[GATEWAY])
    status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
    return web.json_response(report, status=status)


async def _operate(request: web.Request) -> web.Response:
    operation = OPERATIONS.get(request.match_info["operation"])
    if operation is None:
        return _decline(
            "The running gateway does not know that operation. Restart it after an upgrade."
        )
    gateway = request.app[GATEWAY]
    context = OperationContext(
        database=gateway.database,
        now=gateway.now,
        enqueue=gateway.dispatcher.enqueue,
        forget_known=gateway.router.forget_known,
        exports=gateway.exports,
        erasing=gateway.data_requests.erasing,
        memory=gateway.memory.store,
        skills=gateway.scheduling.skills,
        prompt_cache=make_prompt_cache(gateway.settings, gateway.database, gateway.memory),
        scheduling=scheduling_context(
            gateway.settings,
            calendars=gateway.scheduling.calendars,
            wake=gateway.scheduling.wake,
            load_platforms=lambda: gateway.platforms.adapters,
        ),
    )
    try:
        asked = await request.json()
        if not isinstance(asked, dict):
            return _decline("The request must be a JSON object.")
        return web.json_response(await operation(context, asked))
    except json.JSONDecodeError:
        return _decline("The request is not JSON.")
    except Mistaken as error:
        return _decline(str(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    except (Declined, StoreError) as error:
        return _decline(str(error))


async def _wait_for_quiet(request: web.Request) -> web.Response:
    """Answer once a platform is idle: every event is answered and delivered.

    A gateway whose turns all wait for people counts as idle.
    """
    gateway = request.app[GATEWAY]
    platform = request.query.get("platform", "")

    def is_at_work(connection: Connection) -> bool:
        return inbox.has_open(connection, platform=platform) or outbox.has_open(
            connection, platform=platform
        )

    while await gateway.database.read(is_at_work):
        is_asking = len(gateway.lanes) > 0 and gateway.waits_for_people()
        if is_asking or request.transport is None or request.transport.is_closing():
            break
        await asyncio.sleep(_QUIET_POLL)
    return web.Response(status=HTTPStatus.NO_CONTENT)


def _decline(sentence: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
