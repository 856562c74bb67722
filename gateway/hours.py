"""Quiet hours: when a person's phone shall not ring."""

from agent_core.state.people import Person
from agent_core.tools.clock import local_time

_MINUTES = 60


def is_quiet(person: Person, zone: str, now: int) -> bool:
    """True within a person's quiet hours, which may go over midnight. `zone` is an IANA name."""
    start, end = person.quiet_from, person.quiet_until
    if start is None or end is None:
        return False
    moment = local_time(now, zone)
    minute = moment.hour * _MINUTES + moment.minute
    return start <= minute < end if start <= end else minute >= start or minute < end
