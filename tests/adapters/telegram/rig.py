"""A running adapter on the emulated Bot API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from adapters.ids import Address
from adapters.messages import OutboundMessage
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from tests.adapters.rig import started
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.inlet import FakeInlet

ANNA = 7
ROOM = -1_001_000_000_777


def settings_for(api: TelegramEmulator, **changes: object) -> TelegramSettings:
    """Settings with short pauses."""
    known = TelegramSettings(
        token=api.token, base_url=api.base_url, poll_timeout=5, longest_pause=0.02
    )
    return known.model_copy(update=changes)


@dataclass(frozen=True)
class Rig:
    """A connected adapter, the Bot API that it uses, and what it received."""

    api: TelegramEmulator
    adapter: TelegramAdapter
    inlet: FakeInlet


@asynccontextmanager
async def running(
    api: TelegramEmulator, inlet: FakeInlet | None = None, **changes: object
) -> AsyncIterator[Rig]:
    rig = Rig(api, TelegramAdapter(settings_for(api, **changes)), inlet or FakeInlet())
    async with started(rig.adapter, rig.inlet):
        yield rig


def to(chat_id: int, text: str, *, thread: int | None = None) -> OutboundMessage:
    """A message for a chat of the emulator."""
    address = Address(
        chat_id=str(chat_id), thread_id=str(thread) if thread else None, is_direct=chat_id > 0
    )
    return OutboundMessage(address=address, text=text, key="key")
