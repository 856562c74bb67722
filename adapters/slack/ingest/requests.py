"""Takes the requests of both modes: stores those of conversations, then acknowledges all."""

import logging
from typing import Any

from adapters.slack.events import (
    BotIdentity,
    SlackEvent,
    Threads,
    is_in_unknown_thread,
    sort_event,
    unreadable_event,
)
from adapters.slack.ingest.pipeline import EventPipeline, Gaps

_log = logging.getLogger(__name__)


class RequestReceiver:
    """Decides for each request whether Slack may count it as delivered."""

    def __init__(
        self, slack_events: EventPipeline, gaps: Gaps, me: BotIdentity, ours: Threads
    ) -> None:
        self._pipeline = slack_events
        self._gaps = gaps
        self._me = me
        self._ours = ours

    async def take(self, body: Any) -> bool:
        """Return True once the request is durable or concerns nobody, False if it must come again.

        A request that cannot be read is stored too, and parked by the gateway.
        """
        slack_event = self._sort(body)
        may_go = True
        if slack_event is not None and slack_event.kind in ("message", "edit"):
            may_go = await self._gaps.wait_until_whole(slack_event.channel)
            slack_event = self._sort(body)  # whose thread it is may stand in what was missed
        if slack_event is None:
            return True
        is_unknown = is_in_unknown_thread(slack_event) and not self._gaps.is_whole(
            slack_event.channel
        )
        if is_unknown or (slack_event.kind == "message" and not may_go):
            self._gaps.open([slack_event])  # it is read again, behind what is missing
            return False
        return await self._pipeline.take(slack_event)

    def _sort(self, body: Any) -> SlackEvent | None:
        try:
            return sort_event(body, self._me, self._ours)
        except ValueError as error:
            _log.error("a request of Slack can't be read and is parked: %s", error)
            return unreadable_event(body, str(error))
