"""A room is known by its place, and is somebody who remembers."""

from agent_core.state.engine.database import Connection
from agent_core.state.people import people, rooms
from agent_core.state.people.rooms import Mode, Room
from tests.agent_core.state.rows import add_person


def add_room(connection: Connection, chat_id: str = "1", title: str = "Den") -> Room:
    return rooms.insert(
        connection, platform="p", chat_id=chat_id, title=title, slug=title.lower(), now=0
    )


def test_a_room_is_somebody_of_its_own_kind(connection: Connection) -> None:
    room = add_room(connection)
    somebody = people.find(connection, person_id=room.person_id)
    assert somebody is not None
    assert (somebody.kind, somebody.role, somebody.slug) == ("room", "member", "room-den")
    assert (room.slug, room.mode, room.set_by) == ("den", "person", None)
    assert room.audience == f"room:{room.person_id}"
    assert people.list_all(connection) == [], "it is none of the people"


def test_a_room_is_made_once_and_found_again(connection: Connection) -> None:
    room = add_room(connection)
    assert add_room(connection) == room
    assert rooms.find(connection, platform="p", chat_id="1") == room
    assert rooms.find_by_id(connection, room_id=room.id) == room
    assert rooms.find(connection, platform="q", chat_id="1") is None


def test_two_rooms_of_one_title_have_two_folders(connection: Connection) -> None:
    assert {add_room(connection, chat).slug for chat in ("1", "2")} == {"den", "den-2"}


def test_a_person_who_is_called_like_a_room_takes_nothing_from_it(connection: Connection) -> None:
    person = add_person(connection, "room-den")
    assert person.slug == "room-den"
    assert add_room(connection).slug == "den-2"


def test_a_new_title_is_taken_and_changes_nothing_else(connection: Connection) -> None:
    room = add_room(connection)
    renamed = rooms.insert(
        connection, platform="p", chat_id="1", title="Garden", slug="garden", now=9
    )
    assert (renamed.id, renamed.person_id, renamed.slug) == (room.id, room.person_id, "den")
    assert rooms.find_name(connection, person_id=room.person_id) == "Garden"


def test_a_mode_is_set_by_somebody(connection: Connection) -> None:
    room, ann = add_room(connection), add_person(connection)
    rooms.set_mode(connection, room_id=room.id, mode="off", by=ann.id, now=1)
    found = rooms.find_by_id(connection, room_id=room.id)
    assert found is not None
    assert (found.mode, found.set_by, found.full_from) == ("off", ann.id, None)


def test_the_time_of_the_mode_full_encloses_every_use_of_it(connection: Connection) -> None:
    room, ann = add_room(connection), add_person(connection)
    modes: list[Mode] = ["full", "person", "full", "off", "room"]
    spans = []
    for now, mode in enumerate(modes, start=1):
        rooms.set_mode(connection, room_id=room.id, mode=mode, by=ann.id, now=now)
        found = rooms.find_by_id(connection, room_id=room.id)
        assert found is not None
        spans.append((found.full_from, found.full_until))
    assert spans == [(1, None), (1, 2), (1, None), (1, 4), (1, 4)]
