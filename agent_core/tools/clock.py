"""Local times, and weekdays as people write them; 1 is Monday, 7 is Sunday. Pure."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent_core.errors import ToolArgumentError
from agent_core.localization import (
    Text,
    format_weekday,
    join_list,
    say_at,
    say_clock,
    say_day,
    say_moment,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderClock:
    """The clock of a reader: their IANA zone, and the present in milliseconds since the epoch.

    It shows moments as people say them, in the reader's language.
    """

    zone: str
    now: int

    @property
    def today(self) -> date:
        """The present date."""
        return local_time(self.now, self.zone).date()

    def show(self, at: int) -> str:
        """Return a moment: `tomorrow, 9:00`."""
        return say_moment(local_time(at, self.zone), local_time(self.now, self.zone))

    def show_day(self, at: int) -> str:
        """Return the day of a moment: `Mon 30 Nov`."""
        return self.say_day(local_time(at, self.zone).date())

    def say_day(self, day: date) -> str:
        """Return a day: `tomorrow`."""
        return say_day(day, self.today)

    def show_short(self, at: int) -> str:
        """Return a moment, without its day if that is today: `9:00`."""
        moment = local_time(at, self.zone)
        return say_clock(moment) if moment.date() == self.today else self.show(at)

    def list_moments(self, moments: Sequence[int]) -> str:
        """List moments by their days: `9:00`, `yesterday, 22:00 and 23:00; today, 1:00`."""
        days: dict[date, list[str]] = {}
        for moment in (local_time(at, self.zone) for at in moments):
            days.setdefault(moment.date(), []).append(say_clock(moment))
        if [*days] == [self.today]:
            return join_list(days[self.today])
        return "; ".join(say_at(say_day(day, self.today), clocks) for day, clocks in days.items())


_ALL_DAYS = Text("With seven days off, you would never get anything. Leave one out.")
_BAD_DAYS = Text(
    '"{value}" isn\'t a list of days. Write "sat,sun" or "weekend". If you have no days off,'
    ' write "off".'
)
NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WHOLE = (
    *("monday montag", "tuesday dienstag", "wednesday mittwoch", "thursday donnerstag"),
    *("friday freitag", "saturday samstag sonnabend", "sunday sonntag"),
)
"""The names of each weekday, in English and German."""
_SHORT = ("mo", "di", "mi", "do", "fr", "sa", "so")
"""German weekdays in two letters."""
_LEAST = 3
"""The fewest letters that identify a weekday."""
_WEEKEND = (6, 7)
_NOTHING = ("", "off", "none", "aus", "keine")
_BETWEEN = re.compile(r"[\s,;]+(?:(?:and|und)[\s,;]+)?")


def read_days(value: str) -> tuple[int, ...]:
    """Parse weekdays such as `sat,sun` or `weekend`; `off` or an empty text gives none.

    Raises `ToolArgumentError` with a sentence.
    """
    text = value.strip().casefold()
    if text in _NOTHING:
        return ()
    if text.removeprefix("am ") in ("weekend", "weekends", "wochenende"):
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
    if singular in _SHORT:
        return _SHORT.index(singular) + 1
    for number, names in enumerate(_WHOLE, start=1):
        if len(singular) >= _LEAST and any(one.startswith(singular) for one in names.split()):
            return number
    raise ToolArgumentError(_BAD_DAYS(value=value))
