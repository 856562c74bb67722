"""A platform as delivery sees it: its adapter, and how fast it may be written to."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.abilities import CanFind, CountsTogether
from adapters.contract import ChatAdapter
from adapters.ids import PlatformMessageId
from gateway import translate
from gateway.pacing import Pacer

Chat = tuple[str, str]
"""A platform, and a chat on it as `translate.name_chat` names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One platform that is on."""

    adapter: ChatAdapter
    pacer: Pacer

    def newest(self, chat: str) -> PlatformMessageId | None:
        """The newest id known of a chat, to be kept with a send; see `CanFind`."""
        adapter = self.adapter
        return adapter.newest(translate.read_chat(chat)) if isinstance(adapter, CanFind) else None


def line_of(doors: Mapping[str, Door], chat: Chat) -> Chat:
    """What chats have in common that are written to one after the other; see `CountsTogether`."""
    platform, name = chat
    adapter: object = doors[platform].adapter if platform in doors else None
    if isinstance(adapter, CountsTogether):
        return platform, adapter.count_of(translate.read_chat(name))
    return chat
