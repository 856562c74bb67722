"""Triggers: cron expressions, intervals, rules, single moments and events.

They are parsed and stored as text.
"""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from agent_core.localization import Text, name_month
from agent_core.schedule.rules import (
    ALWAYS,
    RecurrenceRule,
    dump_days,
    dump_rule,
    dump_time,
    list_skipped,
    load_rule,
)

_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_NO_SUCH_DATE = Text("{day} {month} never occurs. Choose another day, such as {last} {month}.")
_FIELDS = 5
_STEP = re.compile(r"/(\d{1,9})")
_LARGEST_STEPS = (("minutes", 59), ("hours", 23), ("days", 31), ("months", 12), ("weekdays", 7))
_LONGEST_CRON = 200


class NeverOccurs(ValueError):
    """A day that its month never has; the message is a sentence for people."""


LEAST_INTERVAL = 60
"""Seconds; for a shorter interval, a program is better than an assistant."""
MOST_INTERVAL = 366 * 86_400
_FIRST_YEAR, _LAST_YEAR = 1900, 9000
"""Outside these years, Python's datetime can't hold the times of some time zones."""
_STAMP = "%Y-%m-%dT%H:%M:%S"
_EVERY = re.compile(
    r"(?P<seconds>\d+) (?P<begin>from|starting) (?P<anchor>-?\d+)(?: until (?P<until>-?\d+))?"
)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(:\d{2})?(/2)?")
AGAIN = "/2"
"""The suffix of a local time when the clock shows it for the second time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A cron expression of five fields."""

    expression: str

    @property
    def is_wildcard(self) -> bool:
        """True if the minute or the hour begins with a star.

        Debian's cron runs such a job by the wall clock. When clocks change, it runs any other job
        once per named time (man 8 cron, "daylight saving time").
        """
        minute, hour = self.expression.split()[:2]
        return minute.startswith("*") or hour.startswith("*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """An interval of `seconds` since `anchor`, in milliseconds since the epoch, UTC.

    If it `begins` there, no slot is due before the anchor. `until` is the last moment that may be
    due, in milliseconds since the epoch, too.
    """

    seconds: int
    anchor: int
    begins: bool = False
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """A local time, to the second and without a zone.

    If the clock shows that time twice, `fold` selects one of the two.
    """

    at: datetime


EventKind = Literal["after", "message", "webhook", "feed", "file"]
"""The end of another job, a message, a web request, an item of a feed, or a file in a folder."""
_OUTCOMES = ("done", "failed", "ended")
_AFTER = re.compile(r"(?:(?:job|reminder) )?#?(\d{1,15})(?: (\w+))?", re.IGNORECASE)
_LONGEST_EVENT = 1000
_EVENTS = (
    "the nearest is one of `after JOB [done|failed|ended]`, `message [WORDS]`, `webhook`,"
    " `feed URL` and `file PATTERN`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnEvent:
    """An event that starts a job whenever it happens; it has no slots.

    `value` depends on the kind. After job 12, it is `12 done`, `12 failed` or `12 ended`. For a
    message, it is the words, or "" for any message. For a webhook, it is the SHA-256 of the secret,
    or "" without a secret. For a feed, it is the address, and for a file the pattern of file names.
    """

    kind: EventKind
    value: str = ""

    @property
    def job_id(self) -> int:
        """The number of the job that must end first."""
        return int(self.value.split()[0])

    @property
    def ending(self) -> str:
        """The outcome of that job's run that counts: done, failed, or ended for both."""
        return self.value.split()[1]


Timing = Cron | Every | Once | RecurrenceRule | OnEvent


def read_cron(text: str) -> Cron:
    """Parse a cron expression or alias. Raises `ValueError` with a sentence."""
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
                f"{part} in the {name} field is not an interval of {name}: it restarts with"
                f" each cycle, so steps end at {most}; use an interval"
            )
    return _parse_cron(expression)


def _parse_cron(expression: str) -> Cron:
    try:
        next(CronSim(expression, datetime(2024, 1, 1)))
    except CronSimError as error:
        if named := _find_missing_date(expression):
            raise NeverOccurs(_say_never(*named)) from None
        raise ValueError(
            f"{expression!r} is not a cron expression: {str(error).lower()} (minute 0-59, hour"
            " 0-23, day 1-31 or L or LW, month 1-12 or JAN-DEC, weekday 0-7 or SUN-SAT, 5L, 1#2)"
        ) from error
    except StopIteration:
        raise ValueError(f"{expression!r} never occurs; leave out its days or its months") from None
    return Cron(expression=expression.upper())


def _find_missing_date(expression: str) -> tuple[int, int] | None:
    """Find a day and a month that are each valid, but never occur together: (31, 2)."""
    minute, hour, day, month, weekday = expression.split()
    try:
        days = CronSim(f"{minute} {hour} {day} * {weekday}", datetime(2024, 1, 1)).days
        months = CronSim(f"{minute} {hour} * {month} {weekday}", datetime(2024, 1, 1)).months
    except CronSimError:
        return None
    return min(days), min(months)


def _say_never(day: int, month: int) -> str:
    """Say that a month has no such day, and name the last day that it has each year."""
    name = name_month(month)
    return _NO_SUCH_DATE(day=day, last=monthrange(2023, month)[1], month=name)


def read_every(
    seconds: int, anchor: int, *, begins: bool = False, until: int | None = None
) -> Every:
    """Build an interval. Raises `ValueError` with a sentence."""
    if not LEAST_INTERVAL <= seconds <= MOST_INTERVAL:
        raise ValueError(
            f"an interval takes from {LEAST_INTERVAL // 60} minute to"
            f" {MOST_INTERVAL // 86_400} days; the nearest is"
            f" {min(max(seconds, LEAST_INTERVAL), MOST_INTERVAL) // 60} minutes"
        )
    return Every(seconds=seconds, anchor=anchor, begins=begins, until=until)


def read_once(text: str) -> Once:
    """Parse a local time such as `2026-11-23T08:00`. Raises `ValueError` with a sentence."""
    stamp = text.strip().replace(" ", "T")
    try:
        found = _MOMENT.fullmatch(stamp)
        if found is None:
            raise ValueError
        at = datetime.strptime(f"{found[1]}{found[2] or ':00'}", _STAMP)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a time; the nearest form is a local date and time, like"
            " 2026-11-23T08:00"
        ) from None
    if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        raise ValueError(f"the year must be {_FIRST_YEAR} to {_LAST_YEAR}")
    return Once(at=at.replace(fold=1 if found[3] else 0))


def read_event(text: str) -> OnEvent:
    """Parse an event, such as `after 12` or `message invoice`. Raises `ValueError`."""
    if len(text) > _LONGEST_EVENT:
        raise ValueError(f"an event has at most {_LONGEST_EVENT} characters")
    word, _, rest = " ".join(text.split()).partition(" ")
    kind = next((one for one in get_args(EventKind) if one == word.casefold()), None)
    match kind:
        case "after":
            found = _AFTER.fullmatch(rest)
            ending = ((found and found[2]) or "done").casefold()
            if found is None or ending not in _OUTCOMES:
                raise ValueError(f"{text!r} names no job; the nearest is `after 12 done`")
            return OnEvent(kind=kind, value=f"{int(found[1])} {ending}")
        case "message":
            return OnEvent(kind=kind, value=rest)
        case "webhook" if not rest:
            return OnEvent(kind=kind)
        case "feed" if rest.startswith(("http://", "https://")) and " " not in rest:
            return OnEvent(kind=kind, value=rest)
        case "file" if rest:
            if "/" in rest or "\\" in rest or rest.startswith("."):
                raise ValueError(
                    f"{rest!r} is not the pattern of a file name; the nearest is `file *.pdf`"
                )
            return OnEvent(kind=kind, value=rest)
    raise ValueError(f"{text!r} is not an event; {_EVENTS}")


def dump_timing(timing: Timing) -> str:
    """Format a timing for the database."""
    if isinstance(timing, Cron):
        return f"cron {timing.expression}"
    if isinstance(timing, Every):
        until = "" if timing.until is None else f" until {timing.until}"
        begin = "starting" if timing.begins else "from"
        return f"every {timing.seconds} {begin} {timing.anchor}{until}"
    if isinstance(timing, RecurrenceRule):
        return f"rule {dump_rule(timing)}"
    if isinstance(timing, OnEvent):
        return f"on {timing.kind} {timing.value}".rstrip()
    return f"once {show_stamp(timing.at)}{AGAIN if timing.at.fold else ''}"


def write_arguments(timing: Timing, zone: ZoneInfo) -> dict[str, object]:
    """Return the fields of a job that describe a timing in a zone.

    They contain no secret: for a webhook, they ask for a new address.
    """
    if isinstance(timing, Cron):
        return {"cron": timing.expression}
    if isinstance(timing, Once):
        return {"at": dump_timing(timing).removeprefix("once ")}
    if isinstance(timing, OnEvent):
        value = "" if timing.kind == "webhook" else timing.value
        return {"on": f"{timing.kind} {value}".strip()}
    if isinstance(timing, Every):
        begin, until = (
            show_stamp(moment(at).astimezone(zone).replace(tzinfo=None)) if at is not None else None
            for at in (timing.anchor if timing.begins else None, timing.until)
        )
        given: dict[str, object] = {
            "every_minutes": timing.seconds // 60,
            "starts": begin,
            "until": until,
        }
    else:
        given = {
            "times": [dump_time(one) for one in timing.times],
            "rule": dump_days(timing.days),
            "skip": list_skipped(timing),
            "starts": None if timing.start == ALWAYS else show_stamp(timing.start),
            "until": show_stamp(timing.until) if timing.until else None,
            "place": ",".join(map(str, timing.place)) if timing.place else None,
        }
    return {name: value for name, value in given.items() if value is not None}


def show_stamp(at: datetime) -> str:
    """Format a local time as the name of its slot, with seconds only if there are any."""
    return at.isoformat(timespec="seconds" if at.second else "minutes")


def load_timing(text: str) -> Timing:
    """Parse the result of `dump_timing`. Raises `ValueError` on any other text."""
    kind, _, rest = text.partition(" ")
    if kind == "cron":
        return _parse_cron(rest)
    if kind == "once":
        return read_once(rest)
    if kind == "rule":
        return load_rule(rest)
    if kind == "on":
        return _load_event(rest)
    found = _EVERY.fullmatch(rest)
    if kind != "every" or found is None:
        raise ValueError(f"{text!r} is no timing")
    until = int(found["until"]) if found["until"] else None
    begins = found["begin"] == "starting"
    return read_every(int(found["seconds"]), int(found["anchor"]), begins=begins, until=until)


def is_event(text: str) -> bool:
    """Return whether a stored timing is an event."""
    return text.startswith("on ")


def _load_event(text: str) -> OnEvent:
    kind, _, value = text.partition(" ")
    if kind == "webhook":
        return OnEvent(kind="webhook", value=value)
    return read_event(text)


def moment(at: int) -> datetime:
    """Convert milliseconds since the epoch to a UTC time; exact beyond the range of floats."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)


def milliseconds(time: datetime) -> int:
    """Convert an aware time to milliseconds since the epoch."""
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
