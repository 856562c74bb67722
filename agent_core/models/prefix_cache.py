"""Values computed for beginnings of transcripts."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from agent_core.machine import cache_bytes
from agent_core.transcript import Message

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    messages: tuple[Message, ...]
    found: T
    weight: int


class PrefixCache(Generic[T]):
    """Keeps a value for each conversation; drops the least recently used ones first.

    A key should identify a conversation. Two conversations with the same key only cost time.
    """

    def __init__(self, most_weight: int | None = None) -> None:
        """`most_weight` is in approximate bytes over all conversations; by default, it follows the
        machine's memory.
        """
        self._most = cache_bytes() if most_weight is None else most_weight
        self.weight = 0
        """Approximate bytes kept now."""
        self._known: OrderedDict[Hashable, _Kept[T]] = OrderedDict()

    def take(self, key: Hashable, messages: tuple[Message, ...]) -> tuple[int, T] | None:
        """Remove and return the value for a known beginning, with its number of messages.

        Returns None for an unknown conversation, or if its beginning has changed.
        """
        kept = self._known.pop(key, None)
        if kept is None:
            return None
        self.weight -= kept.weight
        count = len(kept.messages)
        # Known messages are the same objects, so this only compares pointers.
        return (count, kept.found) if messages[:count] == kept.messages else None

    def keep(self, key: Hashable, messages: tuple[Message, ...], found: T, weight: int) -> None:
        """Keep a value for a conversation that begins with these messages."""
        self._known[key] = _Kept(messages, found, weight)
        self.weight += weight
        while self.weight > self._most:
            _, dropped = self._known.popitem(last=False)
            self.weight -= dropped.weight
