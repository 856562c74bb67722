"""Reader program: iCalendar data in, the events of some days out as JSON."""

import json
import sys
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
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


def read_days_off(data: bytes, zone: ZoneInfo, first: date, days: int) -> list[tuple[str, str]]:
    """List the spans of whole-day events, without repeats. Raises `ValueError` as `read` does."""
    whole = {
        (event["begin"], event["end"])
        for event in read(data, zone, first, days)
        if "T" not in event["begin"]
    }
    return sorted(whole)


def read(data: bytes, zone: ZoneInfo, first: date, days: int) -> list[dict[str, str]]:
    """List the events that touch the given days of a zone, earliest first, without cancelled ones.

    Raises `ValueError` if the data is not a calendar.
    """
    begin = datetime.combine(first, time(), zone)
    end = datetime.combine(first + timedelta(days=days), time(), zone)
    calendars = icalendar.Calendar.from_ical(data, multiple=True)
    found = [event for calendar in calendars for event in _list(calendar, begin, end, zone)]
    if not calendars:
        raise ValueError("it contains no calendar")
    return sorted(found, key=lambda event: (event["begin"][:10], event["begin"], event["title"]))


def _list(
    calendar: Component, begin: datetime, end: datetime, zone: ZoneInfo
) -> Iterator[dict[str, str]]:
    for event in calendar.walk("VEVENT"):
        _shorten(event)
    query = recurring_ical_events.of(calendar, skip_bad_series=True)
    for event in query.between(begin, end):
        if str(event.get("STATUS", "")).upper() == "CANCELLED":
            continue
        starts = _moment(event, "DTSTART")
        if starts is None:
            continue
        yield {
            "title": _text(event, "SUMMARY"),
            "place": _text(event, "LOCATION"),
            "link": _text(event, "URL"),
            "begin": _show(starts, zone),
            "end": _show(_end_of(event, starts), zone),
        }


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
    listed = read_days_off if sys.argv[4:] else read
    reported = listed(
        sys.stdin.buffer.read(),
        ZoneInfo(sys.argv[1]),
        date.fromisoformat(sys.argv[2]),
        int(sys.argv[3]),
    )
    sys.stdout.write(json.dumps(reported))
