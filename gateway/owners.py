"""Where the owners of the house can be reached by themselves: for what only they may decide."""

from collections.abc import Collection

from agent_core.ids import PersonId
from agent_core.state import owners, people, retired
from agent_core.state.database import Connection
from agent_core.state.people import Person
from gateway import translate
from gateway.identity import LOCAL_PLATFORM

_LOOK_BACK = 200
"""How many of an owner's latest turns are searched for a direct talk."""

Place = tuple[str, str]
"""A platform, and a chat of it."""


def choose(
    connection: Connection, asker: PersonId, here: Place, platforms: Collection[str]
) -> tuple[PersonId, Place] | None:
    """Which owner to ask, and where: the asker if they are one, else the first to be reached.

    `here` is where the asker is; an owner is asked there only if nobody reads along.
    """
    person = people.find(connection, person_id=asker)
    if person and person.is_owner:
        place = here if translate.read_chat(here[1]).is_direct else None
        place = place or find_direct(connection, person, platforms)
        return (person.id, place) if place else None
    for owner in owners.list_all(connection):
        if place := find_direct(connection, owner, platforms):
            return owner.id, place
    return None


def find_direct(connection: Connection, person: Person, platforms: Collection[str]) -> Place | None:
    """A person's latest direct talk on a platform that is on; a terminal only if there is no
    other: it may not be open.
    """
    gone = retired.list_all(connection)
    found = [
        (platform, chat)
        for platform, chat in owners.list_places(connection, person_id=person.id, limit=_LOOK_BACK)
        if platform in platforms
        and translate.read_chat(chat).is_direct
        and (platform, chat) not in gone
    ]
    return next((place for place in found if place[0] != LOCAL_PLATFORM), next(iter(found), None))
