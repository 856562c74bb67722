"""People and rooms: who may talk, with which accounts, and how the bot answers in each room.

Only owners see it. It shows no message texts; those need the consent of their person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import (
    audit,
    people,
    presence,
    reading_consents,
    rooms,
)
from agent_core.state.people.people import Person
from agent_core.state.people.presence import Presence
from agent_core.state.people.rooms import Room
from gateway.interfaces.pages.accounts import describe_account
from gateway.interfaces.pages.rendering import Viewer
from gateway.interfaces.pages.views import Fields, Look
from gateway.operations.account_types import ListedAccount
from gateway.operations.accounts import describe_own
from gateway.operations.people import list_entrances
from gateway.operations.people_types import Nothing
from gateway.people.reading_consent import is_asked
from gateway.texts import forms
from gateway.texts import people as texts
from gateway.texts.usage import EVERYONES_USAGE

_PAGE = 50


async def show(look: Look) -> Fields:
    """Read the people with their accounts, and the rooms."""
    now, after = look.gateway.now(), look.read_number("after")
    skipped = look.read_number("rooms")
    clock, is_admitted = look.viewer.clock, look.context.is_admitted

    def work(connection: Connection) -> dict[str, Any]:
        everybody = people.list_all(connection)
        names = {person.id: person.name for person in everybody}
        shown = [person for person in everybody if person.id > after][:_PAGE]
        allowed = reading_consents.list_of_reader(connection, reader_id=look.person.id, now=now)
        listed = rooms.list_all(connection)
        page = listed[skipped : skipped + _PAGE]
        wrote = presence.list_speakers(connection, room_ids=[room.id for room in page])

        def describe(person: Person) -> tuple[Person, list[tuple[ListedAccount, str]]]:
            accounts = describe_own(connection, person, is_admitted)
            return person, [(one, describe_account(one, clock)) for one in accounts]

        def look_at(room: Room) -> RoomLine:
            return RoomLine(
                room=room,
                since=audit.find_newest(connection, person_id=room.person_id, action="room.mode"),
                seen=presence.find(connection, platform=room.platform, chat_id=room.chat_id),
                wrote=[
                    (names[person_id], at)
                    for person_id, at in sorted(
                        wrote[room.id].items(), key=lambda one: one[1], reverse=True
                    )
                    if person_id in names
                ],
            )

        return {
            "me": look.person,
            "p": texts,
            "everyone": EVERYONES_USAGE,
            "allowed": {one.person_id: one.expires_at for one in allowed},
            "asked": {
                one.id
                for one in shown
                if is_asked(connection, reader=look.person, person_id=one.id)
            },
            "people": [describe(person) for person in shown],
            "next": shown[-1].id if len(shown) == _PAGE else None,
            "rooms": [look_at(room) for room in page],
            "next_rooms": skipped + _PAGE if len(listed) > skipped + _PAGE else None,
            "names": names,
        }

    fields = await look.gateway.database.read(work)
    lines = [
        (line, _describe_direct(line, fields["names"], look.viewer)) for line in fields["rooms"]
    ]
    return {**fields, "rooms": lines, **await _find_entrances(look)}


async def _find_entrances(look: Look) -> dict[str, Any]:
    """Return who wants in, the open invitations, and the invitation that was made just now."""
    entrances = await list_entrances(look.context, Nothing())
    return {"entrances": entrances, "invited": look.flash.get("invited"), "f": forms}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomLine:
    """A room, when its mode was set, who was seen there, and who wrote there, each with a last
    time.
    """

    room: Room
    since: int | None
    seen: Presence | None
    wrote: Sequence[tuple[str, int]]


def _describe_direct(line: RoomLine, names: Mapping[PersonId, str], viewer: Viewer) -> str:
    """Describe whether a direct conversation continues in a room, and if not, why."""
    room, seen = line.room, line.seen
    if room.mode == "full":
        return texts.DIRECT_CONTINUES(name=names.get(room.set_by, "") if room.set_by else "")
    if seen is not None and seen.others_at is not None:
        told, at = texts.DIRECT_WITH_OTHERS, seen.others_at
    elif room.full_asked_at is not None:
        told, at = texts.DIRECT_ASKED, room.full_asked_at
    else:
        return texts.DIRECT_NOT_ASKED()
    return viewer.mark_within(told(time=viewer.clock.show(at)), at)
