"""The Bolt app: what Slack sends is stored before Slack is told that it arrived."""

import logging
from collections.abc import Awaitable, Callable

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.arrivals import Arrivals, Gaps
from adapters.slack.events import Arrival, Me, Threads, is_in_unknown_thread, sort_event
from adapters.untrusted import Json

_log = logging.getLogger(__name__)


Inbox = AsyncApp


class _Store(AsyncMiddleware):
    """The one step that every request comes through, behind Bolt's check of signatures.

    It answers itself: Bolt would ask auth.test before it goes on, and leave what no listener
    takes without an answer. So everything is acknowledged, and nothing before it is durable.
    """

    def __init__(self, arrivals: Arrivals, gaps: Gaps, me: Me, ours: Threads) -> None:
        self._arrivals = arrivals
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
        arrival = self._sort(req.body)
        may_go = True
        if arrival is not None and arrival.kind in ("message", "edit"):
            may_go = await self._gaps.wait_until_whole(arrival.channel)
            arrival = self._sort(req.body)  # whose thread it is may stand in what was missed
        if arrival is None:
            return BoltResponse(status=200)
        is_unknown = is_in_unknown_thread(arrival) and not self._gaps.is_whole(arrival.channel)
        if is_unknown or (arrival.kind == "message" and not may_go):
            self._gaps.open([arrival])  # it is read again, behind what is missing
            return BoltResponse(status=503)
        is_kept = await self._arrivals.take(arrival)
        return BoltResponse(status=200 if is_kept else 503)

    def _sort(self, body: Json) -> Arrival | None:
        try:
            return sort_event(body, self._me, self._ours)
        except ValueError as error:
            _log.warning("slack sent something that can't be read: %s", error)
            return None


def build_inbox(
    *,
    token: str,
    signing_secret: str,
    arrivals: Arrivals,
    gaps: Gaps,
    me: Me,
    ours: Threads,
) -> Inbox:
    """The app that takes requests of both modes. It makes no calls with the token."""
    return AsyncApp(
        name="talaria",
        token=token,
        signing_secret=signing_secret or None,
        before_authorize=_Store(arrivals, gaps, me, ours),
    )
