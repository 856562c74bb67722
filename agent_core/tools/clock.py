"""Weekdays as people write them, into numbers and back; 1 is Monday, 7 is Sunday. Pure."""

import logging
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent_core.errors import ToolArgumentError

_log = logging.getLogger(__name__)


def local_time(now: int, zone: str) -> datetime:
    """Milliseconds since the epoch in an IANA zone; in UTC, with a warning, if it is unknown."""
    moment = datetime.fromtimestamp(now / 1000, UTC)
    try:
        return moment.astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        _log.warning("time zone %r is unknown, UTC is used: %s", zone, error)
        return moment


NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WHOLE = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LEAST = 3
"""Letters that name a day."""
_WEEKEND = (6, 7)
_NOTHING = ("", "off", "none")
_BETWEEN = re.compile(r"[\s,;]+(?:and[\s,;]+)?")


def read_days(value: str) -> tuple[int, ...]:
    """The weekdays that a text like `sat,sun` or `weekend` names; none for `off` or nothing.

    Raises `ToolArgumentError` with a sentence.
    """
    text = value.strip().casefold()
    if text in _NOTHING:
        return ()
    if text in ("weekend", "weekends"):
        return _WEEKEND
    days = tuple(sorted({_read_day(word, value) for word in _BETWEEN.split(text.strip(" ,;"))}))
    if len(days) == len(NAMES):
        raise ToolArgumentError("with seven days off nothing would ever come; leave one out")
    return days


def describe_days(days: Sequence[int]) -> str:
    """Weekdays as people write them, or nothing."""
    return ", ".join(NAMES[day - 1] for day in sorted(days))


def _read_day(word: str, value: str) -> int:
    singular = word.removesuffix("s") if word not in ("tues", "thurs") else word
    for number, whole in enumerate(_WHOLE, start=1):
        if len(singular) >= _LEAST and whole.startswith(singular):
            return number
    raise ToolArgumentError(f'"{value}" are no days; write them like sat,sun, or weekend, or off')
