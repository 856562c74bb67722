"""How fast a platform is written to: a least interval a chat, a most a second over all."""

import asyncio
import time
from collections import OrderedDict

from adapters.contract import Pace

_MOST_CHATS = 4096
_PATIENCE = 5.0
"""Seconds for which what can wait lets others go first, when it is the first of its kind."""


class RateLimiter:
    """Makes senders wait their turn by a platform's `Pace`; fair by order of arrival.

    What can wait gives way: among the many that a minute of jobs sends, answers go first.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._patient = asyncio.Lock()
        self._next_free = 0.0
        self._chats: OrderedDict[str, float] = OrderedDict()

    async def give_way(self) -> None:
        """Return when nobody else waits for a place, or after a while: one caller at a time.

        To be followed by `wait`.
        """
        async with self._patient:
            end = time.monotonic() + _PATIENCE
            while (  # noqa: ASYNC110 - others may take the next place meanwhile
                left := min(self._next_free, end) - time.monotonic()
            ) > 0:
                await asyncio.sleep(left)

    async def wait(self, chat: str) -> None:
        """Return when a new message may go to this chat."""
        now = time.monotonic()
        start = now
        if self._pace.chat_interval:
            start = max(start, self._chats.get(chat, 0.0))
        if self._pace.per_second:
            start = max(start, self._next_free)
            # A second's worth may go at once after a lull; the average stays at the limit.
            self._next_free = max(self._next_free, now - 1.0) + 1.0 / self._pace.per_second
        if self._pace.chat_interval:
            self._chats[chat] = start + self._pace.chat_interval
            self._chats.move_to_end(chat)
            if len(self._chats) > _MOST_CHATS:
                self._chats.popitem(last=False)
        if start > now:
            await asyncio.sleep(start - now)

    def is_free(self, chat: str) -> bool:
        """True if a new message may go to this chat now."""
        return self.has_room() and self._chats.get(chat, 0.0) <= time.monotonic()

    def has_room(self) -> bool:
        """True while signs of courtesy (typing, live edits) take no place from messages."""
        return not self._pace.per_second or self._next_free <= time.monotonic()
