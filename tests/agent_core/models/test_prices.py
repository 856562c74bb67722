"""What a call costs."""

import pytest

from agent_core.models.contract import Usage
from agent_core.models.prices import PRICES, cost

MILLION = 1_000_000


def test_a_million_tokens_cost_the_list_price() -> None:
    usage = Usage(input_tokens=MILLION, output_tokens=MILLION)
    assert cost("claude-opus-5-5", usage) == 24 * MILLION
    assert cost("claude-sonnet-5-5", usage) == 12 * MILLION
    assert cost("claude-fable-5-2", usage) == 48 * MILLION


def test_the_cache_reads_for_a_tenth_and_writes_for_more() -> None:
    model = "claude-opus-5-5"
    assert cost(model, Usage(cache_read_tokens=MILLION)) == 400_000
    assert cost(model, Usage(cache_write_tokens=MILLION)) == 5 * MILLION
    assert cost(model, Usage(cache_write_tokens=MILLION), "1h") == 8 * MILLION


def test_haiku_costs_five_times_as_much_above_a_long_prompt() -> None:
    short = Usage(input_tokens=60_000, cache_read_tokens=40_000, output_tokens=1000)
    long = Usage(input_tokens=60_001, cache_read_tokens=40_000, output_tokens=1000)
    assert cost("claude-haiku-5-5", short) == 6000 + 400 + 500
    assert cost("claude-haiku-5-5", long) == 5 * (6000 + 400 + 500) + 1


def test_a_part_of_a_micro_dollar_counts_as_one() -> None:
    assert cost("claude-haiku-5-5", Usage(input_tokens=1)) == 1
    assert cost("claude-haiku-5-5", Usage()) == 0


def test_a_dated_name_has_its_models_price_and_an_unknown_name_none() -> None:
    usage = Usage(output_tokens=10)
    assert cost("claude-opus-5-5-20260901", usage) == 200
    assert cost("claude-opus-5-5-mini", usage) is None
    assert cost("llama", usage) is None
    assert cost("stand-in", usage) == 0


@pytest.mark.parametrize("model", PRICES)
def test_no_price_is_negative_or_upside_down(model: str) -> None:
    price = PRICES[model]
    assert 0 <= price.input <= price.output
