"""What a call costs."""

import pytest

from agent_core.models.catalog import Price, Prices, load_table, parse_price
from agent_core.models.contract import Usage
from tests.tables import check_each

cost = Prices().cost
MILLION = 1_000_000


def test_a_million_tokens_cost_the_list_price() -> None:
    usage = Usage(input_tokens=MILLION, output_tokens=MILLION)
    assert cost("claude-opus-5-5", usage) == 24 * MILLION
    assert cost("claude-sonnet-5-5", usage) == 12 * MILLION
    assert cost("claude-fable-5-2", usage) == 48 * MILLION


def test_the_cache_reads_for_less_and_writes_for_more() -> None:
    model = "claude-opus-5-5"
    assert cost(model, Usage(cache_read_tokens=MILLION)) == 200_000
    assert cost(model, Usage(cache_write_tokens=MILLION)) == 5 * MILLION
    assert Prices(cache_ttl="1h").cost(model, Usage(cache_write_tokens=MILLION)) == 8 * MILLION


def test_the_cache_of_a_model_without_prices_for_it_reads_for_a_tenth() -> None:
    model = "claude-fable-5-2"
    assert cost(model, Usage(cache_read_tokens=MILLION)) == 800_000
    assert cost(model, Usage(cache_write_tokens=MILLION)) == 10 * MILLION


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


def test_no_price_is_negative_or_upside_down() -> None:
    for name, facts in load_table().models.items():
        assert 0 <= facts.price.input <= facts.price.output, name


@pytest.mark.parametrize(
    "name",
    ["openai:gpt-5-mini", "gpt-5-mini", "gpt-5-mini-2025-08-07"],
)
def test_a_name_with_its_provider_has_the_price_of_the_model(name: str) -> None:
    assert cost(name, Usage(input_tokens=MILLION)) == 250_000


def test_a_local_model_of_an_open_name_has_no_price() -> None:
    for name in ("qwen3:8b", "llama3:latest", "openai/gpt-oss-20b", "gpt-oss-20b"):
        assert cost(name, Usage(input_tokens=1)) is None


def test_a_model_of_this_machine_is_free_unless_its_owner_sets_a_price() -> None:
    """Its tokens are counted, as those of a model without a price."""
    here = Prices(here=frozenset({"qwen3:8b", "gpt-5-mini"}))
    for name in ("qwen3:8b", "openai:qwen3:8b"):
        assert here.is_free(name), name
        assert here.is_known(name), name
        assert here.cost(name, Usage(input_tokens=MILLION)) is None, name
    for name in ("other", "gpt-5-mini"):
        assert not here.is_free(name), name
    assert not here.is_known("other")
    assert here.cost("gpt-5-mini", Usage(input_tokens=MILLION)) == 250_000, "of a proxy"
    own = Prices(here=here.here, own={"qwen3:8b": Price(input=1, output=1)})
    assert not own.is_free("qwen3:8b")
    assert own.cost("qwen3:8b", Usage(input_tokens=MILLION)) == 1


def test_a_price_that_the_owner_sets_is_read_with_its_date() -> None:
    name, price = parse_price("gpt-5-mini in=0.25 out=2.00 cached=0.025 date=2026-11-01")
    assert name == "gpt-5-mini"
    assert price == Price(input=250_000, output=2_000_000, cached=25_000, as_of="2026-11-01")
    prices = Prices(own={name: price})
    spent = Usage(input_tokens=MILLION, cache_read_tokens=MILLION, output_tokens=MILLION)
    assert prices.cost("gpt-5-mini", spent) == 2_275_000
    assert prices.cost("openai:gpt-5-mini", spent) == 2_275_000


def test_without_a_price_for_the_cache_it_costs_as_much_as_fresh_input() -> None:
    _, price = parse_price("m in=0.25 out=2 date=2026-11-01")
    assert Prices(own={"m": price}).cost("m", Usage(cache_read_tokens=MILLION)) == 250_000


def test_the_owners_price_wins_over_the_one_that_comes_along() -> None:
    own = dict([parse_price("claude-opus-5-5 in=1 out=1 date=2026-11-21")])
    prices = Prices(own=own)
    assert prices.cost("claude-opus-5-5-20260901", Usage(output_tokens=MILLION)) == MILLION
    assert prices.cost("claude-sonnet-5-5", Usage(output_tokens=MILLION)) == 10 * MILLION


UNREADABLE_PRICES = (
    "",
    "m",
    "in=1 out=1 date=2026-11-01",
    "m in=1 out=1",
    "m in=1 date=2026-11-01",
    "m in=1 in=1 out=1 date=2026-11-01",
    "m in=-1 out=1 date=2026-11-01",
    "m in=nan out=1 date=2026-11-01",
    "m in=1e9 out=1 date=2026-11-01",
    "m in=999999 out=1 date=2026-11-01",
    "m in=1 out=1 date=yesterday",
    "m in=1 out=1 date=2026-13-01",
    "m in=1 out=1 date=2026-11-01 now",
    "m in=1 out=1 date=2026-11-01 write=2",
)


def test_a_price_that_can_not_be_read_is_refused_with_what_it_has_to_be() -> None:
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="in US dollars for a million tokens"):
            parse_price(text)

    check_each(UNREADABLE_PRICES, check)
