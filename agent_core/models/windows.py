"""How much each model can read: the table as data, with its date."""

import re
from collections.abc import Mapping

AS_OF = "2026-11-21"
SOURCE = "the descriptions that the providers gave of their models, as known on `AS_OF`"

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

_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


def find_window(model: str) -> int:
    """How many tokens a model, whose name may carry a release date, takes in one call."""
    return WINDOWS.get(model) or WINDOWS.get(_DATE.sub("", model), UNKNOWN)
