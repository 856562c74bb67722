"""One lane per conversation while it has work: order, steering, stopping, fairness."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress

from adapters.messages import InboundMessage
from agent_core.errors import StoreDamaged, StoreError
from agent_core.host import Steer
from agent_core.ids import ConversationId, InboxId, PersonId, TurnId
from agent_core.state.conversations.turns import Turn
from agent_core.state.people.people import Person
from gateway import conversion
from gateway.concurrency import FairSemaphore, Workers
from gateway.conversion import Place, QueuedMessage
from gateway.people.rooms import Rooms
from gateway.turns.crash_backoff import wait_before
from gateway.turns.handle import TurnHandle
from gateway.turns.runner import TurnRunner
from gateway.turns.staleness import StaleTurn
from gateway.turns.user_prompts import UserPrompts

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0

Job = QueuedMessage | Turn
Spot = tuple[str, str, PersonId]
"""A platform, a chat on it, and who writes there: what belongs into one turn."""


class _Host:
    """What a running turn sees of its lane."""

    def __init__(
        self,
        queue: deque[Job],
        handle: TurnHandle,
        draining: asyncio.Event,
        word: Callable[[QueuedMessage], Steer],
    ) -> None:
        self._queue = queue
        self._handles = handle
        self._draining = draining
        self._word = word
        self._handed_out: list[QueuedMessage] = []

    def take_steers(self) -> Sequence[Steer]:
        place, asker = self._handles.place, self._handles.asker
        if place is None or asker is None:
            return []
        taken = _take_steers(self._queue, (place.platform, place.chat, asker))
        self._handed_out += taken
        return [self._word(pending) for pending in taken]

    def is_draining(self) -> bool:
        return self._draining.is_set()

    def return_unclaimed(self, claimed: frozenset[InboxId]) -> None:
        left = [p for p in self._handed_out if not claimed.issuperset(p.inbox_ids)]
        whole = sorted([*left, *self._queue], key=_age_of)
        self._queue.clear()
        self._queue.extend(whole)
        self._handed_out = []


class Lanes:
    """All lanes. Each runs one turn at a time; messages that come meanwhile steer it."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        turns: TurnRunner,
        gate: FairSemaphore,
        user_prompts: UserPrompts,
        rooms: Rooms,
    ) -> None:
        self._turns = turns
        self._rooms = rooms
        self._user_prompts = user_prompts
        self._look_again: Callable[[Sequence[InboxId]], None] = _forget
        self._gate = gate
        self._workers: Workers[ConversationId, Job] = Workers(group, self._serve, self._fail)
        self._handles: dict[ConversationId, TurnHandle] = {}
        self._draining = asyncio.Event()
        user_prompts.heed(self._is_spoken_to)

    def on_stale(self, look_again: Callable[[Sequence[InboxId]], None]) -> None:
        """Whom to give events that turned out to be somebody else's by now."""
        self._look_again = look_again

    def put(self, pending: QueuedMessage) -> None:
        """A message for its conversation: it starts a turn, or steers the one that runs.

        A turn that waits for an answer to a question waits no longer then.
        """
        handle = self._handles.get(pending.conversation.id)
        self._workers.put(pending.conversation.id, pending)
        if handle and handle.active and handle.asker == pending.person.id and not pending.starts_own_turn:
            self._user_prompts.interrupt(handle.active.id)

    def take_up(self, turn: Turn) -> None:
        """Go on with a turn of an earlier process."""
        self._workers.put(turn.conversation_id, turn)

    def find_waiting(
        self, conversation_id: ConversationId, platform: str, edit: InboundMessage
    ) -> QueuedMessage | None:
        """The message that an edit is of, as long as its words can still be replaced."""
        handle = self._handles.get(conversation_id)
        begun = handle.batch if handle and not handle.is_worded else ()
        for job in (*begun, *self._workers.waiting(conversation_id)):
            if isinstance(job, QueuedMessage) and _is_same(job, platform, edit):
                return job
        return None

    def may_stop(self, conversation_id: ConversationId, person: Person) -> bool:
        """True unless somebody else's turn runs there: they and owners may stop it."""
        handle = self._handles.get(conversation_id)
        return handle is None or handle.asker in (None, person.id) or person.is_owner

    def stop(self, conversation_id: ConversationId) -> bool:
        """End the running turn of a conversation; False if there is none."""
        handle = self._handles.get(conversation_id)
        return handle is not None and handle.request_stop()

    def stop_at(self, platform: str, chat: str) -> bool:
        """End every turn that is answered in a chat; False if there is none."""
        stopped = [
            handle.request_stop()
            for handle in self._handles.values()
            if handle.place and (handle.place.platform, handle.place.chat) == (platform, chat)
        ]
        return any(stopped)

    def place_of(self, conversation_id: ConversationId) -> Place | None:
        """Where the running turn of a conversation is answered, if one runs."""
        handle = self._handles.get(conversation_id)
        return handle.place if handle else None

    async def move(self, conversation_id: ConversationId, place: Place) -> bool:
        """Answer the running turn of a conversation elsewhere; False if there is none.

        Raises `StoreError`.
        """
        handle = self._handles.get(conversation_id)
        return handle is not None and await self._turns.move(handle, place)

    def is_running(self, conversation_id: ConversationId) -> bool:
        """True while a conversation has a turn under way or about to be."""
        return self._workers.is_busy(conversation_id)

    def count_waiting(self, conversation_id: ConversationId) -> int:
        """How many messages of a conversation wait behind the running turn."""
        return len(self._workers.waiting(conversation_id))

    def invalidate_conversations(self) -> None:
        """Something was done to talks beside their turns: they are read anew."""
        self._turns.invalidate_conversations()

    def drain(self) -> None:
        """Begin no more turns; let the running ones reach a step boundary.

        Those that wait for an answer are left now: it may be long in coming.
        """
        self._draining.set()
        self._user_prompts.close()

    def is_idle(self) -> bool:
        """True while no lane has work."""
        return len(self._workers) == 0

    def __len__(self) -> int:
        """How many conversations are at work."""
        return len(self._workers)

    def _is_spoken_to(self, turn_id: TurnId) -> bool:
        """True if a message waits that steers this turn at its next step."""
        for conversation_id, handle in self._handles.items():
            if handle.active and handle.active.id == turn_id and handle.place and handle.asker:
                spot = (handle.place.platform, handle.place.chat, handle.asker)
                return bool(_find_steers(self._workers.waiting(conversation_id), spot))
        return False

    async def _serve(self, conversation_id: ConversationId, queue: deque[Job]) -> None:
        handle = self._handles[conversation_id] = TurnHandle(asker=_person_of(queue[0]))
        async with AsyncExitStack() as stack:
            try:
                async with handle.stoppable():
                    await self._be_careful(queue[0])
                    if not _is_run(queue[0]):
                        await stack.enter_async_context(self._gate.place(_person_of(queue[0])))
            except TimeoutError:
                _log.info("stopped before its turn came: %s", conversation_id)
            if self._draining.is_set():
                queue.clear()  # all of it stands in the database, and is taken up at the next start
            else:
                await self._run_next(queue, handle)
        del self._handles[conversation_id]

    async def _be_careful(self, job: Job) -> None:
        """Let the house live for a while before a turn is taken up over which others died."""
        if isinstance(job, Turn) and (wait := wait_before(job)):
            _log.warning(
                "turn %d, over which %d processes died, waits %g s", job.id, job.attempts, wait
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._draining.wait()

    async def _run_next(self, queue: deque[Job], handle: TurnHandle) -> None:
        """Run the turn that is first in the queue; while the store refuses to begin it, wait."""
        job = queue[0]
        host = _Host(queue, handle, self._draining, self._turns.format_steer)
        if isinstance(job, QueuedMessage):
            handle.batch = _take_leading(queue, _spot_of(job)) or [job]
            handle.place, handle.asker = conversion.place_of(handle.batch), job.person.id
        if isinstance(job, Turn) or job.starts_own_turn:
            queue.popleft()
        while not self._draining.is_set():
            try:
                if isinstance(job, Turn):
                    await self._turns.resume(job, host, handle)
                elif _is_run(job) or await self._rooms.is_current(handle.batch[-1]):
                    await self._turns.start(handle.batch, host, handle)
                else:
                    raise StaleTurn
            except StaleTurn:
                self._look_again([i for pending in handle.batch for i in pending.inbox_ids])
                return
            except StoreDamaged:
                raise  # waiting would not mend it
            except StoreError as error:
                _log.error("a turn waits for the store: %s", error)
                await asyncio.sleep(_STORE_PAUSE)
            else:
                return

    async def _fail(self, conversation_id: ConversationId, job: Job, error: Exception) -> None:
        """An unexpected error: the turn is settled as failed, and the person is told.

        Until that is written the lane waits: a turn that is neither running nor settled
        would leave a transcript that the next turn can't go on from.
        """
        handle = self._handles.pop(conversation_id)
        while True:
            try:
                if handle.active and await self._turns.give_up(handle.active):
                    return
                if isinstance(job, Turn):
                    await self._turns.abandon(job)
                else:
                    await self._turns.refuse(handle.batch or [job], error)
            except StaleTurn:
                self._look_again([i for pending in handle.batch for i in pending.inbox_ids])
                return
            except StoreError as store_error:
                _log.error("what failed can't be settled yet: %s", store_error)
                await asyncio.sleep(_STORE_PAUSE)
            else:
                return


def _person_of(job: Job) -> PersonId:
    return job.person_id if isinstance(job, Turn) else job.person.id


def _is_run(job: Job) -> bool:
    """True for the run of somebody's job: those are counted elsewhere, and take no place from
    people, and where one is answered was looked at when it was sent off.
    """
    return isinstance(job, QueuedMessage) and job.job_turn is not None


def _is_same(pending: QueuedMessage, platform: str, edit: InboundMessage) -> bool:
    """True if an edit is one of this message; ids are unique within a chat only."""
    message = pending.message
    return (pending.platform, message.address, message.message_id) == (
        platform,
        edit.address,
        edit.message_id,
    )


def _spot_of(pending: QueuedMessage) -> Spot:
    chat = conversion.name_chat(pending.message.address)
    return pending.platform, chat, pending.person.id


def _forget(_: Sequence[InboxId]) -> None:
    """Without anybody to look at them again events wait for the next start."""


def _age_of(job: Job) -> int:
    """What came first is worked on first; a turn of an earlier process before everything."""
    return job.inbox_ids[0] if isinstance(job, QueuedMessage) else 0


def _find_steers(queue: deque[Job], spot: Spot) -> list[QueuedMessage]:
    """What steers a turn: what its person wrote there, up to what they want kept for later.

    What others wrote meanwhile, or they themselves elsewhere, waits and holds nothing up.
    """
    found: list[QueuedMessage] = []
    for job in queue:
        if isinstance(job, QueuedMessage) and _spot_of(job) == spot:
            if job.starts_own_turn:
                break
            found.append(job)
    return found


def _take_steers(queue: deque[Job], spot: Spot) -> list[QueuedMessage]:
    """Take what steers a turn out of the queue."""
    taken = _find_steers(queue, spot)
    left = [job for job in queue if not any(job is one for one in taken)]
    queue.clear()
    queue.extend(left)
    return taken


def _find_leading(queue: deque[Job], spot: Spot) -> QueuedMessage | None:
    """The message in front, if it may go into a turn of this spot."""
    job = queue[0] if queue else None
    if not isinstance(job, QueuedMessage) or job.starts_own_turn or _spot_of(job) != spot:
        return None
    return job


def _take_leading(queue: deque[Job], spot: Spot) -> list[QueuedMessage]:
    """Take the messages from the front that may go into one turn together.

    What was written elsewhere is answered elsewhere, and so by another turn; and nobody
    steers what somebody else asked for.
    """
    taken: list[QueuedMessage] = []
    while job := _find_leading(queue, spot):
        queue.popleft()
        taken.append(job)
    return taken
