"""Queries over rooms (groups, channels and server rooms) and the way they answer mentions."""

from dataclasses import dataclass
from typing import Literal

from agent_core.ids import PersonId, RoomId
from agent_core.safe_names import NO_NAME, PlainName, name_given, read_plain_name
from agent_core.state.engine.connection import Decoders, read_all, read_one
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.tool_names import renew_names

Mode = Literal["person", "full", "room", "off"]
"""The conversation that a mention uses: the asker's own in this room, the direct conversation of
the one person who agreed to that here, or the room's. With `off`, a mention gets no answer.
"""

_PREFIX = "room-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A room. `person_id` is its row in `people`, because a room owns memory, too.

    `slug` names its folder under memories/rooms/; the slug in `people` has `room-` before it.
    `set_by` is the person who chose the mode; in the mode `full`, it is the person whose direct
    conversation continues here. Times are milliseconds since the epoch.
    """

    id: RoomId
    platform: str
    chat_id: str
    person_id: PersonId
    slug: str
    platform_title: str
    """The title on the platform: words of a stranger, which no prompt may show."""
    mode: Mode
    set_by: PersonId | None
    full_asked_at: int | None
    """When somebody was asked whether their direct conversation should continue here."""
    full_from: int | None
    full_until: int | None
    """The end of the last use of the mode `full`; None while it is in use. `full_from` is its first
    start. A room of a restored backup has an end, and the mode until the next start.
    """
    tools_off: tuple[str, ...] = ()
    """The tools that are switched off here."""
    agent: str = ""
    """The named agent that answers here, "" for the assistant itself."""
    name: PlainName = NO_NAME
    """The name that one of our own people gave to the room; "" without one."""

    @property
    def shown_name(self) -> PlainName:
        """The given name, or the title if it is a plain name; for people, not for prompts."""
        # Discord's titles read "House #kitchen", and no plain name has a sign.
        return self.name or read_plain_name(self.platform_title.replace("#", " "))

    @property
    def audience(self) -> str:
        """The audience of everyone in this room, as stored in `shares` and `messages`."""
        return f"room:{self.person_id}"


_ROOM = (
    "SELECT rooms.id, rooms.platform, rooms.chat_id, rooms.person_id, people.slug,"
    " rooms.title AS platform_title,"
    " rooms.mode, rooms.set_by, rooms.full_asked_at, rooms.full_from, rooms.full_until,"
    " people.tools_off, people.agent, rooms.name"
    " FROM rooms JOIN people ON people.id = rooms.person_id"
)


_DECODE: Decoders = {
    "slug": lambda slug: slug.removeprefix(_PREFIX),
    "tools_off": lambda names: renew_names(names.split()),
    "name": name_given,
}


def find(connection: Connection, *, platform: str, chat_id: str) -> Room | None:
    """Return the room of a chat, if anybody has ever addressed the assistant there."""
    found = connection.execute(
        f"{_ROOM} WHERE rooms.platform = :platform AND rooms.chat_id = :chat_id",
        {"platform": platform, "chat_id": chat_id},
    )
    return read_one(Room, found, **_DECODE)


def list_all(connection: Connection) -> list[Room]:
    """List all rooms, by platform and title."""
    rows = connection.execute(f"{_ROOM} ORDER BY rooms.platform, rooms.title, rooms.id")
    return read_all(Room, rows, **_DECODE)


def find_by_id(connection: Connection, *, room_id: RoomId) -> Room | None:
    """Return the room of this id."""
    found = connection.execute(f"{_ROOM} WHERE rooms.id = :room_id", {"room_id": room_id})
    return read_one(Room, found, **_DECODE)


def find_by_person(connection: Connection, *, person_id: PersonId) -> Room | None:
    """Return the room with this row in `people`."""
    found = connection.execute(
        f"{_ROOM} WHERE rooms.person_id = :person_id", {"person_id": person_id}
    )
    return read_one(Room, found, **_DECODE)


def find_name(connection: Connection, *, person_id: PersonId) -> PlainName:
    """Return the name for people of the room with this row in `people`; "" without one."""
    room = find_by_person(connection, person_id=person_id)
    return room.shown_name if room else NO_NAME


def set_name(connection: Connection, *, room_id: RoomId, name: PlainName) -> None:
    """Set the name that one of our own people gives to a room; "" takes it back."""
    connection.execute(
        "UPDATE rooms SET name = :name WHERE id = :room_id", {"name": name, "room_id": room_id}
    )


def insert(
    connection: Connection, *, platform: str, chat_id: str, title: str, slug: str, now: int
) -> Room:
    """Add a room with its row in `people`; `slug` names its folder.

    A room that is stored already stays, and gets the title.
    """
    known = find(connection, platform=platform, chat_id=chat_id)
    if known:
        connection.execute(
            "UPDATE rooms SET title = :title WHERE id = :room_id",
            {"title": title, "room_id": known.id},
        )
    else:
        owner = people.insert(
            connection,
            slug=_PREFIX + slug,
            name=read_plain_name(title) or slug,
            role="member",
            now=now,
            kind="room",
        )
        connection.execute(
            "INSERT INTO rooms (platform, chat_id, person_id, title, created_at)"
            " VALUES (:platform, :chat_id, :person_id, :title, :now)",
            {
                "platform": platform,
                "chat_id": chat_id,
                "person_id": owner.id,
                "title": title,
                "now": now,
            },
        )
    rows = connection.execute(
        f"{_ROOM} WHERE rooms.platform = :platform AND rooms.chat_id = :chat_id",
        {"platform": platform, "chat_id": chat_id},
    )
    return read_all(Room, rows, **_DECODE)[0]


def set_mode(
    connection: Connection, *, room_id: RoomId, mode: Mode, by: PersonId | None, now: int
) -> None:
    """Set how a room answers mentions; `by` is the person who chose it, if any.

    The first start of the mode `full` and its last end are kept.
    """
    connection.execute(
        "UPDATE rooms SET full_from ="
        " CASE WHEN :mode = 'full' THEN COALESCE(full_from, :now) ELSE full_from END,"
        " full_until = CASE WHEN :mode = 'full' THEN NULL WHEN mode = 'full' THEN :now"
        " ELSE full_until END, mode = :mode, set_by = :by WHERE id = :room_id",
        {"mode": mode, "by": by, "room_id": room_id, "now": now},
    )


def mark_restored(connection: Connection, *, now: int) -> None:
    """Mark the rooms in the mode `full` as of a restored backup: the next start ends the mode."""
    connection.execute("UPDATE rooms SET full_until = :now WHERE mode = 'full'", {"now": now})


def list_restored(connection: Connection) -> list[Room]:
    """List the rooms that a restored backup left in the mode `full`."""
    rows = connection.execute(f"{_ROOM} WHERE rooms.mode = 'full' AND rooms.full_until IS NOT NULL")
    return read_all(Room, rows, **_DECODE)


def note_full_asked(connection: Connection, *, room_id: RoomId, now: int) -> None:
    """Record that a person was asked to let their direct conversation continue in a room."""
    connection.execute(
        "UPDATE rooms SET full_asked_at = :now WHERE id = :room_id",
        {"now": now, "room_id": room_id},
    )
