"""Tells from delivery receipts what may have been sent."""

import asyncio
from collections.abc import Iterable

from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.text import Json, words_in

_MOST = 20_000


class Receipts:
    """Which of our messages devices have confirmed, and which sends we know of.

    Signal offers no history and no key of a message. Its id is the time at which signal-cli sent
    it, and the device of each recipient confirms that time. A confirmed time that belongs to no
    send we know of may be a message in doubt.
    """

    def __init__(self) -> None:
        self._confirmed: BoundedDict[int, frozenset[str]] = BoundedDict(_MOST)
        """By time: the names of the accounts whose devices confirm it."""
        self._sent: BoundedDict[int, None] = BoundedDict(_MOST)
        self._reading: tuple[int, int] | None = None
        """The first and the last time of which all that arrived was read; None if unknown."""
        self._earlier: tuple[int, int] | None = None
        """The same, of earlier connections."""
        self._since: int | None = None
        """The first time of all connections."""
        self._changed = asyncio.Event()
        self.newest = 0
        """The newest time at which this account is known to have sent anything, from a result or a
        receipt. What is sent from now on comes after it.
        """

    def note_sent(self, sent_at: int) -> None:
        """Record a send whose outcome is known, from this device or another one."""
        self._sent.put(sent_at, None)
        self.newest = max(self.newest, sent_at)

    def is_sent(self, sent_at: int) -> bool:
        """Return whether a time is one of the known sends."""
        return sent_at in self._sent

    def note_receipt(self, sources: Iterable[str], receipt: Json) -> None:
        """Record what a device confirms; sources are the names of its account."""
        times = receipt.get("timestamps")
        if not isinstance(times, list):
            return
        names = frozenset(name for name in sources if name)
        for sent_at in times:
            if isinstance(sent_at, int):
                self.newest = max(self.newest, sent_at)
                known = self._confirmed.get(sent_at) or frozenset()
                self._confirmed.put(sent_at, known | names)
        self._changed.set()
        self._changed = asyncio.Event()

    def begin_connection(self) -> None:
        """Record that what arrived since the end of the last connection may never be read."""
        self._earlier, self._reading = self._reading or self._earlier, None

    def note_reading(self, at: int) -> None:
        """Record that the connection brings whatever arrives after a time.

        signal-cli hands over events in the order in which they reached it, old ones first.
        """
        first, last = self._reading or (at, at)
        first, last = min(first, at), max(last, at)
        if self._earlier and self._earlier[0] < first <= self._earlier[1]:
            first = self._earlier[0]
        self._reading = (first, last)
        self._since = min(first, self._since or first)

    def reaches(self, sent_at: int) -> bool:
        """Return whether all was read that devices confirm of what was sent after a time."""
        return self._reading is not None and self._reading[0] <= sent_at

    def is_confirmed(self, sent_at: int, people: Iterable[str]) -> bool:
        """Return whether some of the people have received the message of a time."""
        return not (self._confirmed.get(sent_at) or frozenset()).isdisjoint(people)

    def list_unexplained(self, people: Iterable[str], *, after: int, until: int) -> list[int]:
        """Return the times that some of the people confirm, and that no known send explains.

        `after` is left out, and `until` is not. What was sent before this process read anything is
        left out, too: the person may have written it by hand on another device.
        """
        after = max(after, self._since or until)
        between = [at for at in self._confirmed if after < at <= until]
        return sorted(
            at for at in between if not self.is_sent(at) and self.is_confirmed(at, people)
        )

    async def wait(self) -> None:
        """Wait for the next receipt."""
        await self._changed.wait()


def sources_of(envelope: Json) -> tuple[str, ...]:
    """Return the names of the account that an envelope comes from, the account id first."""
    names = (words_in(envelope, "sourceUuid"), words_in(envelope, "sourceNumber", "source"))
    return tuple(name for name in names if name)
