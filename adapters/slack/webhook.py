"""HTTP mode: a small server for the requests that Slack makes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp

from adapters.errors import AdapterStopped

PATH = "/slack/events"
"""Where Slack's app page is told to send events, commands and presses."""
_MOST_BYTES = 4 * 1024 * 1024
_BODY_PATIENCE = 5.0
"""Seconds within which a request has to be here: Slack itself waits three for its answer."""
_GRACE = 3.0
"""Seconds that requests under way have when the server ends."""


@asynccontextmanager
async def serving(
    app: AsyncApp, *, host: str, port: int, note_alive: Callable[[], None]
) -> AsyncIterator[int]:
    """Serve, and give the port. Raises `AdapterStopped` when the address can't be used."""

    async def take(request: web.Request) -> web.StreamResponse:
        try:
            async with asyncio.timeout(_BODY_PATIENCE):
                await request.read()
        except TimeoutError:
            raise web.HTTPRequestTimeout from None
        try:  # Bolt looks at the signature only after that
            asked = await to_bolt_request(request)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise web.HTTPBadRequest from None
        response = await app.async_dispatch(asked)
        if response.status == 200:
            note_alive()
        return await to_aiohttp_response(response)

    application = web.Application(client_max_size=_MOST_BYTES)
    application.router.add_post(PATH, take)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_GRACE)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise AdapterStopped(
                f"Slack's HTTP mode can't listen on {host}:{port} ({error.strerror or error}). "
                "Set another http_bind or http_port and start again."
            ) from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
