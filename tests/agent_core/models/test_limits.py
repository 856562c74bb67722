"""What models can read."""

import pytest

from agent_core.models.catalog import UNKNOWN, find_window


@pytest.mark.parametrize(
    "name", ["claude-haiku-5-5", "claude-haiku-5-5-20260901", "anthropic:claude-haiku-5-5"]
)
def test_a_model_is_found_with_and_without_provider_and_release(name: str) -> None:
    assert find_window(name) == 1_000_000


def test_a_model_that_is_not_listed_gets_a_careful_guess() -> None:
    assert find_window("llama-of-tomorrow") == UNKNOWN
