"""A maintained table of models: prices, context windows and supported inputs.

The table is LiteLLM's (MIT licence), reduced to the data that Talaria reads. The package contains a
snapshot; `talaria models update` writes a newer one to the home directory.
"""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from agent_core.models.contract import ModelAnswer, Usage
from agent_core.models.router import split_name
from agent_core.state.conversations.usage import ModelCall

SOURCE = (
    "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"
)
"""The address of the complete table."""
_SNAPSHOT = Path(__file__).with_name("model_table.json")
_PROVIDERS = ("anthropic", "openai", "gemini", "mistral", "xai", "deepseek")
"""Providers with unique model names. Hosts of open models use the same names as local servers, and
local models are free.
"""
_KINDS = ("chat", "responses")
_LEAST_MODELS = 50
"""A table with fewer models must be the wrong file."""
_PER_MILLION = 1_000_000_000_000
"""Micro-dollars for a million tokens at one dollar per token."""
_LONG = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_RELEASE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Micro-dollars per million tokens: 4 dollars are 4_000_000.

    If a price is missing, `cached` input costs a tenth of `input`, cache writes (`written`) cost
    1.25 times as much as `input`, and cache writes for an hour (`written_1h`) twice as much. If a
    request has more than `long_from` input tokens, all of it costs the `long` price. `as_of` is the
    day of the price, YYYY-MM-DD.
    """

    input: int
    output: int
    cached: int | None = None
    written: int | None = None
    written_1h: int | None = None
    long_from: int | None = None
    long: "Price | None" = None
    as_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """The price of a model, its limit of input tokens, and which inputs it reads besides text."""

    price: Price
    window: int | None = None
    sees_images: bool | None = None
    reads_pdf: bool | None = None


_ADDED: Mapping[str, ModelFacts] = {
    "claude-fable-5-2": ModelFacts(
        price=Price(input=8_000_000, output=40_000_000, as_of="2026-11-20"),
        window=1_000_000,
        sees_images=True,
        reads_pdf=True,
    ),
    # Talaria's own stand-in is free, which differs from an unknown price.
    "stand-in": ModelFacts(
        price=Price(input=0, output=0, as_of="2026-11-20"), window=1_000_000, sees_images=False
    ),
}
"""Models that are missing in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """The facts of many models, by name."""

    as_of: str
    models: Mapping[str, ModelFacts]

    def find(self, name: str) -> ModelFacts | None:
        """Return the facts of a model; its name may include a provider and a release date."""
        _, plain = split_name(name)
        return self._get(plain) or self._get(_RELEASE.sub("", plain))

    def _get(self, known: str) -> ModelFacts | None:
        return self.models.get(known) or _ADDED.get(known)


@lru_cache(maxsize=8)
def load_table(newer: Path | None = None) -> ModelTable:
    """Read the newer table if it exists and is valid, else the package's snapshot."""
    if newer and newer.exists():
        try:
            return _read(newer.read_bytes())
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.error("%s can't be read (%r); using the table of the package", newer, error)
    return _load_snapshot()


@cache
def _load_snapshot() -> ModelTable:
    return _read(_SNAPSHOT.read_bytes())


def reduce_table(whole: bytes, as_of: date) -> bytes:
    """Reduce the complete table of a day to the data that Talaria reads. Raises `ValueError`."""
    try:
        entries = json.loads(whole)
        models = {
            name: facts
            for key, entry in sorted(entries.items())
            for name, facts in _reduce(key, entry)
        }
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"it is no table of models ({error!r})") from error
    if len(models) < _LEAST_MODELS:
        raise ValueError(f"it holds {len(models)} models with a price, fewer than {_LEAST_MODELS}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(models[name])}" for name in sorted(models))
    return f'{{"as_of": "{as_of.isoformat()}", "models": {{\n{lines}\n}}}}\n'.encode()


def _reduce(key: str, entry: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return an entry's name and facts; empty for a model that Talaria can't use or price."""
    provider = entry.get("litellm_provider")
    name = key.removeprefix(f"{provider}/")
    if provider not in _PROVIDERS or entry.get("mode") not in _KINDS or "/" in name:
        return []
    price = _reduce_price(entry, "")
    if price is None or not (price["input"] or price["output"]):
        return []
    long = next((found for field in entry if (found := _LONG.fullmatch(field))), None)
    if long:
        price["long_from"] = int(long[1]) * 1000
        price["long"] = _reduce_price(entry, f"_above_{long[1]}k_tokens")
    window = entry.get("max_input_tokens")
    facts = {
        "price": price,
        "window": window if isinstance(window, int) else None,
        "sees_images": bool(entry.get("supports_vision")),
        "reads_pdf": bool(entry.get("supports_pdf_input")),
    }
    return [(name, facts)]


_FIELDS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "written": "cache_creation_input_token_cost",
    "written_1h": "cache_creation_input_token_cost_above_1hr",
}


def _reduce_price(entry: Mapping[str, Any], suffix: str) -> dict[str, Any] | None:
    given = {name: entry.get(f"{field}{suffix}") for name, field in _FIELDS.items()}
    price = {
        name: round(cost * _PER_MILLION)
        for name, cost in given.items()
        if isinstance(cost, int | float) and cost >= 0
    }
    return price if {"input", "output"} <= price.keys() else None


def _read(reduced: bytes) -> ModelTable:
    table = json.loads(reduced)
    as_of = date.fromisoformat(table["as_of"]).isoformat()
    return ModelTable(
        as_of=as_of,
        models={name: _read_facts(facts, as_of) for name, facts in table["models"].items()},
    )


def _read_facts(facts: Mapping[str, Any], as_of: str) -> ModelFacts:
    price = dict(facts["price"])
    long = price.pop("long", None)
    return ModelFacts(
        price=Price(**price, as_of=as_of, long=Price(**long, as_of=as_of) if long else None),
        window=facts["window"],
        sees_images=facts["sees_images"],
        reads_pdf=facts.get("reads_pdf"),  # an older table lacks this field
    )


UNKNOWN = 128_000
"""The assumed window of unlisted models, in tokens. A model with a smaller window refuses the
request, and then the conversation is compacted.
"""


def find_window(model: str) -> int:
    """Return the context window of a model in tokens.

    The model's name may include a provider and a release date.
    """
    facts = load_table().find(model)
    return (facts and facts.window) or UNKNOWN


def is_everyday(model: str) -> bool:
    """True for a listed model whose name has no release date."""
    return load_table().find(model) is not None and not _RELEASE.search(model)


def reads_pdf(model: str) -> bool:
    """True for a listed model that reads PDF files.

    An unlisted model might refuse a request with a PDF.
    """
    facts = load_table().find(model)
    return bool(facts and facts.reads_pdf)


def bill(answer: ModelAnswer, purpose: str) -> ModelCall:
    """Make the usage row of a call."""
    fingerprint = answer.fingerprint
    return ModelCall(
        purpose=purpose,
        model=answer.model,
        **asdict(answer.usage),
        micro_dollars=answer.micro_dollars,
        request_hash=fingerprint.hash if fingerprint else None,
        asked_model=fingerprint.model if fingerprint else None,
        output_limit=fingerprint.output_limit if fingerprint else None,
        request_shape=fingerprint.shape if fingerprint else "",
    )


_READ_PERCENT = 10
_WRITE_PERCENT = {"5m": 125, "1h": 200}
_DATE = re.compile(r"-\d{8}$")
_MOST_DOLLARS = 100_000
_FORM = '"MODEL in=0.25 out=2.00 date=2026-11-01", in US dollars for a million tokens'


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The price table, and the owner's own prices, which take precedence."""

    cache_ttl: str = "5m"
    own: Mapping[str, Price] = field(default_factory=dict)
    table: ModelTable = field(default_factory=load_table)
    here: frozenset[str] = frozenset()
    """Models that run on this machine."""

    def find(self, model: str) -> Price | None:
        """Return the price of a model; its name may include a provider and a release date."""
        plain = split_name(model)[1]
        if self.own:
            own = self.own.get(model) or self.own.get(plain) or self.own.get(_DATE.sub("", plain))
            if own:
                return own
        facts = self.table.find(model)
        return facts.price if facts else None

    def is_free(self, model: str) -> bool:
        """Return whether a call costs no money, so that only its tokens are counted.

        A vendor's name has the vendor's price, as a proxy on this machine may pass calls on to it.
        """
        return split_name(model)[1] in self.here and self.find(model) is None

    def is_known(self, model: str) -> bool:
        """Return whether it is known what a call costs, so that a limit in dollars can be kept."""
        return self.find(model) is not None or self.is_free(model)

    def cost(self, model: str, usage: Usage) -> int | None:
        """Return the cost of a call in micro-dollars, rounded up; None without a known price."""
        price = self.find(model)
        return None if price is None else self.charge(price, usage)

    def charge(self, price: Price, usage: Usage) -> int:
        """Return the cost of a call at a price, in micro-dollars, rounded up."""
        if price.long and price.long_from is not None and usage.read_tokens > price.long_from:
            price = price.long
        cached, written = self._find_cache_prices(price)
        millionths = (
            usage.input_tokens * price.input
            + usage.cache_read_tokens * cached
            + usage.cache_write_tokens * written
            + usage.output_tokens * price.output
        )
        return -(-millionths // 1_000_000)

    def find_cache_effect(self, model: str, usage: Usage) -> tuple[int, int] | None:
        """Return the savings of cache reads, and the extra cost of cache writes, in micro-dollars.

        The extra cost is what cache writes cost above plain input. Savings and extra cost use the
        price of requests of ordinary length.
        None without a known price.
        """
        price = self.find(model)
        if price is None:
            return None
        cached, written = self._find_cache_prices(price)
        saved = usage.cache_read_tokens * (price.input - cached)
        extra = usage.cache_write_tokens * (written - price.input)
        return saved // 1_000_000, -(-extra // 1_000_000)

    def _find_cache_prices(self, price: Price) -> tuple[int, int]:
        """Return the prices of a million tokens read from the cache, and written to it."""
        written = price.written_1h if self.cache_ttl == "1h" else price.written
        if written is None:
            written = price.input * _WRITE_PERCENT[self.cache_ttl] // 100
        return price.input * _READ_PERCENT // 100 if price.cached is None else price.cached, written


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
