"""What people may want of the house: what is set, what is not, and how it is shown."""

from agent_core.state.people import Person


def list_unset(person: Person) -> tuple[str, ...]:
    """What a person has never set, in words for the model."""
    names = []
    if person.time_zone is None:
        names.append("time zone")
    if person.language is None:
        names.append("preferred language")
    if person.quiet_from is None:
        names.append("quiet hours")
    return tuple(names)
