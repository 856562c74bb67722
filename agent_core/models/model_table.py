"""Facts about models from a maintained table: prices, context windows and what a model can see.

The table is LiteLLM's (MIT licence), reduced to what Talaria reads. A snapshot is part of the
package; `talaria models update` writes a newer one to the home directory.
"""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent_core.models.router import split_name

SOURCE = (
    "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"
)
"""The complete table."""
_SNAPSHOT = Path(__file__).with_name("model_table.json")
_PROVIDERS = ("anthropic", "openai", "gemini", "mistral", "xai", "deepseek")
"""Providers whose names of models are unique. Hosts of open models use the names that local servers
use, too, and a local model is free.
"""
_KINDS = ("chat", "responses")
_LEAST_MODELS = 50
"""A table with fewer models is a wrong file."""
_PER_MILLION = 1_000_000_000_000
"""Micro-dollars for a million tokens, of one dollar per token."""
_LONG = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_RELEASE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Micro-dollars per million tokens: 4 dollars are 4_000_000.

    Without a price of their own, `cached` input costs a tenth of `input`, cache writes (`written`)
    1.25 times as much, and those for an hour (`written_1h`) twice. With more than `long_from` input
    tokens, all of a request costs the `long` price. `as_of` is the day of the price, YYYY-MM-DD.
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
    """The price of a model, the input tokens that it reads, and whether it sees images."""

    price: Price
    window: int | None = None
    sees_images: bool | None = None


_ADDED: Mapping[str, ModelFacts] = {
    "claude-fable-5-2": ModelFacts(
        price=Price(input=8_000_000, output=40_000_000, as_of="2026-11-20"),
        window=1_000_000,
        sees_images=True,
    ),
    # Talaria's own stand-in costs nothing, which is not the same as an unknown price.
    "stand-in": ModelFacts(
        price=Price(input=0, output=0, as_of="2026-11-20"), window=1_000_000, sees_images=False
    ),
}
"""Models that the table lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """The facts of many models, by name."""

    as_of: str
    models: Mapping[str, ModelFacts]

    def find(self, name: str) -> ModelFacts | None:
        """The facts of a model, whose name may carry a provider and a release date."""
        _, plain = split_name(name)
        for known in (plain, _RELEASE.sub("", plain)):
            found = self.models.get(known) or _ADDED.get(known)
            if found:
                return found
        return None


@lru_cache(maxsize=8)
def load_table(newer: Path | None = None) -> ModelTable:
    """Read a newer table if there is a valid one, else the snapshot of the package."""
    if newer and newer.exists():
        try:
            return _read(newer.read_bytes())
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.error("%s can't be read (%r); using the table of the package", newer, error)
    return _read(_SNAPSHOT.read_bytes())


def reduce_table(whole: bytes, as_of: date) -> bytes:
    """Reduce the complete table of a day to what Talaria reads. Raises `ValueError`."""
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
    """The name and the facts of an entry; none for a model that Talaria can't use or price."""
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
    )
