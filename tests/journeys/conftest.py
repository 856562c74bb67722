"""The deployments of the journeys."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.journeys.stage import Stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path / "home") as made:
        yield made


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage with all three platforms."""
    async with Stage(tmp_path / "home", ("telegram", "discord", "slack")) as made:
        yield made


@pytest.fixture
async def apps(tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage with all five chat apps."""
    every = ("telegram", "discord", "slack", "signal", "whatsapp")
    async with Stage(tmp_path / "home", every) as made:
        yield made
