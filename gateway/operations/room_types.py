"""Requests and answers of the operations on rooms. Quick to import."""

from dataclasses import dataclass, field
from typing import Literal

ChosenMode = Literal["person", "room", "off"]
"""The modes that an owner chooses; `full` needs the consent of its person, in the room."""
_MODE = (
    "The mode must be person, room or off. A direct conversation continues in a group only if its"
    " person agrees there, with /room full."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRooms:
    """Asks for all rooms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomLine:
    """A room. `title` is the one of its platform, `name` the one that an owner gave."""

    number: int
    platform: str
    title: str
    name: str
    mode: Literal["person", "full", "room", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomList:
    """The rooms, by platform and title."""

    rooms: tuple[RoomLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRoom:
    """Asks to change a room. None leaves a part as it is, and "" takes the name back.

    `by` is the folder of the owner who asks; "" for the command line.
    """

    number: int
    mode: ChosenMode | None = field(default=None, metadata={"refusal": _MODE})
    name: str | None = None
    by: str = ""
