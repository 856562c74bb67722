"""Quiet lines to the owners of the house about what happened to it while nobody talked."""

from collections.abc import Collection
from dataclasses import replace

from agent_core.ids import PersonId
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.people import owners, people
from agent_core.state.people.people import Person
from agent_core.state.queues import unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow, enqueue
from agent_core.state.queues.tasks import Task
from gateway import conversion
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.identity import LOCAL_PLATFORM
from gateway.texts import blocks

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
        place = here if conversion.read_chat(here[1]).is_direct else None
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
    gone = unreachable_chats.list_all(connection)
    found = [
        (platform, chat)
        for platform, chat in owners.list_places(connection, person_id=person.id, limit=_LOOK_BACK)
        if platform in platforms
        and conversion.read_chat(chat).is_direct
        and (platform, chat) not in gone
    ]
    return next((place for place in found if place[0] != LOCAL_PLATFORM), next(iter(found), None))


_TOLD = "soul_told"
"""The key in `meta` of the newest change of SOUL.md that the owners were told of."""


class Notices:
    """Tells owners, where they last talked in private."""

    def __init__(self, database: Database, dispatcher: OutboxDispatcher) -> None:
        self._database = database
        self._delivery = dispatcher

    async def tell_of_soul(self, task: Task, now: int) -> None:
        """SOUL.md was changed by hand; the task's payload is the row that says how.

        Done again, it tells nobody twice. Raises `StoreError`.
        """

        def work(connection: Connection) -> list[OutboxRow]:
            if meta.get(connection, key=_TOLD) == task.payload:
                return []
            meta.put(connection, key=_TOLD, value=task.payload)
            found = ledger.find_row(connection, entry_id=int(task.payload))
            words = blocks.describe_soul_change(found[1].id, found[1].change) if found else ""
            return self.enqueue_for_owners(connection, words, now) if words else []

        self._delivery.enqueue(await self._database.write("soul.tell", work))

    def enqueue_for_owners(self, connection: Connection, words: str, now: int) -> list[OutboxRow]:
        """Owe words to every owner who can be reached; within a transaction."""
        return [
            row
            for owner in owners.list_all(connection)
            for row in self._enqueue(connection, owner, words, now)
        ]

    def _enqueue(
        self, connection: Connection, owner: Person, words: str, now: int
    ) -> list[OutboxRow]:
        """Owe words to an owner, in as many parts as their platform needs; none rings."""
        adapters = self._delivery.adapters
        place = find_direct(connection, owner, adapters)
        if place is None:
            return []
        outgoing = NewOutboxMessage(
            platform=place[0], chat=place[1], body="", person_id=owner.id, is_silent=True
        )
        parts = adapters[place[0]].split(words)
        return [
            enqueue(connection, replace(outgoing, body=part, part=number), now=now)
            for number, part in enumerate(parts)
        ]
