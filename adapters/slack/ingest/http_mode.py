"""HTTP mode: verifies the signature of each request before reading it."""

import asyncio
import hashlib
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from adapters.errors import AdapterStopped
from adapters.slack.ingest.requests import RequestReceiver
from adapters.toolkit.listener import listen

PATH = "/slack/events"
"""The request URL in the app's settings for events, commands and presses."""
_MOST_BYTES = 4 * 1024 * 1024
_BODY_PATIENCE = 5.0
"""Seconds to receive a request; Slack itself waits three seconds for the answer."""
_GRACE = 3.0
"""Seconds for running requests when the server stops."""
_OLDEST = 300.0
"""Seconds for which a signature is valid, to prevent replay (docs: verifying requests from Slack).
"""


class Webhook:
    """The endpoint of one app. `note_alive` is called after each accepted request."""

    def __init__(
        self, receiver: RequestReceiver, *, signing_secret: str, note_alive: Callable[[], None]
    ) -> None:
        self._receiver = receiver
        self._secret = signing_secret.encode()
        self._note_alive = note_alive

    async def answer(self, request: web.Request) -> web.Response:
        """Answer a request: 200 once it is durable, 401 if Slack did not sign it, 503 otherwise."""
        try:
            async with asyncio.timeout(_BODY_PATIENCE):
                raw = await request.read()
        except TimeoutError:
            raise web.HTTPRequestTimeout from None
        except (ConnectionError, web.RequestPayloadError):  # nobody reads the answer
            raise web.HTTPBadRequest from None
        if not self._is_signed(request, raw):
            raise web.HTTPUnauthorized
        body = read_body(raw, request.content_type)
        if isinstance(body, dict) and body.get("type") == "url_verification":
            return web.json_response({"challenge": body.get("challenge")})
        if not await self._receiver.take(body):
            raise web.HTTPServiceUnavailable
        self._note_alive()
        return web.Response()

    def _is_signed(self, request: web.Request, raw: bytes) -> bool:
        """Verify a signature over the raw bytes; the SDK's verifier decodes them first."""
        stamp = request.headers.get("X-Slack-Request-Timestamp", "")
        if not (stamp.isascii() and stamp.isdecimal() and len(stamp) <= len("9999999999")):
            return False
        if abs(time.time() - int(stamp)) > _OLDEST:
            return False
        digest = hmac.new(self._secret, b"v0:%b:%b" % (stamp.encode(), raw), hashlib.sha256)
        given = request.headers.get("X-Slack-Signature", "")
        return hmac.compare_digest(
            f"v0={digest.hexdigest()}".encode(), given.encode("utf-8", "surrogateescape")
        )


async def _end_connection(_: web.Request, response: web.StreamResponse) -> None:
    """Let every answer end its connection, refusals of the server included; see `listen`."""
    response.force_close()


class _Quiet(logging.Filter):
    """Drops the server's reports of requests that are no HTTP: anybody can send those."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged."""
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, HttpProcessingError | web.RequestPayloadError)


_log = logging.getLogger(__name__)
_log.addFilter(_Quiet())


def read_body(raw: bytes, content_type: str) -> Any:
    """Parse a request: events are JSON, commands a form, presses JSON in a form's field.

    Returns the text of any other request, which cannot be parsed.
    """
    text = raw.decode("utf-8", "replace")
    try:
        if content_type == "application/json":
            return json.loads(text)
        form = dict(parse_qsl(text, keep_blank_values=True))
        return json.loads(form["payload"]) if "payload" in form else form
    except (ValueError, RecursionError):
        return text


@asynccontextmanager
async def serving(webhook: Webhook, *, host: str, port: int) -> AsyncIterator[int]:
    """Serve and yield the port. Raises `AdapterStopped` when the address is unusable."""
    application = web.Application(client_max_size=_MOST_BYTES)
    application.router.add_post(PATH, webhook.answer)
    application.on_response_prepare.append(_end_connection)
    runner = web.AppRunner(
        application,
        access_log=None,
        logger=_log,
        auto_decompress=False,  # the signature is over the bytes as they are sent
        lingering_time=0.0,
        shutdown_timeout=_GRACE,
    )
    await runner.setup()
    try:
        assert runner.server is not None  # noqa: S101 - the runner was set up
        try:
            listener = await listen(runner.server, host, port)
        except OSError as error:
            raise AdapterStopped(
                f"Slack's HTTP mode can't listen on {host}:{port} ({error.strerror or error}). "
                "Set another http_bind or http_port and start again."
            ) from error
        try:
            yield int(listener.sockets[0].getsockname()[1])
        finally:
            listener.close()
    finally:
        await runner.cleanup()
