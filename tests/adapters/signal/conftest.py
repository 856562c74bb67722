"""An emulated signal-cli, and an adapter that is connected to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.signal.rig import Rig, running
from tests.emulators.signal import SignalEmulator
from tests.fakes.inlet import FakeInlet


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[SignalEmulator]:
    async with SignalEmulator(path=tmp_path / "s") as emulator:
        yield emulator


@pytest.fixture
async def rig(daemon: SignalEmulator, inlet: FakeInlet) -> AsyncIterator[Rig]:
    async with running(daemon, inlet) as rig:
        yield rig
