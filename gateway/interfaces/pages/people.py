"""People and rooms: who may talk, with which accounts, and how each room is answered.

Only the owner sees it, and it has no words of conversations.
"""

from typing import Any

from agent_core.state.engine.database import Connection
from agent_core.state.people import people, rooms
from gateway.interfaces.pages.views import Fields, Look


async def show(look: Look) -> Fields:
    """Read the people with their accounts, and the rooms."""

    def work(connection: Connection) -> dict[str, Any]:
        everybody = people.list_all(connection)
        return {
            "people": [
                (person, people.list_accounts(connection, person_id=person.id))
                for person in everybody
            ],
            "rooms": rooms.list_all(connection),
            "names": {person.id: person.name for person in everybody},
        }

    return await look.gateway.database.read(work)
