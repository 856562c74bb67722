"""Times as the model writes them, on the clock of a person."""

import re
from datetime import datetime, timedelta

from agent_core.errors import ToolArgumentError
from agent_core.tools.clock import local_time

_TIME = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::\d{2})?)?)?)?")


def read_moment(text: str, zone: str, *, name: str, is_end: bool = False) -> int:
    """Milliseconds since the epoch for `2026`, `2026-05`, `2026-05-31` or `2026-05-31 14:00`.

    It is the beginning of what is named, or with `is_end` its last millisecond. Raises
    `ToolArgumentError` for anything else; `name` is the argument's.
    """
    match = _TIME.fullmatch(text.strip())
    try:
        if not match:
            raise ValueError(text)
        year, month, day, hour, minute = (int(part) if part else None for part in match.groups())
        begin = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0)
        if is_end:
            begin = _next(begin, month, day, hour) - timedelta(milliseconds=1)
        return int(begin.replace(tzinfo=local_time(0, zone).tzinfo).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise ToolArgumentError(
            f"`{name}` is no time: write it as 2026-05-31 or 2026-05-31 14:00"
        ) from error


def _next(begin: datetime, month: int | None, day: int | None, hour: int | None) -> datetime:
    """Where the year, month, day or minute that begins here is over."""
    if month is None:
        return begin.replace(year=begin.year + 1)
    if day is None:
        return (begin + timedelta(days=31)).replace(day=1)
    return begin + (timedelta(days=1) if hour is None else timedelta(minutes=1))
