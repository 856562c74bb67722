"""One lane per conversation while it has work: order, steering, stopping, fairness."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from adapters.messages import InboundMessage
from agent_core.errors import StoreDamaged, StoreError
from agent_core.host import Steer
from agent_core.ids import ConversationId, InboxId, PersonId
from agent_core.state.turns import Turn
from gateway.fairness import FairGate
from gateway.translate import Pending
from gateway.turns import Reins, Turns
from gateway.workers import Workers

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0

Job = Pending | Turn


@dataclass(slots=True)
class Draining:
    """Whether the process wants to end."""

    is_on: bool = False


class _Host:
    """What a running turn sees of its lane."""

    def __init__(
        self, queue: deque[Job], draining: Draining, word: Callable[[Pending], Steer]
    ) -> None:
        self._queue = queue
        self._draining = draining
        self._word = word
        self._handed_out: list[Pending] = []

    def take_steers(self) -> Sequence[Steer]:
        taken = _take_leading(self._queue)
        self._handed_out += taken
        return [self._word(pending) for pending in taken]

    def is_draining(self) -> bool:
        return self._draining.is_on

    def settle_steers(self, claimed: frozenset[InboxId]) -> None:
        left = [p for p in self._handed_out if not claimed.issuperset(p.inbox_ids)]
        self._queue.extendleft(reversed(left))
        self._handed_out = []


class Lanes:
    """All lanes. Each runs one turn at a time; messages that come meanwhile steer it."""

    def __init__(self, *, group: asyncio.TaskGroup, turns: Turns, gate: FairGate) -> None:
        self._turns = turns
        self._gate = gate
        self._workers: Workers[ConversationId, Job] = Workers(group, self._serve, self._fail)
        self._reins: dict[ConversationId, Reins] = {}
        self._draining = Draining()

    def put(self, pending: Pending) -> None:
        """A message for its conversation: it starts a turn, or steers the one that runs."""
        self._workers.put(pending.conversation.id, pending)

    def take_up(self, turn: Turn) -> None:
        """Go on with a turn of an earlier process."""
        self._workers.put(turn.conversation_id, turn)

    def amend(
        self, conversation_id: ConversationId, message: InboundMessage, inbox_id: InboxId
    ) -> bool:
        """Put the new text of an edited message in its place; False if it waits no longer."""
        for job in self._workers.waiting(conversation_id):
            if isinstance(job, Pending) and job.message.message_id == message.message_id:
                job.message = replace(job.message, text=message.text)
                job.inbox_ids = (*job.inbox_ids, inbox_id)
                return True
        return False

    def stop(self, conversation_id: ConversationId) -> bool:
        """End the running turn of a conversation; False if there is none."""
        reins = self._reins.get(conversation_id)
        return reins is not None and reins.pull()

    def is_running(self, conversation_id: ConversationId) -> bool:
        """True while a conversation has a turn under way or about to be."""
        return self._workers.is_busy(conversation_id)

    def count_waiting(self, conversation_id: ConversationId) -> int:
        """How many messages of a conversation wait behind the running turn."""
        return len(self._workers.waiting(conversation_id))

    def drain(self) -> None:
        """Begin no more turns; let the running ones reach a step boundary."""
        self._draining.is_on = True

    def is_idle(self) -> bool:
        """True while no lane has work."""
        return len(self._workers) == 0

    def __len__(self) -> int:
        """How many conversations are at work."""
        return len(self._workers)

    async def _serve(self, conversation_id: ConversationId, queue: deque[Job]) -> None:
        if self._draining.is_on:
            queue.clear()  # all of it stands in the inbox, and is taken up at the next start
            return
        async with self._gate.place(_person_of(queue[0])):
            reins = self._reins[conversation_id] = Reins()
            await self._run_next(queue, reins)
            del self._reins[conversation_id]

    async def _run_next(self, queue: deque[Job], reins: Reins) -> None:
        job = queue[0]
        host = _Host(queue, self._draining, self._turns.word_steer)
        if isinstance(job, Turn):
            queue.popleft()
            await self._turns.resume(job, host, reins)
            return
        batch = reins.batch = _take_leading(queue) or [job]
        if job.is_held:
            queue.popleft()
        try:
            await self._turns.start(batch, host, reins)
        except StoreDamaged:
            raise  # waiting would not mend it
        except StoreError as error:
            _log.error("a turn waits for the store: %s", error)
            queue.extendleft(reversed(batch))
            await asyncio.sleep(_STORE_PAUSE)

    async def _fail(self, conversation_id: ConversationId, job: Job, error: Exception) -> None:
        """An unexpected error: the turn is settled as failed, and the person is told."""
        reins = self._reins.pop(conversation_id)
        try:
            if reins.active:
                await self._turns.give_up(reins.active)
            elif reins.batch:
                await self._turns.refuse(reins.batch, error)
        except StoreError as store_error:
            _log.error("what failed could not be settled, it is taken up later: %s", store_error)


def _person_of(job: Job) -> PersonId:
    return job.person_id if isinstance(job, Turn) else job.person.id


def _take_leading(queue: deque[Job]) -> list[Pending]:
    """Take the messages from the front that may go into one turn together."""
    taken = []
    while queue and isinstance(queue[0], Pending) and not queue[0].is_held:
        job = queue.popleft()
        assert isinstance(job, Pending)  # noqa: S101 - just looked
        taken.append(job)
    return taken
