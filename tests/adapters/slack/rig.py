"""A running adapter on the emulated Slack, and conditions to wait for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from adapters.ids import Address
from adapters.messages import ButtonPress, InboundMessage, OutboundMessage, RawEvent
from adapters.slack.adapter import SlackAdapter
from adapters.slack.receive import receive
from adapters.slack.settings import SlackSettings
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet

ANNA, BERT, CLEO = 7, 8, 9


def settings_for(slack: SlackEmulator, **changes: object) -> SlackSettings:
    """Settings with short pauses."""
    known = SlackSettings(
        bot_token=slack.bot_token,
        app_token=slack.app_token,
        base_url=slack.base_url,
        longest_pause=0.05,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


@asynccontextmanager
async def running(
    slack: SlackEmulator, inlet: FakeInlet, **changes: object
) -> AsyncIterator[SlackAdapter]:
    """An adapter with all of its sockets connected."""
    settings = settings_for(slack, **changes)
    adapter = SlackAdapter(settings)
    task = asyncio.create_task(adapter.run(inlet))
    wanted = settings.sockets if settings.mode == "socket" else 0
    try:
        await until(
            lambda: (
                (adapter.health().state == "connected" and slack.sockets >= wanted) or task.done()
            )
        )
        yield adapter
    finally:
        task.cancel()
        async with asyncio.timeout(45):
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until(condition: Callable[[], object]) -> None:
    """Return once the condition holds. Raises `TimeoutError`."""
    async with asyncio.timeout(45):
        while not condition():
            await asyncio.sleep(0.005)


def to(channel: str, text: str, *, thread: str | None = None, **fields: Any) -> OutboundMessage:
    """A message for a channel of the emulator."""
    address = Address(chat_id=channel, thread_id=thread, is_direct=channel.startswith("D"))
    return OutboundMessage(**{"address": address, "text": text, "key": "key 1"} | fields)


def read(event: RawEvent) -> InboundMessage:
    """The message in an event."""
    found = receive(event.payload)
    assert isinstance(found, InboundMessage)
    return found


def read_press(event: RawEvent) -> ButtonPress:
    """The press in an event."""
    found = receive(event.payload)
    assert isinstance(found, ButtonPress)
    return found


def called(slack: SlackEmulator, method: str) -> list[dict[str, Any]]:
    """Return the parameters of all calls of a method so far."""
    return [parameters for name, parameters in slack.calls if name == method]
