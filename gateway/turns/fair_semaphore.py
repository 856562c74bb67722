"""Shares the places for running turns fairly between people."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core.ids import PersonId


class FairSemaphore:
    """At most `at_once` turns in all and `per_person` of one person.

    Who waits is let in round-robin by person: one person's crowd waits behind its own.
    """

    def __init__(self, *, at_once: int, per_person: int) -> None:
        self._free = at_once
        self._per_person = per_person
        self._running: Counter[PersonId] = Counter()
        self._waiting: OrderedDict[PersonId, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def place(self, person_id: PersonId) -> AsyncIterator[None]:
        """Hold a place; waits for one if need be."""
        if self._may_run(person_id):
            self._take(person_id)
        else:
            await self._queue(person_id)
        try:
            yield
        finally:
            self._give_back(person_id)

    def _may_run(self, person_id: PersonId) -> bool:
        return self._free > 0 and self._running[person_id] < self._per_person

    def _take(self, person_id: PersonId) -> None:
        self._free -= 1
        self._running[person_id] += 1

    async def _queue(self, person_id: PersonId) -> None:
        """Wait until `_let_in` has taken a place in this caller's name."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(person_id, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(person_id)
            else:
                self._forget(person_id, turn)
            raise

    def _forget(self, person_id: PersonId, turn: asyncio.Future[None]) -> None:
        crowd = self._waiting.get(person_id)
        if crowd and turn in crowd:
            crowd.remove(turn)
            if not crowd:
                del self._waiting[person_id]

    def _give_back(self, person_id: PersonId) -> None:
        self._free += 1
        self._running[person_id] -= 1
        if not self._running[person_id]:
            del self._running[person_id]
        self._let_in()

    def _let_in(self) -> None:
        for person_id in list(self._waiting):
            if self._free <= 0:
                return
            if not self._may_run(person_id):
                continue
            crowd = self._waiting[person_id]
            while crowd and crowd[0].cancelled():
                crowd.popleft()  # it was cancelled just now, and did not get to say so yet
            if crowd:
                self._take(person_id)
                crowd.popleft().set_result(None)
            if crowd:
                self._waiting.move_to_end(person_id)
            else:
                del self._waiting[person_id]
