"""Small signs that cost nobody anything: typing, and the eyes on a message that was seen."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from adapters.abilities import CanReact, CanType
from adapters.errors import AdapterError, RateLimited
from adapters.ids import PlatformMessageId
from gateway import conversion
from gateway.concurrency import Workers
from gateway.outbound.channel import Channel, Chat

_log = logging.getLogger(__name__)

_MOST_TRIES = 3
_PAUSE = 1.0
_LONGEST_PAUSE = 10.0
"""Seconds between two tries to take the eyes away: what the platform asks for, within these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Typing, or, with a message, whether the eyes on it are shown."""

    message_id: str | None = None
    seen: bool = False
    tries: int = 0


class Indicators:
    """Shows signs where nothing more important waits. Never raises.

    What fails is let go, but eyes that stay where they are, which is tried a few times.
    """

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        channels: Mapping[str, Channel],
        is_paused: Callable[[Chat], bool],
    ) -> None:
        self._channels = channels
        self._is_paused = is_paused
        self._workers: Workers[Chat, Sign] = Workers(group, self._show, self._let_go)
        self._resting: set[Chat] = set()
        """Chats in which a sign waits for its next try."""
        self._is_open = True

    def is_idle(self) -> bool:
        """True while no sign is being shown; one that waits for its next try is not."""
        return len(self._workers) == len(self._resting)

    def close(self) -> None:
        """Show nothing any more."""
        self._is_open = False

    def type(self, platform: str, chat: str) -> None:
        """Show that the bot is at work."""
        place = (platform, chat)
        is_able = isinstance(self._channels[platform].adapter, CanType)
        is_planned = any(sign.message_id is None for sign in self._workers.waiting(place))
        if is_able and self._is_free(place) and not is_planned:
            self._workers.put(place, Sign())

    def see(self, platform: str, chat: str, message_id: str) -> bool:
        """Show that a message was seen; False if that can't be shown now."""
        place = (platform, chat)
        if not isinstance(self._channels[platform].adapter, CanReact) or not self._is_free(place):
            return False
        self._workers.put(place, Sign(message_id=message_id, seen=True))
        return True

    def unsee(self, platform: str, chat: str, message_id: str) -> None:
        """Take that away again."""
        if self._is_open and isinstance(self._channels[platform].adapter, CanReact):
            self._workers.put((platform, chat), Sign(message_id=message_id))

    def _is_free(self, place: Chat) -> bool:
        return (
            self._is_open and not self._is_paused(place) and self._channels[place[0]].rate_limiter.has_room()
        )

    async def _show(self, place: Chat, queue: deque[Sign]) -> None:
        sign = queue.popleft()
        adapter, address = self._channels[place[0]].adapter, conversion.read_chat(place[1])
        try:
            if sign.message_id is None:
                if isinstance(adapter, CanType):
                    await adapter.type(address)
            elif isinstance(adapter, CanReact):
                message_id = PlatformMessageId(sign.message_id)
                await adapter.react(address, message_id, seen=sign.seen)
        except AdapterError as error:
            _log.debug("a sign was not shown: %s", error)
            if sign.message_id and not sign.seen and sign.tries < _MOST_TRIES:
                await self._rest(place, error)
                queue.appendleft(replace(sign, tries=sign.tries + 1))

    async def _rest(self, place: Chat, error: AdapterError) -> None:
        asked = error.retry_after if isinstance(error, RateLimited) else 0.0
        self._resting.add(place)
        try:
            await asyncio.sleep(min(max(asked, _PAUSE), _LONGEST_PAUSE))
        finally:
            self._resting.discard(place)

    async def _let_go(self, place: Chat, sign: Sign, error: Exception) -> None:
        """A sign that could not be shown is owed to nobody."""
