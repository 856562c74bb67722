"""The rate limits of a platform and its chats."""

import asyncio
import time
from collections import OrderedDict

from adapters.contract import Pace
from adapters.ids import Address
from gateway.chats import read_chat

_MOST_CHATS = 4096
_PATIENCE = 5.0
"""Seconds for which a message that nobody waits for lets other messages go first."""


class RateLimiter:
    """Makes senders wait by a platform's `Pace`, in order of arrival.

    A chat has one bucket (GCRA) for all its threads: after a lull, a burst may go at once, and then
    messages at the average rate. A pause that the platform asks for empties the bucket.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._patient = asyncio.Lock()
        self._next_free = 0.0
        self._chats: OrderedDict[str, float] = OrderedDict()
        """For each chat, when its bucket is full again, in monotonic seconds."""

    async def give_way(self) -> None:
        """Wait until one place is left for an answer, or for `_PATIENCE`; one caller at a time.

        Call `wait` next. So answers overtake many reminders that are due in the same minute: one
        place stays free for an answer, although the reminders use up the average rate.
        """
        spare = 1.0 / self._pace.per_second if self._pace.per_second else 0.0
        async with self._patient:
            end = time.monotonic() + _PATIENCE
            while (  # noqa: ASYNC110 - others may take the next place meanwhile
                left := min(self._next_free + spare, end) - time.monotonic()
            ) > 0:
                await asyncio.sleep(left)

    async def wait(self, chat: str) -> None:
        """Wait until a new message may go to this chat."""
        now = time.monotonic()
        address = read_chat(chat)
        interval = self._interval_of(address)
        start = max(now, self._earliest(address))
        if self._pace.per_second:
            start = max(start, self._next_free)
            # A second's worth may go at once after a lull; the average stays at the limit.
            self._next_free = max(self._next_free, now - 1.0) + 1.0 / self._pace.per_second
        if interval:
            self._fill(address, max(self._chats.get(address.chat_id, 0.0), start) + interval)
        if start > now:
            await asyncio.sleep(start - now)

    def note_limited(self, chat: str, retry_after: float) -> None:
        """Obey a platform that asks for a pause of `retry_after` seconds in a chat."""
        address = read_chat(chat)
        interval = self._interval_of(address)
        if interval:
            self._fill(address, time.monotonic() + retry_after + (self._pace.burst - 1) * interval)

    def is_free(self, chat: str) -> bool:
        """Return whether a new message may go to this chat now."""
        return self.has_room() and self._earliest(read_chat(chat)) <= time.monotonic()

    def _interval_of(self, address: Address) -> float:
        return self._pace.chat_interval if address.is_direct else self._pace.room_interval

    def _earliest(self, address: Address) -> float:
        full_at = self._chats.get(address.chat_id, 0.0)
        return full_at - (self._pace.burst - 1) * self._interval_of(address)

    def _fill(self, address: Address, full_at: float) -> None:
        self._chats[address.chat_id] = full_at
        self._chats.move_to_end(address.chat_id)
        if len(self._chats) > _MOST_CHATS:
            self._chats.popitem(last=False)

    def has_room(self) -> bool:
        """Return whether indicators and live edits would delay no message now."""
        return not self._pace.per_second or self._next_free <= time.monotonic()
