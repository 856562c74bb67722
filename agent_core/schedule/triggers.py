"""When a job runs: a cron expression, an interval or one moment; read from text and written."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FIELDS = 5
_STEP = re.compile(r"/(\d{1,9})")
_LARGEST_STEPS = (("minutes", 59), ("hours", 23), ("days", 31), ("months", 12), ("weekdays", 7))
_LONGEST_CRON = 200
LEAST_INTERVAL = 60
"""Seconds; whoever wants less wants a program, not an assistant."""
MOST_INTERVAL = 366 * 86_400
_FIRST_YEAR, _LAST_YEAR = 1900, 9000
"""Further out the calendar of the machine ends before that of some zone does."""
_STAMP = "%Y-%m-%dT%H:%M"
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(?::00)?(/2)?")
AGAIN = "/2"
"""Behind a moment that the clock shows for the second time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """Every local moment that an expression of five fields names, as cron reads it."""

    expression: str

    @property
    def is_wildcard(self) -> bool:
        """True if it goes by the clock's hands: minute or hour begins with a star.

        Debian's cron runs such a job by what the clock shows, and any other once for each
        moment that it names, however the clock is put (man 8 cron, "daylight saving time").
        """
        minute, hour = self.expression.split()[:2]
        return minute.startswith("*") or hour.startswith("*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """Each `seconds`, reckoned from `anchor`: milliseconds since the epoch, UTC."""

    seconds: int
    anchor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """One local moment, to the minute and without a zone.

    Its `fold` says which of two it is where the clock shows it twice.
    """

    at: datetime


Timing = Cron | Every | Once


def read_cron(text: str) -> Cron:
    """A cron expression as a person or a model writes it. Raises `ValueError` with a sentence."""
    words = " ".join(text.split())
    expression = _ALIASES.get(words.casefold(), words)
    if words.startswith("@") and words.casefold() not in _ALIASES:
        raise ValueError(f"cron has no {words}; there are {', '.join(_ALIASES)}")
    if len(expression) > _LONGEST_CRON:
        raise ValueError(f"a cron expression has at most {_LONGEST_CRON} characters")
    count = len(expression.split())
    if count != _FIELDS:
        raise ValueError(
            f"a cron expression has five fields (minute, hour, day of month, month, day of week),"
            f" and {expression!r} has {count}"
        )
    for part, (name, most) in zip(expression.split(), _LARGEST_STEPS, strict=True):
        if any(int(step) > most for step in _STEP.findall(part)):
            raise ValueError(
                f"{part} in the field of {name} does not mean that many {name}: it begins anew with"
                f" each round of the clock, so that steps end at {most}; use an interval"
            )
    return _parse_cron(expression)


def _parse_cron(expression: str) -> Cron:
    try:
        next(CronSim(expression, datetime(2024, 1, 1)))
    except CronSimError as error:
        if _is_never(expression):
            raise ValueError(f"{expression!r} names no day that ever comes") from None
        raise ValueError(
            f"{expression!r} is no cron expression: {str(error).lower()} (minute 0-59, hour 0-23,"
            " day 1-31 or L or LW, month 1-12 or JAN-DEC, weekday 0-7 or SUN-SAT, 5L, 1#2)"
        ) from error
    except StopIteration:
        raise ValueError(f"{expression!r} names no day that ever comes") from None
    return Cron(expression=expression.upper())


def _is_never(expression: str) -> bool:
    """True where day and month can both be, but not together, as 31 February."""
    minute, hour, day, month, weekday = expression.split()
    try:
        CronSim(f"{minute} {hour} {day} * {weekday}", datetime(2024, 1, 1))
        CronSim(f"{minute} {hour} * {month} {weekday}", datetime(2024, 1, 1))
    except CronSimError:
        return False
    return True


def read_every(seconds: int, anchor: int) -> Every:
    """An interval. Raises `ValueError` with a sentence."""
    if not LEAST_INTERVAL <= seconds <= MOST_INTERVAL:
        raise ValueError(
            f"an interval lasts from {LEAST_INTERVAL // 60} minute to"
            f" {MOST_INTERVAL // 86_400} days"
        )
    return Every(seconds=seconds, anchor=anchor)


def read_once(text: str) -> Once:
    """A local moment like `2026-11-23T08:00`. Raises `ValueError` with a sentence."""
    stamp = text.strip().replace(" ", "T")
    try:
        found = _MOMENT.fullmatch(stamp)
        if found is None:
            raise ValueError
        at = datetime.strptime(found[1], _STAMP)
    except ValueError:
        raise ValueError(
            f"{text!r} is no moment; write the local date and time like 2026-11-23T08:00"
        ) from None
    if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        raise ValueError(f"a moment lies in the years {_FIRST_YEAR} to {_LAST_YEAR}")
    return Once(at=at.replace(fold=1 if found[2] else 0))


def dump_timing(timing: Timing) -> str:
    """A timing as it is stored."""
    if isinstance(timing, Cron):
        return f"cron {timing.expression}"
    if isinstance(timing, Every):
        return f"every {timing.seconds} from {timing.anchor}"
    return f"once {timing.at:{_STAMP}}{AGAIN if timing.at.fold else ''}"


def load_timing(text: str) -> Timing:
    """The reverse of `dump_timing`. Raises `ValueError` on anything else."""
    kind, _, rest = text.partition(" ")
    if kind == "cron":
        return _parse_cron(rest)
    if kind == "once":
        return read_once(rest)
    seconds, _, anchor = rest.partition(" from ")
    if kind != "every":
        raise ValueError(f"{text!r} is no timing")
    return read_every(int(seconds), int(anchor))


def moment(at: int) -> datetime:
    """Milliseconds since the epoch as a time in UTC; exact, also beyond floats."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)


def milliseconds(time: datetime) -> int:
    """A time with a zone as milliseconds since the epoch."""
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
