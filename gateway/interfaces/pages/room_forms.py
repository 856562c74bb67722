"""The form for a group: how it is answered, and what it is called. Only owners reach it."""

from starlette.responses import Response

from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import rooms as operations
from gateway.operations.room_types import ChangeRoom, ListRooms, RoomLine
from gateway.operations.wire import load
from gateway.texts import forms
from gateway.texts import rooms as texts

_MOST_BYTES = 8_000


async def show(look: Look) -> Fields:
    """Read a group. Raises `Missing`."""
    room = await _find(look)
    modes = [one for one in texts.CHOICES if one != "full" or room.mode == "full"]
    return {
        "f": forms,
        "r": texts,
        "room": room,
        "name": _name(room) or texts.UNNAMED_ROOM(),
        "modes": modes,
    }


async def change(look: Look) -> Response:
    """Change a group. Raises `Missing`, `Declined` and `Mistaken`."""
    room = await _find(look)
    form = await read_form(look.request, _MOST_BYTES)
    mode = form.get("mode", [room.mode])[0]
    asked = {"number": room.number, "by": look.person.slug, "name": form.get("name", [""])[0]}
    if mode != room.mode:
        asked["mode"] = mode
    changed = await operations.change(look.context, load(ChangeRoom, asked))
    note = texts.CHANGED_ROOM(name=texts.name_room(_name(changed)))
    return look.redirect("/people#rooms", note=note)


def _name(room: RoomLine) -> str:
    return room.name or room.title


async def _find(look: Look) -> RoomLine:
    number = look.find_id("room")
    for room in (await operations.list_rooms(look.context, ListRooms())).rooms:
        if room.number == number:
            return room
    raise Missing
