"""The provider that this folder is about."""

import pytest

from tests.agent_core.models.providers import OPENAI, Provider


@pytest.fixture
def provider() -> Provider:
    return OPENAI
