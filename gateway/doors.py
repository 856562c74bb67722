"""A platform as delivery sees it: its adapter, and how fast it may be written to."""

from dataclasses import dataclass

from adapters.abilities import CanFind
from adapters.contract import ChatAdapter
from adapters.ids import PlatformMessageId
from gateway import translate
from gateway.pacing import Pacer


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One platform that is on."""

    adapter: ChatAdapter
    pacer: Pacer

    def newest(self, chat: str) -> PlatformMessageId | None:
        """The newest id known of a chat, to be kept with a send; see `CanFind`."""
        adapter = self.adapter
        return adapter.newest(translate.read_chat(chat)) if isinstance(adapter, CanFind) else None
