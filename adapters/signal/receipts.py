"""Proves from delivery receipts whether a message was sent."""

import asyncio
from collections.abc import Collection, Iterable

from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.text import Json, words_in

_MOST = 20_000
_PER_PERSON = 500
"""The newest times that are kept of what one person's devices have confirmed."""


class Receipts:
    """Which of our messages whose devices have confirmed, and which sends we know of.

    Signal offers no history and no key of a message. Its id is the time at which signal-cli sent
    it, and the device of each recipient confirms that time. A confirmed time that belongs to no
    send we know of is the message in doubt.
    """

    def __init__(self) -> None:
        self._confirmed: BoundedDict[int, frozenset[str]] = BoundedDict(_MOST)
        self._newest_by: BoundedDict[str, BoundedDict[int, None]] = BoundedDict(_MOST)
        self._sent: BoundedDict[int, None] = BoundedDict(_MOST)
        self._rivals: BoundedDict[int, frozenset[str]] = BoundedDict()
        """By confirmed time: the chats whose message in doubt may have been sent then."""
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
        names = [name for name in sources if name]
        for sent_at in times:
            if isinstance(sent_at, int):
                self.newest = max(self.newest, sent_at)
                known = self._confirmed.get(sent_at) or frozenset()
                self._confirmed.put(sent_at, known | frozenset(names[:1]))
                for name in names:
                    confirmed = self._newest_by.get(name) or BoundedDict(_PER_PERSON)
                    confirmed.put(sent_at, None)
                    self._newest_by.put(name, confirmed)
        self._changed.set()
        self._changed = asyncio.Event()

    def list_confirming(self, people: Iterable[str], sent_at: int) -> frozenset[str]:
        """Return which of the people have received the message of a time."""
        return frozenset(name for name in people if sent_at in self._times_of(name))

    def is_within(self, people: Iterable[str], sent_at: int) -> bool:
        """Return whether nobody but these people confirms the message of a time."""
        return (self._confirmed.get(sent_at) or frozenset()) <= frozenset(people)

    def note_rivals(self, sent_at: int, *chats: str) -> None:
        """Record chats whose message in doubt may have been sent at a time."""
        self._rivals.put(sent_at, (self._rivals.get(sent_at) or frozenset()).union(chats))

    def has_rivals(self, sent_at: int, chat: str) -> bool:
        """Return whether a time may be that of a message to another chat than this one.

        It may be so even after that message was sent again, because nobody knew.
        """
        return bool((self._rivals.get(sent_at) or frozenset()) - {chat})

    def drop_rival(self, chat: str) -> None:
        """Record that what was in doubt in a chat is known, so it explains no other time."""
        for sent_at in list(self._rivals):
            self._rivals.put(sent_at, (self._rivals.get(sent_at) or frozenset()) - {chat})

    def find_direct(self, person: str, *, after: int) -> list[int]:
        """Return the times of messages to a person that no known send explains.

        What several accounts confirm went to a group.
        """
        return [
            sent_at
            for sent_at in self._list_unexplained([person], after)
            if len(self._confirmed.get(sent_at) or ()) == 1
        ]

    def find_shared(
        self, people: frozenset[str], members: Collection[str], *, after: int
    ) -> list[int]:
        """Return the times that no known send explains and that all of the people confirm.

        What somebody besides the group's members confirms went to another group.
        """
        return [
            sent_at
            for sent_at in self._list_unexplained(people, after)
            if self.list_confirming(people, sent_at) == people and self.is_within(members, sent_at)
        ]

    def _list_unexplained(self, people: Iterable[str], after: int) -> list[int]:
        times = {sent_at for name in people for sent_at in self._times_of(name)}
        return sorted(at for at in times if at > after and at not in self._sent)

    def _times_of(self, name: str) -> Collection[int]:
        found = self._newest_by.get(name)
        return () if found is None else tuple(found)

    async def wait(self) -> None:
        """Wait for the next receipt."""
        await self._changed.wait()


def sources_of(envelope: Json) -> tuple[str, ...]:
    """Return the names of the account that an envelope comes from, the account id first."""
    names = (words_in(envelope, "sourceUuid"), words_in(envelope, "sourceNumber", "source"))
    return tuple(name for name in names if name)
