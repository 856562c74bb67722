"""What people call the places that jobs send to."""

from collections.abc import Sequence

from agent_core.ids import PersonId
from agent_core.state import homes, rooms
from agent_core.state.database import Connection
from agent_core.state.homes import Home
from agent_core.state.jobs import Target
from gateway import translate
from gateway.wording import name_platform

Spot = tuple[str, str]
"""A platform, and a chat on it."""


def name_places(
    connection: Connection, person_id: PersonId, targets: Sequence[Target], here: Target | None
) -> list[str]:
    """The places of a person's job, where they are now; `here` is where this is read.

    Without it somebody else reads this.
    """
    home = homes.find(connection, person_id=person_id)
    seen = [
        spot
        for spot in homes.list_seen(connection, person_id=person_id)
        if translate.read_chat(spot[1]).is_direct
    ]
    return [_name(connection, target, home, seen, here) for target in targets]


def _name(
    connection: Connection, target: Target, home: Home, seen: Sequence[Spot], here: Target | None
) -> str:
    if target == here:
        return "here"
    match target.kind:
        case "place":
            return _name_spot(connection, (target.platform, target.chat))
        case "home" if home.place:
            whose = "your home" if here else "their home"
            return f"{whose}, {_name_spot(connection, home.place)}"
        case "home":
            return _name_last(seen, here)
        case "account" if any(spot[0] == target.platform for spot in seen):
            return name_platform(target.platform)
        case "account":
            whom = "we have" if here else "they have"
            place = name_platform(target.platform)
            return f"{place}, where {whom} not talked yet: until then {_name_last(seen, here)}"


def _name_last(seen: Sequence[Spot], here: Target | None) -> str:
    """Where somebody without a home was last."""
    whom = "we" if here else "they"
    now = f" (now {name_platform(seen[0][0])})" if seen else ""
    return f"wherever {whom} talked last in private{now}"


def _name_spot(connection: Connection, spot: Spot) -> str:
    platform, address = name_platform(spot[0]), translate.read_chat(spot[1])
    if address.is_direct:
        return platform
    room = rooms.find(connection, platform=spot[0], chat_id=address.chat_id)
    name = room.title if room and room.title else "a room"
    thread = ", in a thread" if address.thread_id else ""
    return f"{name} in {platform}{thread}"
