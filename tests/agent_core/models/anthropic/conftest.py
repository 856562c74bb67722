"""The emulator and the provider that talks to it."""

from collections.abc import AsyncIterator

import pytest

from agent_core.models.anthropic import create
from agent_core.models.contract import Model
from tests.emulators.anthropic import AnthropicEmulator


@pytest.fixture
async def api() -> AsyncIterator[AnthropicEmulator]:
    async with AnthropicEmulator(key="good-key") as api:
        yield api


@pytest.fixture
async def model(api: AnthropicEmulator) -> AsyncIterator[Model]:
    made: Model = create({"api_key": "good-key", "base_url": api.url, "timeout": "5"})
    yield made
    await made.close()
