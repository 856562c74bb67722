"""Lets go earlier what is held back, where its person's quiet time ends earlier than before."""

from collections.abc import Callable

from agent_core.state import held, homes
from agent_core.state.database import Connection
from agent_core.state.people import Person
from gateway.hours import quiet_until


def ease(connection: Connection, person: Person, zone: str, now: int) -> None:
    """Hold what is held for a person no longer than their quiet time lasts as it is set by now.

    `zone` is the IANA zone they live by.
    """
    days_off = homes.find(connection, person_id=person.id).days_off
    until = quiet_until(person, days_off, zone, now)
    held.release_sooner(connection, person_id=person.id, at=now if until is None else until)


def easing_in(house_zone: str) -> Callable[[Connection, Person, int], None]:
    """`ease` for people of whom some have set no zone of their own."""

    def ease_at(connection: Connection, person: Person, now: int) -> None:
        ease(connection, person, person.time_zone or house_zone, now)

    return ease_at
