"""Reader program: iCalendar data in, the events of some days out as JSON."""

import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from types import FrameType
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events
from icalendar.cal.component import Component

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.readers.limits import LIMITS

_LONGEST = 300
"""The most characters of a title or a place."""
_LONGEST_EVENT = timedelta(days=365_000)
"""Events "for ever" end in the year 9999; the library can't subtract so many years from a day."""
_MOST_A_DAY = 30
"""Repeats of one event; one that repeats every minute would leave no room for the others."""
_FAULTS = (ValueError, LookupError, AttributeError, TypeError, ArithmeticError)
"""Errors of the libraries for an event that breaks the standard."""


class _TooSlow(BaseException):
    """The time of an event is up. Not an `Exception`, because the library catches those."""


@dataclass(slots=True)
class Reading:
    """The events of some days, earliest first, and the number of `unread` ones.

    One broken event, which anybody may send as an invitation, must not hide the others. So an event
    whose repeats take too long, or that the library can't read, is only counted.
    """

    events: list[dict[str, str]] = field(default_factory=list)
    unread: int = 0
    _left: float = 4.0
    """Seconds of processor time for slow events; each may use a quarter of it."""

    def add(self, event: Component, begin: datetime, end: datetime, zone: ZoneInfo) -> None:
        """Add what happens between two moments; `event` is a calendar of one event's parts."""
        seconds = self._left / 4
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            self.events += _list(event, begin, end, zone)
        except _TooSlow:
            self._left -= seconds
            self.unread += 1
        except _FAULTS:
            self.unread += 1
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def read_days_off(data: bytes, zone: ZoneInfo, first: date, days: int) -> list[tuple[str, str]]:
    """List the spans of whole-day events, without repeats. Raises `ValueError` as `read` does.

    Also raises it for an event that can't be read: it may be a day off.
    """
    found = read(data, zone, first, days)
    if found.unread:
        raise ValueError(f"{found.unread} of its events can't be read")
    return sorted({(one["begin"], one["end"]) for one in found.events if "T" not in one["begin"]})


def read(data: bytes, zone: ZoneInfo, first: date, days: int) -> Reading:
    """Read the events that touch the given days of a zone, without cancelled ones.

    Raises `ValueError` if the data is not a calendar.
    """
    signal.signal(signal.SIGPROF, _give_up)
    begin = datetime.combine(first, time(), zone)
    end = datetime.combine(first + timedelta(days=days), time(), zone)
    calendars = icalendar.Calendar.from_ical(data, multiple=True)
    if not calendars:
        raise ValueError("it contains no calendar")
    found = Reading()
    for event in (one for calendar in calendars for one in _split(calendar)):
        found.add(event, begin, end, zone)
    found.events.sort(key=lambda event: (event["begin"][:10], event["begin"], event["title"]))
    return found


def _give_up(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


def _split(calendar: Component) -> Iterator[Component]:
    """Yield a calendar for each event, with the changed ones of its repeats."""
    parts: dict[str, list[Component]] = {}
    for event in calendar.walk("VEVENT"):
        parts.setdefault(str(event.get("UID", id(event))), []).append(event)
    for events in parts.values():
        part = icalendar.Calendar(calendar)
        part.subcomponents = events
        yield part


def _list(
    calendar: Component, begin: datetime, end: datetime, zone: ZoneInfo
) -> list[dict[str, str]]:
    for event in calendar.subcomponents:
        _shorten(event)
    query = recurring_ical_events.of(calendar, skip_bad_series=True)
    found = list[dict[str, str]]()
    repeats = query.between(begin, end)
    if len(repeats) > _MOST_A_DAY * (end - begin).days:
        raise ValueError("it repeats too often")
    for event in repeats:
        starts = _moment(event, "DTSTART")
        if starts is None or str(event.get("STATUS", "")).upper() == "CANCELLED":
            continue
        one = {
            "title": _text(event, "SUMMARY"),
            "place": _text(event, "LOCATION"),
            "link": _text(event, "URL"),
            "begin": _show(starts, zone),
            "end": _show(_end_of(event, starts), zone),
        }
        found.append(one)
    return found


def _shorten(event: Component) -> None:
    """Bring forward the end of an event that is too long."""
    starts, ends = _moment(event, "DTSTART"), _moment(event, "DTEND")
    if starts and ends and ends.year - starts.year > _LONGEST_EVENT.days // 365:
        event["DTEND"] = icalendar.vDDDTypes(starts + _LONGEST_EVENT)


def _end_of(event: Component, starts: date) -> date:
    """Return the end of an event; for whole days, the last day (RFC 5545, 3.6.1)."""
    ends = _moment(event, "DTEND") or starts
    if not isinstance(ends, datetime) and ends > starts:
        return ends - timedelta(days=1)
    return ends


def _moment(event: Component, name: str) -> date | None:
    """Return a date or a time of an event."""
    found = getattr(event.get(name), "dt", None)
    return found if isinstance(found, date) else None


def _show(moment: date, zone: ZoneInfo) -> str:
    """Format a day, or a minute in the zone; a floating time is the same in every zone."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    local = moment.astimezone(zone) if moment.tzinfo else moment
    return local.strftime("%Y-%m-%dT%H:%M")


def _text(event: Component, name: str) -> str:
    found = event.get(name, "")
    return str(found[0] if isinstance(found, list) else found)[:_LONGEST]


if __name__ == "__main__":
    confine_reader(LIMITS)
    wanted = sys.stdin.buffer.read(), ZoneInfo(sys.argv[1]), date.fromisoformat(sys.argv[2])
    if sys.argv[4:]:
        reported: object = read_days_off(*wanted, int(sys.argv[3]))
    else:
        listed = read(*wanted, int(sys.argv[3]))
        reported = {"events": listed.events, "unread": listed.unread}
    sys.stdout.write(json.dumps(reported))
