"""A platform as delivery sees it: its adapter, and how fast it may be written to."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from adapters.abilities import CanFind, CountsTogether
from adapters.contract import ChatAdapter
from adapters.ids import PlatformMessageId
from agent_core.state.queues.outbox import OutboxRow
from gateway.conversion import Place, read_chat
from gateway.outbound.rate_limiter import RateLimiter

Chat = tuple[str, str]
"""A platform, and a chat on it as `translate.name_chat` names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One platform that is on."""

    adapter: ChatAdapter
    pacer: RateLimiter
    finder: CanFind | None
    """The adapter, if it can look; asked once, since asking takes longer than what it can tell."""

    @classmethod
    def to(cls, adapter: ChatAdapter) -> Self:
        """The door to a platform."""
        finder = adapter if isinstance(adapter, CanFind) else None
        return cls(adapter=adapter, pacer=RateLimiter(adapter.pace), finder=finder)

    def newest(self, chat: str) -> PlatformMessageId | None:
        """The newest id known of a chat, to be kept with a send; see `CanFind`."""
        return self.finder.newest(read_chat(chat)) if self.finder else None


class Lines:
    """Which chats are written to one after the other; see `CountsTogether`."""

    def __init__(self, adapters: Mapping[str, ChatAdapter]) -> None:
        self._counting = {
            name: adapter
            for name, adapter in adapters.items()
            if isinstance(adapter, CountsTogether)
        }

    def find(self, chat: Chat) -> Chat:
        """What is the same for all chats of a line: most are one by themselves."""
        counting = self._counting.get(chat[0])
        return chat if counting is None else (chat[0], counting.count_of(read_chat(chat[1])))


class ReservedSlot:
    """Stands in a line in place of what is to come. It has to be ended, whatever happens."""

    def __init__(self, place: Place, line: Chat, anchor: PlatformMessageId | None) -> None:
        """`anchor` is what is to be noted with the message; see `outbox.mark_sending`."""
        self.place = place
        self.line = line
        self.anchor = anchor
        self._rows: asyncio.Future[Sequence[OutboxRow]] = asyncio.get_running_loop().create_future()

    def is_for(self, place: Place) -> bool:
        """True if a message to this place may take the lead."""
        return (self.place.platform, self.place.chat) == (place.platform, place.chat)

    def end(self, rows: Sequence[OutboxRow] = ()) -> None:
        """The rows go on in its place; a second call does nothing."""
        if not self._rows.done():
            self._rows.set_result(rows)

    async def wait(self) -> Sequence[OutboxRow]:
        """What came of it, once it was ended."""
        return await self._rows
