"""A running adapter on the emulated Bot API, and conditions to wait for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from adapters.ids import Address
from adapters.messages import OutboundMessage
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.inlet import FakeInlet

ANNA = 7
ROOM = -1_001_000_000_777


def settings_for(api: TelegramEmulator, **changes: object) -> TelegramSettings:
    """Settings with short pauses."""
    known = TelegramSettings(
        token=api.token, base_url=api.base_url, poll_timeout=5, longest_pause=0.02
    )
    return replace(known, **changes)  # type: ignore[arg-type]


@asynccontextmanager
async def running(
    api: TelegramEmulator, inlet: FakeInlet, **changes: object
) -> AsyncIterator[TelegramAdapter]:
    """A connected adapter."""
    adapter = TelegramAdapter(settings_for(api, **changes))
    task = asyncio.create_task(adapter.run(inlet))
    try:
        await until(lambda: adapter.health().state == "connected" or task.done())
        yield adapter
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], bool]) -> None:
    """Return once the condition holds. Raises `TimeoutError`."""
    async with asyncio.timeout(45):
        while not condition():
            await asyncio.sleep(0.005)


def to(chat_id: int, text: str, *, thread: int | None = None) -> OutboundMessage:
    """A message for a chat of the emulator."""
    address = Address(
        chat_id=str(chat_id), thread_id=str(thread) if thread else None, is_direct=chat_id > 0
    )
    return OutboundMessage(address=address, text=text, key="key")
