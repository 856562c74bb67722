"""Reads Meta's reports on our messages, and remembers when each chat was last heard."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Mapping

from adapters.ids import PlatformMessageId
from adapters.messages import DeliveryReport
from adapters.toolkit.caches import BoundedDict

_LONGEST_PAUSE = 60.0
"""Seconds between two attempts at most, after messages that failed."""
_EARLY = 60.0
"""Seconds before the end of the window in which a message counts as too late: it has to arrive."""


class DeliveryReports:
    """The reports of the newest messages, by the key of the message.

    The key goes out as `biz_opaque_callback_data`, and every status repeats it. So a message whose
    answer was lost is known as sent, or as not sent once no status came for `patience` seconds.
    """

    def __init__(self, *, patience: float) -> None:
        self._patience = patience
        self._found: BoundedDict[str, PlatformMessageId] = BoundedDict()
        self._changed = asyncio.Event()

    def knows(self, report: DeliveryReport) -> bool:
        """Return whether the message of a report counts as sent already."""
        return report.key in self._found

    def note(self, report: DeliveryReport) -> None:
        """Record a report, and wake who waits for it."""
        if report.outcome == "sent":
            self._found.put(report.key, report.message_id)
        else:
            self._found.drop(report.key)
        self._changed.set()
        self._changed = asyncio.Event()

    async def find(self, key: str) -> PlatformMessageId | None:
        """Return the id of a message of unknown delivery; None if no report came in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                while key not in self._found:
                    await self._changed.wait()
        return self._found.get(key)


class Setbacks:
    """The pauses of chats in which Meta took a message and then could not deliver it."""

    def __init__(self) -> None:
        self._met: BoundedDict[str, tuple[int, float]] = BoundedDict()
        """How often in a row that happened in a chat, and until when to wait."""

    def note(self, report: DeliveryReport) -> None:
        """Take note of a report: a failure makes the pause longer, a success ends it."""
        chat = report.address.chat_id
        if report.outcome == "again":
            count = (self._met.get(chat) or (0, 0.0))[0] + 1
            pause = min(2.0**count, _LONGEST_PAUSE)
            self._met.put(chat, (count, time.monotonic() + pause))
        elif report.outcome == "sent":
            self._met.drop(chat)

    def measure_pause(self, chat: str) -> float:
        """Return the seconds for which nothing should be sent to a chat; 0 for none."""
        found = self._met.get(chat)
        return max(found[1] - time.monotonic(), 0.0) if found else 0.0


class Windows:
    """The times at which people last wrote, in seconds UTC, by chat.

    Meta lets us write freely for 24 hours after that. The times are the read positions of the
    chats, so they outlive the process.
    """

    def __init__(self, length: float) -> None:
        self._length = length
        self._heard: dict[str, int] = {}
        self._closed: set[str] = set()
        """Chats that Meta called closed, whatever the times say."""
        self._clock = itertools.count(1)
        self._heard_as: dict[str, int] = {}
        """The place of the newest words of each chat, in the order of what was heard and sent."""
        self._sent_as: BoundedDict[str, int] = BoundedDict()
        """The place of each of our newest messages in the same order, by its key."""

    def load(self, marks: Mapping[str, str]) -> None:
        """Take over what earlier processes heard."""
        for chat, mark in marks.items():
            if mark.isdecimal():
                self._heard[chat] = max(int(mark), self._heard.get(chat, 0))

    def hear(self, chat: str, at: int) -> None:
        """Note that a person wrote at a time, in whole seconds."""
        if at >= self._heard.get(chat, 0):
            self._heard[chat] = at
            self._closed.discard(chat)
            self._heard_as[chat] = next(self._clock)

    def note_send(self, key: str) -> None:
        """Note that the message of a key is sent now."""
        self._sent_as.put(key, next(self._clock))

    def close(self, chat: str, key: str) -> None:
        """Note that Meta refuses the message of a key, because the day of its chat is over.

        It may say so late. Whoever has written since that message has opened the chat again.
        """
        if self._heard_as.get(chat, 0) <= (self._sent_as.get(key) or 0):
            self._closed.add(chat)

    def is_open(self, chat: str) -> bool:
        """Return whether anything may be sent. A chat that nobody has heard may be open."""
        if chat in self._closed:
            return False
        heard = self._heard.get(chat)
        return heard is None or time.time() < heard + self._length - min(_EARLY, self._length / 2)


def spell_mark(at: int) -> str:
    """Return a time as a read position, which sorts as text."""
    return f"{at:012d}"
