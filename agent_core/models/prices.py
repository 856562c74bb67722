"""What a model call costs: the price table as data, and the sum for one call."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.models.contract import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens, as micro-dollars: 4 dollars are 4_000_000.

    Above `long_from` tokens of input, all of a request costs `long_factor` times as much.
    """

    input: int
    output: int
    long_from: int | None = None
    long_factor: int = 1


AS_OF = "2026-11-20"
SOURCE = "Anthropic's list prices of the 5.5 generation, as known on `AS_OF`"

PRICES: Mapping[str, Price] = {
    "claude-opus-5-5": Price(input=4_000_000, output=20_000_000),
    "claude-sonnet-5-5": Price(input=2_000_000, output=10_000_000),
    "claude-haiku-5-5": Price(input=100_000, output=500_000, long_from=100_000, long_factor=5),
    "claude-fable-5-2": Price(input=8_000_000, output=40_000_000),
    # Talaria's own stand-in costs nothing, which is not the same as an unknown price.
    "stand-in": Price(input=0, output=0),
}

_READ_PERCENT = 10
_WRITE_PERCENT = {"5m": 125, "1h": 200}
_DATE = re.compile(r"-\d{8}$")


def cost(model: str, usage: Usage, cache_ttl: str = "5m") -> int | None:
    """What a call cost, in micro-dollars, rounded up; None where the price isn't known.

    `model` may carry a release date (`claude-opus-5-5-20260901`). Reading from the cache costs
    a tenth of fresh input; writing 1.25 times as much, or twice for `cache_ttl` "1h".
    """
    price = PRICES.get(model) or PRICES.get(_DATE.sub("", model))
    if price is None:
        return None
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    is_long = price.long_from is not None and prompt > price.long_from
    hundredths = (
        usage.input_tokens * price.input * 100
        + usage.cache_read_tokens * price.input * _READ_PERCENT
        + usage.cache_write_tokens * price.input * _WRITE_PERCENT[cache_ttl]
        + usage.output_tokens * price.output * 100
    ) * (price.long_factor if is_long else 1)
    return -(-hundredths // 100_000_000)
