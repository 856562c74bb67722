"""Format lists, dates and sizes as the reader's language has them; pure."""

from collections.abc import Sequence
from datetime import date, datetime

from agent_core.localization.translation import Text, format_number

_WEEKDAYS = (
    Text("Mon"),
    Text("Tue"),
    Text("Wed"),
    Text("Thu"),
    Text("Fri"),
    Text("Sat"),
    Text("Sun"),
)
_DATE = Text("{year:04}-{month:02}-{day:02}")
_MOMENT = Text("{weekday} {date} {hour:02}:{minute:02}")
_TWO = Text("{first} and {last}")
_SEVERAL = Text("{first}, and {last}")
_SEPARATOR = Text(", ")
_MEGABYTES = Text("{size} MB")
_FEW_MEGABYTES = 10_000_000


def join_list(items: Sequence[str]) -> str:
    """Join items as a sentence has them: `a`, `a and b`, `a, b, and c`."""
    if len(items) <= 1:
        return "".join(items)
    join = _TWO if len(items) == 2 else _SEVERAL
    return join(first=_SEPARATOR().join(items[:-1]), last=items[-1])


def format_weekday(weekday: int) -> str:
    """Return the short name of a weekday; Monday is 0."""
    return _WEEKDAYS[weekday]()


def format_date(day: date) -> str:
    """Return a date: `2026-11-23`."""
    return _DATE(year=day.year, month=day.month, day=day.day)


def format_moment(moment: datetime) -> str:
    """Return a local moment with its weekday: `Mon 2026-11-23 08:00`."""
    return _MOMENT(
        weekday=format_weekday(moment.weekday()),
        date=format_date(moment),
        hour=moment.hour,
        minute=moment.minute,
    )


def format_size(size: int) -> str:
    """Return a number of bytes in megabytes: `2.5 MB`."""
    if size < _FEW_MEGABYTES:
        return _MEGABYTES(size=format_number(size / 1_000_000, ".2g"))
    return _MEGABYTES(size=format_number(size // 1_000_000, ""))
