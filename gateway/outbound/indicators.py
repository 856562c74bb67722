"""Indicators: the typing sign, and the mark on a message that was seen."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from adapters.abilities import CanReact, CanType
from adapters.errors import AdapterError, RateLimited
from adapters.ids import PlatformMessageId
from agent_core.chats import Chat
from gateway.chats import read_chat
from gateway.fairness import Workers
from gateway.outbound.channel import Channel

_log = logging.getLogger(__name__)

MOST_TRIES = 3
_LONGEST_PAUSE = 10.0
"""Seconds between two attempts to remove a mark, whatever the platform asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indicator:
    """The typing sign or, with a message, whether the message's seen mark is shown."""

    message_id: str | None = None
    seen: bool = False
    tries: int = 0


class Indicators:
    """Shows indicators in chats where no message waits. Never raises.

    An indicator that fails is dropped. Only the removal of a seen mark is tried again.
    """

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        channels: Mapping[str, Channel],
        is_paused: Callable[[Chat], bool],
        pause: float,
    ) -> None:
        """`pause` is the least number of seconds between two attempts to remove a mark."""
        self._channels = channels
        self._is_paused = is_paused
        self._pause = pause
        self._workers: Workers[Chat, Indicator] = Workers(group, self._show, self._drop)
        self._retrying: set[Chat] = set()
        """Chats in which an indicator waits for its next attempt."""
        self._is_open = True

    def is_idle(self) -> bool:
        """Return whether no indicator is being shown; one between two attempts is not."""
        return len(self._workers) == len(self._retrying)

    def close(self) -> None:
        """Show no more indicators."""
        self._is_open = False

    def type(self, chat: Chat) -> None:
        """Show that an answer is being written."""
        is_able = isinstance(self._channels[chat.platform].adapter, CanType)
        is_planned = any(indicator.message_id is None for indicator in self._workers.waiting(chat))
        if is_able and self._is_free(chat) and not is_planned:
            self._workers.put(chat, Indicator())

    def mark_seen(self, chat: Chat, message_id: str) -> bool:
        """Mark a message as seen; False if that can't be shown now."""
        if not isinstance(self._channels[chat.platform].adapter, CanReact) or not self._is_free(
            chat
        ):
            return False
        self._workers.put(chat, Indicator(message_id=message_id, seen=True))
        return True

    def unmark(self, chat: Chat, message_id: str) -> None:
        """Remove the mark of a message."""
        if self._is_open and isinstance(self._channels[chat.platform].adapter, CanReact):
            self._workers.put(chat, Indicator(message_id=message_id))

    def _is_free(self, chat: Chat) -> bool:
        return (
            self._is_open
            and not self._is_paused(chat)
            and self._channels[chat.platform].rate_limiter.has_room()
        )

    async def _show(self, chat: Chat, queue: deque[Indicator]) -> None:
        indicator = queue.popleft()
        adapter, address = self._channels[chat.platform].adapter, read_chat(chat.address)
        try:
            if indicator.message_id is None:
                if isinstance(adapter, CanType):
                    await adapter.type(address)
            elif isinstance(adapter, CanReact):
                message_id = PlatformMessageId(indicator.message_id)
                await adapter.react(address, message_id, seen=indicator.seen)
        except AdapterError as error:
            _log.debug("an indicator was not shown: %s", error)
            if indicator.message_id and not indicator.seen and indicator.tries < MOST_TRIES:
                await self._rest(chat, error)
                queue.appendleft(replace(indicator, tries=indicator.tries + 1))

    async def _rest(self, chat: Chat, error: AdapterError) -> None:
        asked = error.retry_after if isinstance(error, RateLimited) else 0.0
        self._retrying.add(chat)
        try:
            await asyncio.sleep(min(max(asked, self._pause), _LONGEST_PAUSE))
        finally:
            self._retrying.discard(chat)

    async def _drop(self, chat: Chat, indicator: Indicator, error: Exception) -> None:
        """Ignore the failure: an indicator may be lost."""
