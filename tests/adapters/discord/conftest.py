"""The emulated Discord and an inlet."""

from collections.abc import AsyncIterator

import pytest

from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet


@pytest.fixture
async def api() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


@pytest.fixture
def inlet() -> FakeInlet:
    return FakeInlet()
