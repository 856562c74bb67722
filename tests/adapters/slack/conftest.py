"""The emulated Slack and an inlet, for every test of this folder."""

from collections.abc import AsyncIterator

import pytest

from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        emulator.after_seconds = 0.5
        yield emulator


@pytest.fixture
def inlet() -> FakeInlet:
    return FakeInlet()
