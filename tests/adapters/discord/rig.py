"""A running adapter on the emulated Discord, and messages for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.settings import DiscordSettings
from adapters.ids import Address
from adapters.messages import ButtonPress, InboundMessage, OutboundMessage
from tests.adapters.rig import started
from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet

ANNA, BEN, CLEO = 1, 2, 3


def settings_for(api: DiscordEmulator, **changes: Any) -> DiscordSettings:
    """Settings with short pauses."""
    known = DiscordSettings(
        token=api.token,
        api_base_url=api.api_base_url,
        gateway_url=api.gateway_url,
        messages_per_second=0,
        longest_pause=0.02,
    )
    return known.model_copy(update=changes)


@dataclass(frozen=True)
class Rig:
    """A connected adapter, the Discord that it uses, and what it received."""

    api: DiscordEmulator
    adapter: DiscordAdapter
    inlet: FakeInlet

    def said(self) -> list[str]:
        """Return the texts of all events so far."""
        found = [self.adapter.receive(event) for event in self.inlet.taken.values()]
        return [one.text for one in found if isinstance(one, InboundMessage)]

    def presses(self) -> list[ButtonPress]:
        """Return the presses of all events so far."""
        found = [self.adapter.receive(event) for event in self.inlet.taken.values()]
        return [one for one in found if isinstance(one, ButtonPress)]

    async def hears(self, count: int = 1) -> InboundMessage:
        """Return the newest message once there are `count` events."""
        events = await self.inlet.receives(count)
        found = self.adapter.receive(events[-1])
        assert isinstance(found, InboundMessage)
        return found


@asynccontextmanager
async def running(
    api: DiscordEmulator, inlet: FakeInlet | None = None, **changes: Any
) -> AsyncIterator[Rig]:
    rig = Rig(api, DiscordAdapter(settings_for(api, **changes)), inlet or FakeInlet())
    async with started(rig.adapter, rig.inlet):
        yield rig


def direct(api: DiscordEmulator, number: int = ANNA) -> Address:
    """Return the direct chat of a person with the bot."""
    return Address(chat_id=str(api.dm(number)), is_direct=True)


def room(channel: int, thread: int | None = None) -> Address:
    """Return a channel of a server, or a thread in it."""
    thread_id = None if thread is None else str(thread)
    return Address(chat_id=str(channel), thread_id=thread_id, is_direct=False)


def queued(address: Address, text: str, key: str = "k1", **fields: Any) -> OutboundMessage:
    """Return an outbox message."""
    return OutboundMessage(address=address, text=text, key=key, **fields)
