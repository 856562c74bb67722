"""What a model call costs: the price table as data, prices set by the owner, and the sum."""

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
"""Tokens are summed up in eighths: a character is two of them, four characters a token."""
_EXTRA = 3
"""Eighths for each byte of UTF-8 beyond one a character: a Chinese character, of three bytes,
is a token then, and a Cyrillic one, of two, five eighths."""


def estimate_usage(request: ModelRequest, answer: Message) -> Usage:
    """What a call would about have cost in tokens; nothing is cached."""
    return Usage(
        input_tokens=estimate_input(request),
        output_tokens=estimate_messages((answer,), ()),
    )


def estimate_input(request: ModelRequest) -> int:
    """How many tokens a request about is."""
    sent = _measure_frozen(request.system, request.tools)
    sent += _measure(request.messages, request.images)
    return -(-sent // _EIGHTHS)


def estimate_messages(messages: Iterable[Message], shown: Collection[str]) -> int:
    """How many tokens messages about are; `shown` are the keys of pictures that are shown."""
    return -(-_measure(messages, shown) // _EIGHTHS)


@lru_cache(maxsize=64)
def _measure_frozen(system: str, tools: tuple[ToolSpec, ...]) -> int:
    """Eighths of tokens of what comes again in every call of a talk."""
    return _size(system) + sum(
        _size(tool.name) + _size(tool.description) + _size(tool.schema) for tool in tools
    )


def _measure(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Eighths of tokens. Words come first: this runs over the whole talk before every call."""
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
"""Tokens of input and answer together."""

UNKNOWN = 128_000
"""What is assumed of a model that is not listed. One that reads less says so when it is asked,
and the talk is made shorter then."""

_WINDOW_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


def find_window(model: str) -> int:
    """How many tokens a model, whose name may carry a release date, takes in one call."""
    return WINDOWS.get(model) or WINDOWS.get(_WINDOW_DATE.sub("", model), UNKNOWN)


Cost = Callable[[str, Usage], int | None]
"""Micro-dollars of a call to a model by its name, None where no price is known."""


def bill(
    model: str, taken: Usage, purpose: str, cost: Cost, asked: Fingerprint | None = None
) -> ModelCall:
    """The row of a call; `model` is the name that answered, `asked` what it was made of."""
    return ModelCall(
        purpose=purpose,
        model=model,
        input_tokens=taken.input_tokens,
        cache_read_tokens=taken.cache_read_tokens,
        cache_write_tokens=taken.cache_write_tokens,
        output_tokens=taken.output_tokens,
        micro_dollars=cost(model, taken),
        request_hash=asked.hash if asked else None,
        asked_model=asked.model if asked else None,
        output_limit=asked.output_limit if asked else None,
    )


AS_OF = "2026-11-20"
SOURCE = "Anthropic's list prices of the 5.5 generation, as known on `AS_OF`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens, as micro-dollars: 4 dollars are 4_000_000.

    Above `long_from` tokens of input, all of a request costs `long_factor` times as much.
    `cached` is what reading from the cache costs; None for a tenth of `input`. `as_of` is the
    day, as YYYY-MM-DD, on which the price was looked up.
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
    """What calls cost here: the table above, with what the owner has set beside and before it."""

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
        """What a call cost, in micro-dollars, rounded up; None where the price isn't known.

        Writing to the cache costs 1.25 times as much as fresh input, or twice for a
        `cache_ttl` of "1h".
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
    """A model and its price from `MODEL in=0.25 out=2.00 cached=0.025 date=2026-11-01`.

    Dollars are for a million tokens. Without `cached`, reading from the cache costs as much
    as fresh input. Raises `ValueError` with what the text has to be.
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
    """Dollars as micro-dollars. Raises `ValueError` with what the text has to be."""
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text) or float(text) > _MOST_DOLLARS:
        raise ValueError(_FORM)
    return round(float(text) * 1_000_000)
