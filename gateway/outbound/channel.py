"""A platform as the dispatcher sees it."""

from dataclasses import dataclass
from typing import Self

from adapters.abilities import CanFind
from adapters.contract import ChatAdapter
from adapters.ids import PlatformMessageId
from gateway.chats import read_chat
from gateway.outbound.rate_limiter import RateLimiter


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """An enabled platform."""

    adapter: ChatAdapter
    rate_limiter: RateLimiter
    finder: CanFind | None
    """The adapter, if it can search. Checked once, because the check takes longer than `newest`."""

    @classmethod
    def to(cls, adapter: ChatAdapter) -> Self:
        """Make the channel of an adapter."""
        finder = adapter if isinstance(adapter, CanFind) else None
        return cls(adapter=adapter, rate_limiter=RateLimiter(adapter.pace), finder=finder)

    def newest(self, chat: str) -> PlatformMessageId | None:
        """Return the newest known message of a chat, to be stored with a send; see `CanFind`."""
        return self.finder.newest(read_chat(chat)) if self.finder else None
