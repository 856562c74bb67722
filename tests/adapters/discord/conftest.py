"""The emulated Discord, and an adapter that is connected to it."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.discord.rig import Rig, running
from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet


@pytest.fixture
async def api() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


@pytest.fixture
async def rig(api: DiscordEmulator, inlet: FakeInlet) -> AsyncIterator[Rig]:
    async with running(api, inlet) as rig:
        yield rig
