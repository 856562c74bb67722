"""Shows that the bot is working, as the app's kind allows: agent, assistant or neither."""

import logging
from typing import Literal

from adapters.errors import AdapterError, Rejected
from adapters.slack.api import Api, Spot
from adapters.slack.errors import Unsupported
from adapters.toolkit.caches import Recent

_log = logging.getLogger(__name__)

Status = Literal["active", "processing", "suspended"]

_THINKING = "is thinking…"


class Sessions:
    """The indicators in threads. The app's kind is determined once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._is_agent = False
        self._is_assistant = True
        self._shown: Recent[Spot, Status] = Recent()

    def greet(self, *, is_agent: bool) -> None:
        """Set the app's kind; if it is no agent, the older assistant API is tried."""
        self._is_agent, self._is_assistant = is_agent, not is_agent

    async def work(self, spot: Spot) -> None:
        """Show that an answer is in progress. Raises `AdapterError`."""
        if spot.thread is None:
            return
        if self._is_agent:
            await self._set(spot, "processing")
        elif self._is_assistant:
            try:
                with self._api.client() as web:
                    await web.assistant_threads_setStatus(
                        channel_id=spot.channel, thread_ts=spot.thread, status=_THINKING
                    )
            except Unsupported:
                self._is_assistant = False
            except Rejected as error:  # not in this kind of thread
                _log.debug("slack shows no sign in %s: %s", spot.channel, error)
            else:
                self._shown.put(spot, "processing")

    async def finalize(self, spot: Spot, *, asks: bool, was_edit: bool) -> None:
        """Clear the indicator after the last words or a question. Never fails: the message was
        sent.

        An agent's status stays until it changes, even across processes; an assistant's disappears
        with
        each new message.
        """
        if spot.thread is None:
            return
        try:
            if self._is_agent:
                wanted: Status = "suspended" if asks else "active"
                if self._shown.get(spot) != wanted:
                    await self._set(spot, wanted)
            elif spot in self._shown:
                self._shown.drop(spot)
                if was_edit:
                    with self._api.client() as web:
                        await web.assistant_threads_setStatus(
                            channel_id=spot.channel, thread_ts=spot.thread, status=""
                        )
        except AdapterError as error:
            _log.info("slack's sign in %s could not be changed: %s", spot.channel, error)

    async def _set(self, spot: Spot, status: Status) -> None:
        try:
            with self._api.client() as web:
                await web.agents_sessions_setStatus(
                    channel_id=spot.channel, thread_ts=spot.thread, status=status
                )
        except Rejected as error:
            _log.debug("slack shows no session in %s: %s", spot.channel, error)
        self._shown.put(spot, status)
