"""Reschedules deferred messages after a person has changed their quiet hours."""

from collections.abc import Callable

from agent_core.schedule.quiet_times import quiet_until
from agent_core.state.engine.database import Connection
from agent_core.state.people import delivery_targets
from agent_core.state.people.people import Person
from agent_core.state.queues import deferred_messages


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
