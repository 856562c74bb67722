"""Local times, and weekdays as people write them; 1 is Monday, 7 is Sunday. Pure."""

import logging
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent_core.errors import ToolArgumentError
from agent_core.localization import Text, format_weekday

_log = logging.getLogger(__name__)


def local_time(now: int, zone: str) -> datetime:
    """Convert milliseconds since the epoch to local time in an IANA zone.

    An unknown zone is logged as a warning, and UTC is used.
    """
    moment = datetime.fromtimestamp(now / 1000, UTC)
    try:
        return moment.astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        _log.warning("time zone %r is unknown, UTC is used: %s", zone, error)
        return moment


_ALL_DAYS = Text("With seven days off, you would never get anything. Leave one out.")
_BAD_DAYS = Text('"{value}" isn\'t a list of days. Write sat,sun or weekend, or off.')
NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WHOLE = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LEAST = 3
"""The fewest letters that identify a weekday."""
_WEEKEND = (6, 7)
_NOTHING = ("", "off", "none")
_BETWEEN = re.compile(r"[\s,;]+(?:and[\s,;]+)?")


def read_days(value: str) -> tuple[int, ...]:
    """Parse weekdays such as `sat,sun` or `weekend`; `off` or an empty text gives none.

    Raises `ToolArgumentError` with a sentence.
    """
    text = value.strip().casefold()
    if text in _NOTHING:
        return ()
    if text in ("weekend", "weekends"):
        return _WEEKEND
    days = tuple(sorted({_read_day(word, value) for word in _BETWEEN.split(text.strip(" ,;"))}))
    if len(days) == len(NAMES):
        raise ToolArgumentError(_ALL_DAYS())
    return days


def describe_days(days: Sequence[int]) -> str:
    """Format weekdays as people write them."""
    return ", ".join(format_weekday(day - 1) for day in sorted(days))


def _read_day(word: str, value: str) -> int:
    singular = word.removesuffix("s") if word not in ("tues", "thurs") else word
    for number, whole in enumerate(_WHOLE, start=1):
        if len(singular) >= _LEAST and whole.startswith(singular):
            return number
    raise ToolArgumentError(_BAD_DAYS(value=value))
