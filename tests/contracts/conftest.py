"""One platform after the other, for every test of the suite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contracts.rig import Rig, running
from tests.contracts.rigs import RIGS
from tests.fakes.inlet import FakeInlet


@pytest.fixture
def inlet() -> FakeInlet:
    return FakeInlet()


@pytest.fixture(params=RIGS)
async def resting(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A platform whose adapter does not run yet."""
    async with RIGS[request.param](tmp_path) as rig:
        yield rig


@pytest.fixture
async def rig(resting: Rig, inlet: FakeInlet) -> AsyncIterator[Rig]:
    """A platform with its adapter running."""
    async with running(resting, inlet):
        yield resting
