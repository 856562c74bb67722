"""Keeps what was found out about the beginnings of talks, so that only what is new is worked on."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from agent_core.transcript import Message

T = TypeVar("T")

_MOST_WEIGHT = 16_000_000
"""Bytes, about, of the messages and whatever is kept with them, over all talks."""


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    messages: tuple[Message, ...]
    found: T
    weight: int


class Beginnings(Generic[T]):
    """What is known of talks by the messages they begin with; those used last are kept.

    A key is anything that mostly tells talks apart: two that share one cost each other time,
    and nothing else.
    """

    def __init__(self, most_weight: int = _MOST_WEIGHT) -> None:
        self._most = most_weight
        self.weight = 0
        """Bytes, about, that are kept now."""
        self._talks: OrderedDict[Hashable, _Kept[T]] = OrderedDict()

    def take(self, key: Hashable, messages: tuple[Message, ...]) -> tuple[int, T] | None:
        """How many of these messages something is known of, and what; it is kept no longer.

        None where the talk is new, or does not begin any more as it did.
        """
        kept = self._talks.pop(key, None)
        if kept is None:
            return None
        self.weight -= kept.weight
        count = len(kept.messages)
        # Messages that were there before are the same objects: this compares pointers.
        return (count, kept.found) if messages[:count] == kept.messages else None

    def keep(self, key: Hashable, messages: tuple[Message, ...], found: T, weight: int) -> None:
        """Keep what was found out about a talk that begins with these messages."""
        self._talks[key] = _Kept(messages, found, weight)
        self.weight += weight
        while self.weight > self._most:
            _, dropped = self._talks.popitem(last=False)
            self.weight -= dropped.weight
