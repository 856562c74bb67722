"""Takes the requests of both modes: stores those of conversations, and acknowledges each."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.events import (
    BotIdentity,
    SlackEvent,
    Threads,
    is_in_unknown_thread,
    sort_event,
    unreadable_event,
)
from adapters.slack.ingest.catchup import CatchUp
from adapters.slack.ingest.pipeline import EventPipeline

_log = logging.getLogger(__name__)


class RequestReceiver:
    """Decides for each request whether Slack may count it as delivered.

    A Bolt app dispatches the requests. HTTP mode verifies a signature before Bolt sees the request,
    because Bolt parses first, so the app itself verifies none.
    """

    def __init__(
        self,
        slack_events: EventPipeline,
        gaps: CatchUp,
        me: BotIdentity,
        ours: Threads,
        *,
        token: str,
    ) -> None:
        self._app = AsyncApp(name="talaria", token=token, before_authorize=_Store(self._store))
        self._pipeline = slack_events
        self._gaps = gaps
        self._me = me
        self._ours = ours

    async def take(self, body: Any) -> bool:
        """Return True once the request is durable or irrelevant, False if Slack must resend it.

        An unreadable request is stored, too; the gateway sets it aside.
        """
        if not isinstance(body, dict):
            return await self._store(body)
        try:
            request = AsyncBoltRequest(mode="socket_mode", body=body)
        except (ValueError, LookupError, TypeError, AttributeError):
            return await self._store(body)  # Bolt can't read it, either
        response = await self._app.async_dispatch(request)
        return response.status == 200

    async def _store(self, body: Any) -> bool:
        slack_event = self._sort(body)
        may_go = True
        if slack_event is not None and slack_event.kind in ("message", "edit"):
            may_go = await self._gaps.wait_until_whole(slack_event.channel)
            slack_event = self._sort(body)  # a missed message may show whose thread it is
        if slack_event is None:
            return True
        is_unknown = is_in_unknown_thread(slack_event) and not self._gaps.is_whole(
            slack_event.channel
        )
        if is_unknown or (slack_event.kind == "message" and not may_go):
            self._gaps.open([slack_event])  # it is read again, after the missing messages
            return False
        return await self._pipeline.take(slack_event)

    def _sort(self, body: Any) -> SlackEvent | None:
        try:
            return sort_event(body, self._me, self._ours)
        except ValueError as error:
            _log.error("a request of Slack can't be read and is set aside: %s", error)
            return unreadable_event(body, str(error))


class _Store(AsyncMiddleware):
    """The only middleware that a request reaches.

    The middleware answers by itself: Bolt would call auth.test first, and would not answer requests
    without a listener.
    """

    def __init__(self, store: Callable[[Any], Awaitable[bool]]) -> None:
        self._keep = store

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - the SDK's signature
    ) -> BoltResponse:
        return BoltResponse(status=200 if await self._keep(req.body) else 503)
