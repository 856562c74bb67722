"""HTTP mode, and the Bolt app that stores every request before acknowledging it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.errors import AdapterStopped
from adapters.slack.events import BotIdentity, SlackEvent, Threads, is_in_unknown_thread, sort_event
from adapters.slack.ingest.pipeline import EventPipeline, Gaps
from adapters.toolkit import Json

_log = logging.getLogger(__name__)


Inbox = AsyncApp


class _Store(AsyncMiddleware):
    """The only middleware behind Bolt's signature check.

    It answers by itself: Bolt would call auth.test first, and leave requests without a listener
    unanswered. Everything is acknowledged, and nothing before it is durable.
    """

    def __init__(
        self, slack_events: EventPipeline, gaps: Gaps, me: BotIdentity, ours: Threads
    ) -> None:
        self._pipeline = slack_events
        self._gaps = gaps
        self._me = me
        self._ours = ours

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - the SDK's signature
    ) -> BoltResponse:
        if req.body.get("type") == "url_verification":
            return await next()
        slack_event = self._sort(req.body)
        may_go = True
        if slack_event is not None and slack_event.kind in ("message", "edit"):
            may_go = await self._gaps.wait_until_whole(slack_event.channel)
            slack_event = self._sort(req.body)  # whose thread it is may stand in what was missed
        if slack_event is None:
            return BoltResponse(status=200)
        is_unknown = is_in_unknown_thread(slack_event) and not self._gaps.is_whole(
            slack_event.channel
        )
        if is_unknown or (slack_event.kind == "message" and not may_go):
            self._gaps.open([slack_event])  # it is read again, behind what is missing
            return BoltResponse(status=503)
        is_kept = await self._pipeline.take(slack_event)
        return BoltResponse(status=200 if is_kept else 503)

    def _sort(self, body: Json) -> SlackEvent | None:
        try:
            return sort_event(body, self._me, self._ours)
        except ValueError as error:
            _log.warning("slack sent something that can't be read: %s", error)
            return None


def build_inbox(
    *,
    token: str,
    signing_secret: str,
    slack_events: EventPipeline,
    gaps: Gaps,
    me: BotIdentity,
    ours: Threads,
) -> Inbox:
    """Build the app that takes requests of both modes. It makes no calls with the token."""
    return AsyncApp(
        name="talaria",
        token=token,
        signing_secret=signing_secret or None,
        before_authorize=_Store(slack_events, gaps, me, ours),
    )


PATH = "/slack/events"
"""The request URL in the app's settings for events, commands and presses."""
_MOST_BYTES = 4 * 1024 * 1024
_BODY_PATIENCE = 5.0
"""Seconds to receive a request; Slack itself waits three for the answer."""
_GRACE = 3.0
"""Seconds for running requests when the server stops."""


@asynccontextmanager
async def serving(
    app: AsyncApp, *, host: str, port: int, note_alive: Callable[[], None]
) -> AsyncIterator[int]:
    """Serve and yield the port. Raises `AdapterStopped` when the address is unusable."""

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
