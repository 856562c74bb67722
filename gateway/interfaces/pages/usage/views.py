"""The pages about usage: a person's own, and everyone's for owners."""

from collections.abc import Sequence
from typing import Any, Literal

from agent_core.agent.quotas.balance import Unit, Whose
from agent_core.agent.quotas.reservations import QuotaStatus
from agent_core.localization import format_date
from agent_core.state.conversations import usage_sums
from agent_core.state.conversations.usage import EVERYONE
from agent_core.state.conversations.usage_sums import UsageSum
from agent_core.state.engine.database import Connection
from agent_core.tools.clock import local_time
from gateway.interfaces.pages import charts
from gateway.interfaces.pages.usage.days import (
    DAYS,
    SERIES,
    Daily,
    Span,
    add_up,
    group,
    limit_series,
    list_days,
    report_caching,
)
from gateway.interfaces.pages.views import Fields, Look
from gateway.texts import usage as texts
from gateway.texts.usage import LIMIT_SETTINGS, name_purpose

By = Literal["model", "purpose", "person"]
_MOST = 50
"""Most people on a page; the most expensive come first."""


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
    labels = [format_date(local_time(since, look.viewer.zone)) for since, _ in days]
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
            (label, [daily[at] for _, daily in series], whole[at])
            for at, label in reversed(list(enumerate(labels)))
        ],
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
