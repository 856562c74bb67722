"""The provider that this folder is about."""

import pytest

from tests.agent_core.models.providers import ANTHROPIC, Provider


@pytest.fixture
def provider() -> Provider:
    return ANTHROPIC
