"""The emulator and the provider that talks to it."""

from collections.abc import AsyncIterator

import pytest

from agent_core.models.contract import Model
from agent_core.models.openai import create
from tests.emulators.openai import OpenAIEmulator


@pytest.fixture
async def api() -> AsyncIterator[OpenAIEmulator]:
    async with OpenAIEmulator() as api:
        yield api


@pytest.fixture
async def model(api: OpenAIEmulator) -> AsyncIterator[Model]:
    made: Model = create({"base_url": api.base_url, "timeout": "5"})
    yield made
    await made.close()
