"""Ceilings over a real database: none, or those that a test sets, with prices of its own."""

from collections.abc import Callable

from agent_core.ceilings.reservations import Ceilings, Rules
from agent_core.ceilings.till import Ceiling
from agent_core.models.prices import Price, Prices
from agent_core.state.database import Database

NONE = Ceiling(money=0, tokens=0)
PRICED = {
    "good": Price(input=1_000_000, output=1_000_000),
    "cheap": Price(input=100_000, output=100_000),
    "free": Price(input=0, output=0),
}
"""A token of `good` costs a micro-dollar, ten of `cheap` do; other models have no price."""


def ceilings(
    database: Database,
    now: Callable[[], int] = lambda: 1_000,
    *,
    person: Ceiling = NONE,
    house: Ceiling = NONE,
    zone: str = "UTC",
    patience: float = 60.0,
) -> Ceilings:
    """Ceilings that are near from 80 % on."""
    rules = Rules(person=person, house=house, cheap_from=80, zone=zone)
    prices = Prices(own=PRICED)
    return Ceilings(rules=rules, prices=prices, database=database, now=now, patience=patience)
