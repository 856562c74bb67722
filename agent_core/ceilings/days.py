"""When somebody's day begins and ends on their own clock; pure."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from agent_core.tools.clock import local_time

_SHORTEST = 20 * 3_600_000
"""Milliseconds. Days of 23 hours exist; shorter ones would come of a time zone that is changed
to have a fresh day, and have to be waited out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """From its first moment to that of the next one; milliseconds since the epoch, UTC."""

    start: int
    end: int


def day_of(now: int, zone: str, before: Day | None = None) -> Day:
    """The day that `now` lies in, by the clock of an IANA time zone.

    Where the clocks skip midnight, the day begins with the skip. `before` is the day that was
    current last: no other one begins until 20 hours after it did, in whatever time zone, and
    none that began earlier, unless the machine's clock was set back before its beginning.
    """
    start, end = _midnight(now, zone, 0), _midnight(now, zone, 1)
    if before is None or before.start > now or start - before.start >= _SHORTEST:
        return Day(start=start, end=end)
    if end - before.start < _SHORTEST:
        end = _midnight(now, zone, 2)
    return Day(start=before.start, end=end)


def _midnight(now: int, zone: str, later: int) -> int:
    """The beginning of the local day that is `later` days after that of `now`."""
    local = local_time(now, zone)
    day = local.date() + timedelta(days=later)
    return round(datetime.combine(day, time(), local.tzinfo).timestamp() * 1000)
