"""A running adapter on the emulated Discord, raw messages, and conditions to wait for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.settings import DiscordSettings
from adapters.ids import Address
from adapters.messages import ButtonPress, InboundMessage, OutboundMessage
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
    return replace(known, **changes)


@asynccontextmanager
async def running(
    api: DiscordEmulator, inlet: FakeInlet, **changes: Any
) -> AsyncIterator[DiscordAdapter]:
    """A connected adapter."""
    adapter = DiscordAdapter(settings_for(api, **changes))
    task = asyncio.create_task(adapter.run(inlet))
    try:
        await until(lambda: adapter.health().state == "connected" or task.done())
        yield adapter
    finally:
        task.cancel()
        async with asyncio.timeout(45):
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until(condition: Callable[[], bool]) -> None:
    """Return once the condition holds. Raises `TimeoutError`."""
    async with asyncio.timeout(45):
        while not condition():
            await asyncio.sleep(0.003)


def said(adapter: DiscordAdapter, inlet: FakeInlet) -> list[str]:
    """Return the texts of all events so far."""
    found = [adapter.receive(event) for event in inlet.taken.values()]
    return [one.text for one in found if isinstance(one, InboundMessage)]


def presses(adapter: DiscordAdapter, inlet: FakeInlet) -> list[ButtonPress]:
    """Return the presses of all events so far."""
    found = [adapter.receive(event) for event in inlet.taken.values()]
    return [one for one in found if isinstance(one, ButtonPress)]


async def hears(adapter: DiscordAdapter, inlet: FakeInlet, count: int = 1) -> InboundMessage:
    """Return the newest message once there are `count` events."""
    events = await inlet.receives(count)
    found = adapter.receive(events[-1])
    assert isinstance(found, InboundMessage)
    return found


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
