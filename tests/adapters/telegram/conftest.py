"""The emulated Bot API with a person and a group, and an adapter that is connected to it."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.telegram.rig import ANNA, ROOM, Rig, running
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.inlet import FakeInlet


@pytest.fixture
async def api() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.user(ANNA)
        emulator.user(8)
        emulator.group(ROOM, is_forum=True)
        yield emulator


@pytest.fixture
async def rig(api: TelegramEmulator, inlet: FakeInlet) -> AsyncIterator[Rig]:
    async with running(api, inlet) as rig:
        yield rig
