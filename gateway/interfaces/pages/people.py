"""People and rooms: who may talk, with which accounts, and how each room is answered.

Only an owner sees it. It has no words of conversations; those need the consent of their person.
"""

from typing import Any

from agent_core.state.engine.database import Connection
from agent_core.state.people import people, reading_consents, rooms
from gateway.interfaces.pages.views import Fields, Look
from gateway.people import is_asked
from gateway.texts.console.usage import EVERYONES_USAGE

_PAGE = 50


async def show(look: Look) -> Fields:
    """Read the people with their accounts, and the rooms."""
    now, asked = look.gateway.now(), look.request.query_params.get("after", "")
    after = int(asked[:18]) if asked.isascii() and asked.isdecimal() else 0

    def work(connection: Connection) -> dict[str, Any]:
        everybody = people.list_all(connection)
        shown = [person for person in everybody if person.id > after][:_PAGE]
        allowed = reading_consents.list_of_reader(connection, reader_id=look.person.id, now=now)
        return {
            "me": look.person,
            "everyone": EVERYONES_USAGE,
            "allowed": {one.person_id: one.expires_at for one in allowed},
            "asked": {
                one.id
                for one in shown
                if is_asked(connection, reader=look.person, person_id=one.id)
            },
            "people": [
                (person, people.list_accounts(connection, person_id=person.id)) for person in shown
            ],
            "next": shown[-1].id if len(shown) == _PAGE else None,
            "rooms": rooms.list_all(connection),
            "names": {person.id: person.name for person in everybody},
        }

    return await look.gateway.database.read(work)
