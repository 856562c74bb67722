"""Shows that the bot is at work, in whichever way the app has: agent, assistant or none."""

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
    """The signs that stand in threads. Which way the app has is asked once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._is_agent = False
        self._is_assistant = True
        self._shown: Recent[Spot, Status] = Recent()

    def greet(self, *, is_agent: bool) -> None:
        """What kind of app it is; the older assistant is tried where it is no agent."""
        self._is_agent, self._is_assistant = is_agent, not is_agent

    async def work(self, spot: Spot) -> None:
        """Show that an answer is being made there. Raises `AdapterError`."""
        if spot.thread is None:
            return
        if self._is_agent:
            await self._set(spot, "processing")
        elif self._is_assistant:
            try:
                with self._api.door() as web:
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
        """The last words were said there, or a question was asked. Never fails: they were said.

        An agent's sign stands until it is changed, also by an earlier process; an assistant's
        goes by itself with each new message.
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
                    with self._api.door() as web:
                        await web.assistant_threads_setStatus(
                            channel_id=spot.channel, thread_ts=spot.thread, status=""
                        )
        except AdapterError as error:
            _log.info("slack's sign in %s could not be changed: %s", spot.channel, error)

    async def _set(self, spot: Spot, status: Status) -> None:
        try:
            with self._api.door() as web:
                await web.agents_sessions_setStatus(
                    channel_id=spot.channel, thread_ts=spot.thread, status=status
                )
        except Rejected as error:
            _log.debug("slack shows no session in %s: %s", spot.channel, error)
        self._shown.put(spot, status)
