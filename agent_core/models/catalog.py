"""Token estimates, context windows and prices of models."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from agent_core.models.contract import Fingerprint, ModelRequest, Usage
from agent_core.models.images import IMAGE_TOKENS, UNSEEN
from agent_core.state.conversations.usage import ModelCall
from agent_core.transcript import (
    ImagePart,
    Message,
    Part,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolSpec,
)

_EIGHTHS = 8
"""Tokens are summed in eighths: a character is two eighths, so four characters are a token."""
_EXTRA = 3
"""Eighths for each byte of UTF-8 beyond one per character: a three-byte Chinese character is a
token, a two-byte Cyrillic one five eighths.
"""


def estimate_usage(request: ModelRequest, answer: Message) -> Usage:
    """Estimate the usage of a call without any caching."""
    return Usage(
        input_tokens=estimate_input(request),
        output_tokens=estimate_messages((answer,), ()),
    )


def estimate_input(request: ModelRequest) -> int:
    """Estimate the input tokens of a request."""
    sent = _measure_frozen(request.system, request.tools)
    sent += _measure(request.messages, request.images)
    return -(-sent // _EIGHTHS)


def estimate_messages(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Estimate the tokens of messages; `shown` are the keys of the images that are sent."""
    return -(-_measure(messages, shown) // _EIGHTHS)


@lru_cache(maxsize=64)
def _measure_frozen(system: str, tools: tuple[ToolSpec, ...]) -> int:
    """Eighths of tokens in the parts that every call of a conversation repeats."""
    return _size(system) + sum(
        _size(tool.name) + _size(tool.description) + _size(tool.schema) for tool in tools
    )


def _measure(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Eighths of tokens in messages. Text is checked first: this runs over the whole transcript
    before every call.
    """
    size = 0
    for message in messages:
        for part in message.parts:
            if type(part) is TextPart:
                text = part.text
                size += 2 * len(text) if text.isascii() else _size(text)
            else:
                size += _length(part, shown)
    return size


def _length(part: Part, shown: Collection[str]) -> int:
    if isinstance(part, ImagePart):
        return IMAGE_TOKENS * _EIGHTHS if part.file_key in shown else _size(UNSEEN)
    if isinstance(part, ToolCallPart):
        return _size(part.name) + _size(part.arguments)
    if isinstance(part, RawPart):
        return _size(part.payload)
    return _size(part.text) + (0 if isinstance(part, TextPart) else _size(part.name))


def _size(text: str) -> int:
    size = 2 * len(text)
    if text.isascii():
        return size
    return size + _EXTRA * (len(text.encode(errors="surrogatepass")) - len(text))


WINDOWS_AS_OF = "2026-11-21"
WINDOWS_SOURCE = "the descriptions that the providers gave of their models, as known on `AS_OF`"

WINDOWS: Mapping[str, int] = {
    "claude-opus-5-5": 1_000_000,
    "claude-sonnet-5-5": 1_000_000,
    "claude-haiku-5-5": 1_000_000,
    "claude-fable-5-2": 1_000_000,
    "gpt-5-mini": 400_000,
    "gpt-5": 400_000,
    "stand-in": 1_000_000,
}
"""Input and output tokens together."""

UNKNOWN = 128_000
"""Assumed for unlisted models. A model with a smaller window refuses the request, and the
conversation is compacted then.
"""

_WINDOW_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


def find_window(model: str) -> int:
    """The context window of a model, whose name may carry a release date."""
    return WINDOWS.get(model) or WINDOWS.get(_WINDOW_DATE.sub("", model), UNKNOWN)


Cost = Callable[[str, Usage], int | None]
"""Micro-dollars of a call by model name; None without a known price."""


def bill(
    model: str, taken: Usage, purpose: str, cost: Cost, fingerprint: Fingerprint | None = None
) -> ModelCall:
    """The usage row of a call; `model` is the name that answered."""
    return ModelCall(
        purpose=purpose,
        model=model,
        input_tokens=taken.input_tokens,
        cache_read_tokens=taken.cache_read_tokens,
        cache_write_tokens=taken.cache_write_tokens,
        output_tokens=taken.output_tokens,
        micro_dollars=cost(model, taken),
        request_hash=fingerprint.hash if fingerprint else None,
        asked_model=fingerprint.model if fingerprint else None,
        output_limit=fingerprint.output_limit if fingerprint else None,
    )


AS_OF = "2026-11-20"
SOURCE = "Anthropic's list prices of the 5.5 generation, as known on `AS_OF`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Micro-dollars per million tokens: 4 dollars are 4_000_000.

    Above `long_from` input tokens, all of a request costs `long_factor` times as much. `cached` is
    the price of cached input; None for a tenth of `input`. `as_of` is the day of the price, as
    YYYY-MM-DD.
    """

    input: int
    output: int
    cached: int | None = None
    long_from: int | None = None
    long_factor: int = 1
    as_of: str = AS_OF


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
_MOST_DOLLARS = 100_000
_FORM = '"MODEL in=0.25 out=2.00 date=2026-11-01", in US dollars for a million tokens'


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The price table with the owner's additions and overrides."""

    cache_ttl: str = "5m"
    own: Mapping[str, Price] = field(default_factory=dict)

    def find(self, model: str) -> Price | None:
        """The price of a model, whose name may carry a release date (`…-20260901`)."""
        names = (model, _DATE.sub("", model))
        for table in (self.own, PRICES):
            for name in names:
                if name in table:
                    return table[name]
        return None

    def cost(self, model: str, usage: Usage) -> int | None:
        """The cost of a call in micro-dollars, rounded up; None without a known price.

        A cache write costs 1.25 times as much as fresh input, or twice with a `cache_ttl` of "1h".
        """
        price = self.find(model)
        if price is None:
            return None
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        is_long = price.long_from is not None and prompt > price.long_from
        read = price.input * _READ_PERCENT if price.cached is None else price.cached * 100
        hundredths = (
            usage.input_tokens * price.input * 100
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * price.input * _WRITE_PERCENT[self.cache_ttl]
            + usage.output_tokens * price.output * 100
        ) * (price.long_factor if is_long else 1)
        return -(-hundredths // 100_000_000)


def parse_price(text: str) -> tuple[str, Price]:
    """Parse a model and its price from `MODEL in=0.25 out=2.00 cached=0.025 date=2026-11-01`.

    Dollars are per million tokens. Without `cached`, cached input costs as much as fresh input.
    Raises `ValueError` with the expected form.
    """
    model, *words = text.split() or [""]
    values = dict(word.split("=", 1) for word in words if "=" in word)
    is_whole = len(values) == len(words) and {"in", "out", "date"} <= values.keys()
    if not model or "=" in model or not is_whole or values.keys() - {"in", "out", "cached", "date"}:
        raise ValueError(_FORM)
    try:
        as_of = date.fromisoformat(values["date"]).isoformat()
    except ValueError as error:
        raise ValueError(_FORM) from error
    fresh = _read_dollars(values["in"])
    return model, Price(
        input=fresh,
        output=_read_dollars(values["out"]),
        cached=_read_dollars(values["cached"]) if "cached" in values else fresh,
        as_of=as_of,
    )


def _read_dollars(text: str) -> int:
    """Convert dollars to micro-dollars. Raises `ValueError` with the expected form."""
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text) or float(text) > _MOST_DOLLARS:
        raise ValueError(_FORM)
    return round(float(text) * 1_000_000)
