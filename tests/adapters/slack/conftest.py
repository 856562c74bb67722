"""The emulated Slack, and an adapter that is connected to it."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.slack.rig import Rig, running
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        emulator.after_seconds = 0.5
        yield emulator


@pytest.fixture
async def rig(slack: SlackEmulator, inlet: FakeInlet) -> AsyncIterator[Rig]:
    async with running(slack, inlet) as rig:
        yield rig
