"""The last days in the reader's time zone, and the sums of model calls on each day."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeVar

from agent_core.agent.quotas.balance import day_of
from agent_core.models.catalog import Prices
from agent_core.models.contract import Usage
from agent_core.state.conversations.usage_sums import Amounts, UsageSum

DAYS = 30
"""Days of a chart, including today."""
SERIES = 5
"""Most series of a chart that have a name of their own."""
_NONE = Amounts()

Key = TypeVar("Key", str, tuple[str, str])

Span = tuple[int, int]
"""A day: its start and the start of the next day, in milliseconds UTC."""
Daily = Sequence[Amounts]
"""Sums for each day, oldest first."""


def list_days(now: int, zone: str) -> list[Span]:
    """List the last days in a time zone, oldest first."""
    spans: list[Span] = []
    moment = now
    for _ in range(DAYS):
        day = day_of(moment, zone)
        spans.append((day.start, day.end))
        moment = day.start - 1
    return spans[::-1]


def add_up(found: Iterable[UsageSum | Amounts]) -> Amounts:
    """Return the sum of the amounts."""
    amounts = (one.amounts if isinstance(one, UsageSum) else one for one in found)
    return reduce(add, amounts, _NONE)


def group(
    days: Sequence[Sequence[UsageSum]], key: Callable[[UsageSum], Key]
) -> list[tuple[Key, Daily]]:
    """Group the sums of each day, most expensive group first."""
    names = sorted({key(one) for day in days for one in day})
    found = [
        (name, [add_up(one for one in day if key(one) == name) for day in days]) for name in names
    ]
    return sorted(found, key=lambda one: _weigh(add_up(one[1])), reverse=True)


def _weigh(amounts: Amounts) -> tuple[int, int, int]:
    """Return a sort key: money first, then tokens without a price, then the number of calls."""
    charged = amounts.charged
    return charged.micro_dollars, charged.unpriced_tokens, amounts.calls


def limit_series(
    groups: Sequence[tuple[str, Daily]], whole: Daily, others: str
) -> list[tuple[str, Daily]]:
    """Keep the first groups, and add one named `others` if they don't cover the whole."""
    kept = list(groups[:SERIES])
    rest = [one - add_up(daily[at] for _, daily in kept) for at, one in enumerate(whole)]
    return [*kept, (others, rest)] if any(one.calls for one in rest) else kept


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """The effect of caching, in tokens and micro-dollars.

    `saved` is the money that reading from the cache saved. `extra` is what writing to the cache
    cost beyond plain input. Neither includes the models in `unpriced`.
    """

    read_tokens: int
    percent: int
    saved: int
    extra: int
    is_priced: bool
    unpriced: Sequence[str]


def report_caching(models: Sequence[tuple[str, Daily]], prices: Prices) -> CacheReport:
    """Report what caching saved with all models, at today's prices."""
    totals = {model: add_up(daily) for model, daily in models}
    cached = {
        model: prices.find_cache_effect(
            model,
            Usage(
                cache_read_tokens=one.cache_read_tokens, cache_write_tokens=one.cache_write_tokens
            ),
        )
        for model, one in totals.items()
        if one.cache_read_tokens or one.cache_write_tokens
    }
    whole = add_up(totals.values())
    known = [effect for effect in cached.values() if effect is not None]
    return CacheReport(
        read_tokens=whole.cache_read_tokens,
        percent=100 * whole.cache_read_tokens // max(whole.read_tokens, 1),
        saved=sum(saved for saved, _ in known),
        extra=sum(extra for _, extra in known),
        is_priced=bool(known),
        unpriced=[model for model, effect in cached.items() if effect is None],
    )
