"""What one person, or everybody together, has spent and reserved in a day; no I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Literal

from agent_core.state.conversations.usage import Charged
from agent_core.tools.clock import local_time

_SHORTEST = 20 * 3_600_000
"""Milliseconds. Days of 23 hours exist; shorter ones would come of a time zone that is changed
to have a fresh day, and have to be waited out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaDay:
    """From its first moment to that of the next one; milliseconds since the epoch, UTC."""

    start: int
    end: int


def day_of(now: int, zone: str, before: QuotaDay | None = None) -> QuotaDay:
    """The day that `now` lies in, by the clock of an IANA time zone.

    Where the clocks skip midnight, the day begins with the skip. `before` is the day that was
    current last: no other one begins until 20 hours after it did, in whatever time zone, and
    none that began earlier, unless the machine's clock was set back before its beginning.
    """
    start, end = _midnight(now, zone, 0), _midnight(now, zone, 1)
    if before is None or before.start > now or start - before.start >= _SHORTEST:
        return QuotaDay(start=start, end=end)
    if end - before.start < _SHORTEST:
        end = _midnight(now, zone, 2)
    return QuotaDay(start=before.start, end=end)


def _midnight(now: int, zone: str, later: int) -> int:
    """The beginning of the local day that is `later` days after that of `now`."""
    local = local_time(now, zone)
    day = local.date() + timedelta(days=later)
    return round(datetime.combine(day, time(), local.tzinfo).timestamp() * 1000)


Unit = Literal["money", "tokens"]
"""What a call counts in: micro-dollars where its price is known, else tokens."""
Whose = Literal["person", "deployment"]
Verdict = Literal["room", "busy", "shut"]
"""There is room, there may be once what is reserved is settled, there is none today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimit:
    """What may be spent in a day, in micro-dollars and in tokens; 0 for no ceiling."""

    money: int
    tokens: int

    def amount(self, unit: Unit) -> int:
        """The ceiling in a unit."""
        return self.money if unit == "money" else self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """What a call may come to: `least` if all is read from the cache and nothing answered,
    `most` if nothing is and the answer is as long as it may be. `sent` is the estimate of its
    input, in tokens.
    """

    sent: int
    unit: Unit
    least: int
    most: int


class Balance:
    """The sums of one day, for one ceiling.

    `spent` is what came of calls, `reserved` the most that calls under way may come to.
    """

    def __init__(self, subject: Whose, limit: DailyLimit) -> None:
        self.subject = subject
        self.limit = limit
        self.day = QuotaDay(start=0, end=0)
        self.spent: dict[Unit, int] = {"money": 0, "tokens": 0}
        self.reserved: dict[Unit, int] = {"money": 0, "tokens": 0}

    def load(self, day: QuotaDay, rows: Iterable[Charged]) -> None:
        """Take over what the database holds of a day.

        What this process knows of the same day and is not written yet stays; what was
        written elsewhere (by an account that was joined) comes in.
        """
        spent: dict[Unit, int] = {"money": 0, "tokens": 0}
        for row in rows:
            spent["money"] += row.micro_dollars
            spent["tokens"] += row.unpriced_tokens
        if day == self.day:
            spent = {unit: max(amount, self.spent[unit]) for unit, amount in spent.items()}
        self.day, self.spent = day, spent

    def judge(self, need: CostEstimate) -> Verdict:
        """Whether a call may be made.

        One call alone may begin although its most does not fit: how long an answer gets is
        known afterwards, and the rest of the ceiling would else never be used.
        """
        limit, spent = self.limit.amount(need.unit), self.spent[need.unit]
        reserved = self.reserved[need.unit]
        if not limit or not need.most or spent + reserved + need.most <= limit:
            return "room"
        if spent >= limit or spent + need.least > limit:
            return "shut"
        return "busy" if reserved else "room"

    def is_near(self, need: CostEstimate, percent: int) -> bool:
        """True once so much of the ceiling is spent."""
        limit = self.limit.amount(need.unit)
        return bool(limit and need.most) and self.spent[need.unit] * 100 >= limit * percent
