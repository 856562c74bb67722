"""Shows that the bot is working, as the app's kind allows: agent, assistant or neither."""

import logging
from typing import Literal

from adapters.errors import AdapterError, Rejected
from adapters.slack.api import Api, Place
from adapters.slack.errors import Unsupported
from adapters.toolkit import BoundedDict

_log = logging.getLogger(__name__)

Status = Literal["active", "processing", "suspended"]

_THINKING = "is thinking…"


class StatusIndicator:
    """The indicators in threads. The app's kind is determined once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._is_agent = False
        self._is_assistant = True
        self._shown: BoundedDict[Place, Status] = BoundedDict()

    def greet(self, *, is_agent: bool) -> None:
        """Set the app's kind; if it is no agent, the older assistant API is tried."""
        self._is_agent, self._is_assistant = is_agent, not is_agent

    async def work(self, place: Place) -> None:
        """Show that an answer is in progress. Raises `AdapterError`."""
        if place.thread is None:
            return
        if self._is_agent:
            await self._set(place, "processing")
        elif self._is_assistant:
            try:
                with self._api.client() as web:
                    await web.assistant_threads_setStatus(
                        channel_id=place.channel, thread_ts=place.thread, status=_THINKING
                    )
            except Unsupported:
                self._is_assistant = False
            except Rejected as error:  # not in this kind of thread
                _log.debug("slack shows no sign in %s: %s", place.channel, error)
            else:
                self._shown.put(place, "processing")

    async def finalize(self, place: Place, *, asks: bool, was_edit: bool) -> None:
        """Clear the indicator after the last words or a question. Never fails: the message was
        sent.

        An agent's status stays until it changes, even across processes; an assistant's disappears
        with
        each new message.
        """
        if place.thread is None:
            return
        try:
            if self._is_agent:
                wanted: Status = "suspended" if asks else "active"
                if self._shown.get(place) != wanted:
                    await self._set(place, wanted)
            elif place in self._shown:
                self._shown.drop(place)
                if was_edit:
                    with self._api.client() as web:
                        await web.assistant_threads_setStatus(
                            channel_id=place.channel, thread_ts=place.thread, status=""
                        )
        except AdapterError as error:
            _log.info("slack's sign in %s could not be changed: %s", place.channel, error)

    async def _set(self, place: Place, status: Status) -> None:
        try:
            with self._api.client() as web:
                await web.agents_sessions_setStatus(
                    channel_id=place.channel, thread_ts=place.thread, status=status
                )
        except Rejected as error:
            _log.debug("slack shows no session in %s: %s", place.channel, error)
        self._shown.put(place, status)
