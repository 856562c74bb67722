"""A platform as delivery sees it: its adapter, and how fast it may be written to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from adapters.abilities import CanFind, CountsTogether
from adapters.contract import ChatAdapter
from adapters.ids import PlatformMessageId
from gateway.pacing import Pacer
from gateway.translate import read_chat

Chat = tuple[str, str]
"""A platform, and a chat on it as `translate.name_chat` names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One platform that is on."""

    adapter: ChatAdapter
    pacer: Pacer
    finder: CanFind | None
    """The adapter, if it can look; asked once, since asking takes longer than what it can tell."""

    @classmethod
    def to(cls, adapter: ChatAdapter) -> Self:
        """The door to a platform."""
        finder = adapter if isinstance(adapter, CanFind) else None
        return cls(adapter=adapter, pacer=Pacer(adapter.pace), finder=finder)

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
