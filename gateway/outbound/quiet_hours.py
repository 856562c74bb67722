"""Quiet hours and days off: when messages to a person are silent or deferred."""

from collections.abc import Callable
from datetime import datetime, timedelta

from agent_core.schedule import milliseconds
from agent_core.state.engine.database import Connection
from agent_core.state.people import delivery_targets
from agent_core.state.people.people import Person
from agent_core.state.queues import deferred_messages
from agent_core.tools import local_time

_MINUTES = 60
_DAYS = 7
_MOST_STEPS = 2 * _DAYS + 1
LONGEST_QUIET = (_DAYS + 1) * 86_400_000
"""Milliseconds; no quiet time is longer, for at least one day of a week is not off."""


def is_quiet(person: Person, zone: str, now: int) -> bool:
    """Return whether a person has quiet hours now. `zone` is an IANA name."""
    return person.quiet_from is not None and _is_quiet_at(person, local_time(now, zone))


def quiet_until(person: Person, days_off: tuple[int, ...], zone: str, now: int) -> int | None:
    """Return the end of the quiet hours and days off that hold now, in milliseconds, or None.

    Seven days off count as none, because nothing would ever be delivered.
    """
    off = days_off if len(set(days_off)) < _DAYS else ()
    moment = local_time(now, zone)
    for _ in range(_MOST_STEPS):
        if moment.isoweekday() in off:
            moment = _at(moment + timedelta(days=1), 0)
        elif _is_quiet_at(person, moment):
            moment = _end_of_quiet(person, moment)
        else:
            break
    end = milliseconds(moment)
    return end if end > now else None


def _is_quiet_at(person: Person, moment: datetime) -> bool:
    start, end = person.quiet_from, person.quiet_until
    if start is None or end is None:
        return False
    minute = moment.hour * _MINUTES + moment.minute
    return start <= minute < end if start <= end else minute >= start or minute < end


def _end_of_quiet(person: Person, moment: datetime) -> datetime:
    end = person.quiet_until or 0
    today = _at(moment, end)
    return today if today > moment else _at(moment + timedelta(days=1), end)


def _at(day: datetime, minute: int) -> datetime:
    return day.replace(hour=minute // _MINUTES, minute=minute % _MINUTES, second=0, microsecond=0)


def reschedule(connection: Connection, person: Person, zone: str, now: int) -> None:
    """Reschedule deferred messages after a person has changed their quiet hours.

    `zone` is the person's IANA time zone.
    """
    days_off = delivery_targets.find(connection, person_id=person.id).days_off
    until = quiet_until(person, days_off, zone, now)
    deferred_messages.release_sooner(
        connection, person_id=person.id, at=now if until is None else until
    )


def make_rescheduler(default_zone: str) -> Callable[[Connection, Person, int], None]:
    """Return `reschedule` with a default time zone for people who have set none."""

    def ease_at(connection: Connection, person: Person, now: int) -> None:
        reschedule(connection, person, person.time_zone or default_zone, now)

    return ease_at
