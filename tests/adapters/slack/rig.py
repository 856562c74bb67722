"""A running adapter on the emulated Slack, and messages for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from adapters.ids import Address
from adapters.messages import ButtonPress, InboundMessage, OutboundMessage, RawEvent
from adapters.slack.adapter import SlackAdapter
from adapters.slack.receive import receive
from adapters.slack.settings import SlackSettings
from tests.adapters.rig import started
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
    return known.model_copy(update=changes)


@dataclass(frozen=True)
class Rig:
    """An adapter with all of its sockets, the Slack that it uses, and what it received."""

    slack: SlackEmulator
    adapter: SlackAdapter
    inlet: FakeInlet


@asynccontextmanager
async def running(
    slack: SlackEmulator, inlet: FakeInlet | None = None, **changes: object
) -> AsyncIterator[Rig]:
    settings = settings_for(slack, **changes)
    rig = Rig(slack, SlackAdapter(settings), inlet or FakeInlet())
    wanted = settings.sockets if settings.mode == "socket" else 0
    async with started(rig.adapter, rig.inlet, lambda: slack.sockets >= wanted):
        yield rig


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
