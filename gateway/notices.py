"""Quiet lines to the owners of the house about what happened to it while nobody talked."""

from dataclasses import replace

from agent_core.state import ledger, meta, owners
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import Debt, OutboxRow, owe
from agent_core.state.people import Person
from agent_core.state.tasks import Task
from gateway import wording_blocks as wording
from gateway.delivery import Delivery
from gateway.owners import find_direct

_TOLD = "soul_told"
"""The key in `meta` of the newest change of SOUL.md that the owners were told of."""


class Notices:
    """Tells owners, where they last talked in private."""

    def __init__(self, database: Database, delivery: Delivery) -> None:
        self._database = database
        self._delivery = delivery

    async def tell_of_soul(self, task: Task, now: int) -> None:
        """SOUL.md was changed by hand; the task's payload is the row that says how.

        Done again, it tells nobody twice. Raises `StoreError`.
        """

        def work(connection: Connection) -> list[OutboxRow]:
            if meta.get(connection, key=_TOLD) == task.payload:
                return []
            meta.put(connection, key=_TOLD, value=task.payload)
            found = ledger.find_row(connection, entry_id=int(task.payload))
            words = wording.tell_of_soul(found[1].id, found[1].change) if found else ""
            return self.owe_all(connection, words, now) if words else []

        self._delivery.owe(await self._database.write("soul.tell", work))

    def owe_all(self, connection: Connection, words: str, now: int) -> list[OutboxRow]:
        """Owe words to every owner who can be reached; within a transaction."""
        return [
            row
            for owner in owners.list_all(connection)
            for row in self._owe(connection, owner, words, now)
        ]

    def _owe(self, connection: Connection, owner: Person, words: str, now: int) -> list[OutboxRow]:
        """Owe words to an owner, in as many parts as their platform needs; none rings."""
        adapters = self._delivery.adapters
        place = find_direct(connection, owner, adapters)
        if place is None:
            return []
        debt = Debt(platform=place[0], chat=place[1], body="", person_id=owner.id, is_silent=True)
        parts = adapters[place[0]].split(words)
        return [
            owe(connection, replace(debt, body=part, part=number), now=now)
            for number, part in enumerate(parts)
        ]
