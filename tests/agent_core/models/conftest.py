"""Every provider in turn; the folder of one provider overrides `provider`."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.agent_core.models.providers import PROVIDERS, Provider
from tests.agent_core.models.rig import Rig, connected


@pytest.fixture(params=PROVIDERS, ids=lambda provider: provider.name)
def provider(request: pytest.FixtureRequest) -> Provider:
    found: Provider = request.param
    return found


@pytest.fixture
async def api(provider: Provider) -> AsyncIterator[Any]:
    async with provider.emulator(key="good-key") as api:
        yield api


@pytest.fixture
async def rig(provider: Provider, api: Any) -> AsyncIterator[Rig]:
    async with connected(provider, api) as rig:
        yield rig
