"""The balance of one day for one quota; no I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Literal

from agent_core.state.conversations.usage import QuotaUsage
from agent_core.tools.clock import local_time

_SHORTEST_DAY = 20 * 3_600_000
"""Milliseconds. A clock change can make a day of 23 hours. A shorter day would mean that the time
zone was changed, perhaps to get a new quota.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaDay:
    """A day from its first moment to that of the next day; milliseconds since the epoch, UTC."""

    start: int
    end: int


def day_of(now: int, zone: str, before: QuotaDay | None = None) -> QuotaDay:
    """The day of `now` by the clock of an IANA time zone.

    A day whose midnight is skipped begins with the skip. `before` is the last known day. The next
    day starts at least 20 hours after the start of `before`, in any time zone. An earlier day is
    returned only if the machine's clock was set back.
    """
    start, end = _midnight(now, zone, 0), _midnight(now, zone, 1)
    if before is None or before.start > now or start - before.start >= _SHORTEST_DAY:
        return QuotaDay(start=start, end=end)
    if end - before.start < _SHORTEST_DAY:
        end = _midnight(now, zone, 2)
    return QuotaDay(start=before.start, end=end)


def _midnight(now: int, zone: str, later: int) -> int:
    """The start of the local day that is `later` days after that of `now`."""
    local = local_time(now, zone)
    day = local.date() + timedelta(days=later)
    return round(datetime.combine(day, time(), local.tzinfo).timestamp() * 1000)


Unit = Literal["money", "tokens"]
"""Unit of a call's cost: micro-dollars if its price is known, else tokens."""
Whose = Literal["person", "deployment"]
QuotaVerdict = Literal["available", "busy", "exhausted"]
"""Whether a call fits, may fit once running calls end, or doesn't fit today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimit:
    """The most that may be spent in a day, in micro-dollars and in tokens; 0 means no limit."""

    money: int
    tokens: int

    def amount(self, unit: Unit) -> int:
        """The limit in `unit`."""
        return self.money if unit == "money" else self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """The range of a call's cost.

    `least` assumes a cached input and no output, `most` an uncached input and the longest output.
    `sent` is the estimated input in tokens.
    """

    sent: int
    unit: Unit
    least: int
    most: int


class Balance:
    """Spent and reserved amounts of one day against one limit.

    `reserved` is the most that running calls may cost.
    """

    def __init__(self, subject: Whose, limit: DailyLimit) -> None:
        self.subject = subject
        self.limit = limit
        self.day = QuotaDay(start=0, end=0)
        self.spent: dict[Unit, int] = {"money": 0, "tokens": 0}
        self.reserved: dict[Unit, int] = {"money": 0, "tokens": 0}

    def load(self, day: QuotaDay, rows: Iterable[QuotaUsage]) -> None:
        """Load the amounts that the database holds for a day.

        For the same day, the higher of the known and the loaded amount counts. This process may not
        have written everything yet, and a merge of accounts may have added rows.
        """
        spent: dict[Unit, int] = {"money": 0, "tokens": 0}
        for row in rows:
            spent["money"] += row.micro_dollars
            spent["tokens"] += row.unpriced_tokens
        if day == self.day:
            spent = {unit: max(amount, self.spent[unit]) for unit, amount in spent.items()}
        self.day, self.spent = day, spent

    def judge(self, cost: CostEstimate) -> QuotaVerdict:
        """Decide whether a call may be made.

        A single call may begin although its highest cost does not fit: the length of an answer is
        known only afterwards, and the rest of the quota would never be used otherwise.
        """
        limit, spent = self.limit.amount(cost.unit), self.spent[cost.unit]
        reserved = self.reserved[cost.unit]
        if not limit or not cost.most or spent + reserved + cost.most <= limit:
            return "available"
        if spent >= limit or spent + cost.least > limit:
            return "exhausted"
        return "busy" if reserved else "available"

    def is_near(self, cost: CostEstimate, percent: int) -> bool:
        """True once this percentage of the limit is spent."""
        limit = self.limit.amount(cost.unit)
        return bool(limit and cost.most) and self.spent[cost.unit] * 100 >= limit * percent
