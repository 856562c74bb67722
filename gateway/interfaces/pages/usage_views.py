"""The pages about usage: a person's own, and everyone's for owners."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal, TypeVar

from agent_core.agent.quotas.balance import Unit, Whose, day_of
from agent_core.agent.quotas.reservations import QuotaStatus
from agent_core.models.catalog import Prices
from agent_core.models.contract import Usage
from agent_core.state.conversations import usage_sums
from agent_core.state.conversations.usage import EVERYONE
from agent_core.state.conversations.usage_sums import Amounts, UsageSum
from agent_core.state.engine.database import Connection
from agent_core.tools.clock import local_time
from gateway.interfaces.pages import charts
from gateway.interfaces.pages.views import Fields, Look
from gateway.texts import usage as texts
from gateway.texts.usage import LIMIT_SETTINGS, name_purpose

DAYS = 30
"""Days of a chart, including today."""
SERIES = 5
"""Most series of a chart that have a name of their own."""
_NONE = Amounts()

UsageKey = TypeVar("UsageKey", str, tuple[str, str])

Span = tuple[int, int]
"""A day: its start and the start of the next day, in milliseconds UTC."""
Daily = Sequence[Amounts]
"""Sums for each day, oldest first."""

By = Literal["model", "purpose", "person"]
_MOST = 50
"""Most people on a page; the most expensive come first."""


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
    days: Sequence[Sequence[UsageSum]], key: Callable[[UsageSum], UsageKey]
) -> list[tuple[UsageKey, Daily]]:
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
        unpriced=[model for model, effect in cached.items() if not prices.is_known(model)],
    )


async def show(look: Look) -> Fields:
    """Read the cost of the person's calls on the last days."""
    person, _ = await look.gateway.quotas.status(look.person.id)
    days = _find_days(look)
    found = await look.gateway.database.read(
        usage_sums.list_sums, person_id=look.person.id, spans=days
    )
    return {
        **_describe(look, days, found, _choose(look, ("model", "purpose"))),
        "budgets": _list_budgets(person, "person"),
        "people": None,
    }


async def show_everyone(look: Look) -> Fields:
    """Read the cost of everyone's calls on the last days; only owners see it."""
    _, deployment = await look.gateway.quotas.status(look.person.id)
    days, by = _find_days(look), _choose(look, ("model", "purpose", "person"))

    def work(connection: Connection) -> dict[str, Any]:
        people = usage_sums.list_people(connection, since=days[0][0], today=deployment.day.start)
        found = usage_sums.list_sums(connection, person_id=EVERYONE, spans=days)
        groups = [
            (
                one.name,
                [
                    *map(
                        add_up,
                        usage_sums.list_sums(connection, person_id=one.person_id, spans=days),
                    )
                ],
            )
            for one in (people[:SERIES] if by == "person" else ())
        ]
        return {
            **_describe(look, days, found, by, groups),
            "people": people[:_MOST],
        }

    found = await look.gateway.database.read(work)
    return {**found, "budgets": _list_budgets(deployment, "deployment")}


def _find_days(look: Look) -> list[Span]:
    return list_days(look.gateway.now(), look.viewer.zone)


def _choose(look: Look, known: tuple[By, ...]) -> By:
    """Return the dimension by which the reader wants to split the cost."""
    asked = look.request.query_params.get("by", "")
    return next((one for one in known if one == asked), known[0])


def _describe(
    look: Look,
    days: Sequence[Span],
    found: Sequence[Sequence[UsageSum]],
    by: By,
    people: Sequence[tuple[str, Daily]] = (),
) -> dict[str, Any]:
    """Describe sums as charts, as a table of the same numbers, and as totals."""
    whole = [add_up(day) for day in found]
    models = group(found, lambda one: one.model)
    if by == "person":
        groups = people
    else:
        purposes = group(found, lambda one: name_purpose(one.purpose))
        groups = models if by == "model" else purposes
    series = limit_series(groups, whole, texts.OTHERS())
    viewer = look.viewer
    labels = [viewer.show_date(local_time(since, viewer.zone).date()) for since, _ in days]
    marked = [viewer.mark_day(since) for since, _ in days]
    total = add_up(whole)
    return {
        "u": texts,
        "days": DAYS,
        "by": by,
        "total": total,
        "whole": max(total.charged.micro_dollars, 1),
        "costs": charts.draw(
            labels,
            [(name, [one.charged.micro_dollars for one in daily]) for name, daily in series],
        ),
        "tokens": charts.draw(
            labels,
            [
                (texts.READ_UNCACHED(), [one.input_tokens for one in whole]),
                (texts.WRITTEN_TO_CACHE(), [one.cache_write_tokens for one in whole]),
                (texts.READ_FROM_CACHE(), [one.cache_read_tokens for one in whole]),
                (texts.WRITTEN(), [one.output_tokens for one in whole]),
            ],
        ),
        "series": [(name, add_up(daily)) for name, daily in series],
        "rows": [
            (day, [daily[at] for _, daily in series], whole[at])
            for at, day in reversed(list(enumerate(marked)))
        ],
        "ends": (marked[0], marked[-1]),
        "lines": [
            (purpose, model, add_up(daily))
            for (purpose, model), daily in group(found, lambda one: (one.purpose, one.model))
        ],
        "caching": report_caching(models, look.gateway.quotas.prices),
    }


def _list_budgets(status: QuotaStatus, whose: Whose) -> dict[str, Any]:
    """List how much of a day's limits is used."""
    units: tuple[Unit, ...] = ("money", "tokens")
    used = {"money": status.spent.micro_dollars, "tokens": status.spent.unpriced_tokens}
    return {
        "ends": status.day.end,
        "lines": [(unit, used[unit], status.limit.amount(unit)) for unit in units],
        "settings": [LIMIT_SETTINGS[whose, unit] for unit in units],
    }
