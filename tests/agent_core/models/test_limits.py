"""What models can read."""

from datetime import date

import pytest

from agent_core.models.catalog import PRICES, UNKNOWN, WINDOWS, find_window
from agent_core.models.catalog import WINDOWS_AS_OF as AS_OF


@pytest.mark.parametrize("name", ["claude-haiku-5-5", "claude-haiku-5-5-20260901"])
def test_a_model_is_found_with_and_without_the_date_of_its_release(name: str) -> None:
    assert find_window(name) == WINDOWS["claude-haiku-5-5"]


def test_a_model_that_is_not_listed_gets_a_careful_guess() -> None:
    assert find_window("llama-of-tomorrow") == UNKNOWN


def test_every_model_with_a_price_has_a_window() -> None:
    assert PRICES.keys() <= WINDOWS.keys()
    assert date.fromisoformat(AS_OF)
