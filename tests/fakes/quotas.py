"""Quotas over a real database: none, or those of a test, with its own prices."""

from collections.abc import Callable

from agent_core.agent.quotas.balance import DailyLimit
from agent_core.agent.quotas.reservations import QuotaRules, Quotas
from agent_core.models.catalog import Price, Prices
from agent_core.state.engine.database import Database

NONE = DailyLimit(money=0, tokens=0)
PRICED = {
    "good": Price(input=1_000_000, output=1_000_000),
    "cheap": Price(input=100_000, output=100_000),
    "free": Price(input=0, output=0),
}
"""`good` costs a micro-dollar a token and `cheap` a tenth; other models have no price."""


def quotas(
    database: Database,
    now: Callable[[], int] = lambda: 1_000,
    *,
    person: DailyLimit = NONE,
    deployment: DailyLimit = NONE,
    zone: str = "UTC",
    max_wait: float = 60.0,
) -> Quotas:
    """Quotas that count as near from 80 % on."""
    rules = QuotaRules(person=person, deployment=deployment, cheap_from=80, zone=zone)
    prices = Prices(own=PRICED)
    return Quotas(rules=rules, prices=prices, database=database, now=now, max_wait=max_wait)
