"""The control socket in the home directory, for the commands of `talaria`.

It is open in every gateway, even if no port is. It uses aiohttp, which is loaded anyway: with
FastAPI, as in `server`, each start would take more time and memory.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from http import HTTPStatus

from aiohttp import web

from agent_core.errors import StoreError
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox, outbox
from gateway.app.gateway import Gateway
from gateway.errors import Declined, Mistaken, StartError
from gateway.home import CONTROL_SOCKET
from gateway.interfaces.contexts import open_context
from gateway.interfaces.health import examine
from gateway.operations.contract import find_person
from gateway.operations.registry import find_operation
from gateway.turns.client_calls import Client

GATEWAY = web.AppKey("gateway", Gateway)
"""The key under which the application stores the gateway that it serves."""
_STOP = web.AppKey("stop", asyncio.Event)
LOCAL = "local"
"""The client name of `talaria mcp serve`."""
_STORE = "The database is not available now. Repeat the request later."
_LARGEST_REQUEST = 64 * 1024
_LAST_ANSWERS = 2.0
"""Seconds that running responses get to finish when the server stops."""
_QUIET_POLL = 0.03


@asynccontextmanager
async def serving_control(
    gateway: Gateway, stop: asyncio.Event | None = None
) -> AsyncIterator[None]:
    """Serve the control socket while the block runs; `stop` is set by who asks to stop.

    Raises `StartError`.

    File permissions are the socket's only protection: whoever can open it owns the home.
    """
    path = gateway.settings.home / CONTROL_SOCKET
    application = _make_application(gateway)
    if stop:
        application[_STOP] = stop
        application.router.add_post("/stop", _stop)
    application.router.add_get("/quiet", _wait_for_quiet)
    application.router.add_post("/control/{operation}", _operate)
    application.router.add_post("/client/tools", _list_tools)
    application.router.add_post("/client/call", _call_tool)
    # No access log: the operations themselves record what matters.
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_LAST_ANSWERS)
    await runner.setup()
    try:
        try:
            path.unlink(missing_ok=True)  # left by a killed process; this one holds the home's lock
            await web.UnixSite(runner, str(path)).start()
            path.chmod(0o600)
        except OSError as error:
            raise StartError(f"The socket {path} can't be created: {error.strerror}.") from error
        yield
    finally:
        path.unlink(missing_ok=True)
        await runner.cleanup()


def _make_application(gateway: Gateway) -> web.Application:
    application = web.Application(client_max_size=_LARGEST_REQUEST)
    application[GATEWAY] = gateway
    application.router.add_get("/health", _report_health)
    return application


async def _report_health(request: web.Request) -> web.Response:
    is_well, report = await examine(request.app[GATEWAY])
    status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
    return web.json_response(report, status=status)


async def _operate(request: web.Request) -> web.Response:
    operation = find_operation(request.match_info["operation"])
    if operation is None:
        return _decline(
            "The running gateway does not know that operation. Restart it after an upgrade."
        )
    gateway = request.app[GATEWAY]
    context = open_context(gateway)
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


async def _stop(request: web.Request) -> web.Response:
    """Let the gateway stop in order, as after Ctrl-C."""
    request.app[_STOP].set()
    return web.json_response({})


async def _wait_for_quiet(request: web.Request) -> web.Response:
    """Answer once a platform is idle: all its events are answered, and the answers delivered.

    A gateway also counts as idle if all its turns wait for people.
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


async def _list_tools(request: web.Request) -> web.Response:
    """List the tools of the person whom `talaria mcp serve` acts for."""
    gateway, asked = request.app[GATEWAY], await request.json()
    try:
        specs = await gateway.client_calls.list_tools(await _find_local(gateway, asked))
    except Mistaken as error:
        return _decline(str(error), HTTPStatus.NOT_FOUND)
    return web.json_response({"tools": [asdict(spec) for spec in specs]})


async def _call_tool(request: web.Request) -> web.Response:
    """Run a call of `talaria mcp serve`."""
    gateway, asked = request.app[GATEWAY], await request.json()
    try:
        client = await _find_local(gateway, asked)
        result = await gateway.client_calls.call(client, asked["tool"], asked["arguments"])
    except Mistaken as error:
        return _decline(str(error), HTTPStatus.NOT_FOUND)
    except StoreError:
        return _decline(_STORE, HTTPStatus.SERVICE_UNAVAILABLE)
    return web.json_response({"text": result.text, "is_error": result.is_error})


async def _find_local(gateway: Gateway, asked: dict[str, object]) -> Client:
    """Return the client that acts for a person on this machine. Raises `Mistaken`."""
    slug = str(asked.get("person", ""))
    person = await gateway.database.read(find_person, slug)
    return Client(person_id=person.id, name=LOCAL)


def _decline(sentence: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
