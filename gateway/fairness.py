"""Order and fairness: one worker per key, a fair semaphore, and signals between services."""

import asyncio
import logging
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agent_core.ids import PersonId, set_turn

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Workers(Generic[K, T]):
    """Runs `serve` for each key with waiting items: one at a time per key, all keys at once.

    `serve` takes the key and its queue, and removes at least one item per call. This is the
    bulkhead of router, lanes and dispatcher: an unexpected error in one key's work is logged,
    passed to `fail`, and harms no other key. An error in `fail` is only logged. A worker outlives
    the turn that put its first item, so each item starts without a current turn.
    """

    group: asyncio.TaskGroup
    serve: Callable[[K, deque[T]], Awaitable[None]]
    fail: Callable[[K, T, Exception], Awaitable[None]]
    _queues: dict[K, deque[T]] = field(default_factory=dict, init=False)

    def put(self, key: K, item: T) -> None:
        """Add an item at the end of its key's queue; never waits."""
        queue = self._queues.get(key)
        if queue is not None:
            queue.append(item)
            return
        self._queues[key] = queue = deque([item])
        self.group.create_task(self._work(key, queue))

    def waiting(self, key: K) -> deque[T]:
        """Return the queue of a busy key, otherwise an empty one."""
        return self._queues.get(key) or deque()

    def is_busy(self, key: K) -> bool:
        """Return whether a key has a worker."""
        return key in self._queues

    def __len__(self) -> int:
        """Count the busy keys."""
        return len(self._queues)

    async def _work(self, key: K, queue: deque[T]) -> None:
        try:
            while queue:
                set_turn(None)  # only in this task's context
                await self._serve_first(key, queue)
        finally:
            del self._queues[key]

    async def _serve_first(self, key: K, queue: deque[T]) -> None:
        first = queue[0]
        try:
            await self.serve(key, queue)
        except Exception as error:  # the bulkhead, see the class
            _log.exception("unexpected error in %s", key)
            if queue and queue[0] is first:
                queue.popleft()
            await self._report(key, first, error)

    async def _report(self, key: K, item: T, error: Exception) -> None:
        try:
            await self.fail(key, item, error)
        except Exception:  # the bulkhead, see the class
            _log.exception("a failure of %s could not be reported", key)


class Signal(Generic[T]):
    """An event of one service that others listen to."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], None]] = []

    def connect(self, listener: Callable[[T], None]) -> None:
        """Call `listener` for every later event."""
        self._listeners.append(listener)

    def emit(self, value: T) -> None:
        """Call the listeners in the order in which they were connected."""
        for listener in self._listeners:
            listener(value)


class FairSemaphore:
    """Admits at most `at_once` turns in all and `per_person` of one person.

    Waiting turns enter round-robin by person, so one person's many turns wait behind each other.
    """

    def __init__(self, *, at_once: int, per_person: int) -> None:
        self._free = at_once
        self._per_person = per_person
        self._running: Counter[PersonId] = Counter()
        self._waiting: OrderedDict[PersonId, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def place(self, person_id: PersonId) -> AsyncIterator[None]:
        """Hold a place, waiting for one if needed."""
        if self._may_run(person_id):
            self._take(person_id)
        else:
            await self._queue(person_id)
        try:
            yield
        finally:
            self._give_back(person_id)

    @asynccontextmanager
    async def released(self, person_id: PersonId) -> AsyncIterator[None]:
        """Release a held place during the block, and wait for a place at its end."""
        self._give_back(person_id)
        try:
            yield
            if self._may_run(person_id):
                self._take(person_id)
            else:
                await self._queue(person_id)
        except BaseException:
            self._take(person_id)  # the caller's `place` releases one more place at its end
            raise

    def _may_run(self, person_id: PersonId) -> bool:
        return self._free > 0 and self._running[person_id] < self._per_person

    def _take(self, person_id: PersonId) -> None:
        self._free -= 1
        self._running[person_id] += 1

    async def _queue(self, person_id: PersonId) -> None:
        """Wait until `_let_in` has taken a place for this caller."""
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
                crowd.popleft()  # cancelled just now, but its task has not run since
            if crowd:
                self._take(person_id)
                crowd.popleft().set_result(None)
            if crowd:
                self._waiting.move_to_end(person_id)
            else:
                del self._waiting[person_id]


class StopSwitch:
    """Ends the work in its scope at the next await."""

    def __init__(self) -> None:
        self._is_requested = False
        self._is_stale = False
        self._scope: asyncio.Timeout | None = None

    @asynccontextmanager
    async def scope(self) -> AsyncIterator[None]:
        """Run the block; after `request` or `mark_stale` its next await raises `TimeoutError`."""
        async with asyncio.timeout(None) as scope:
            self._scope = scope
            try:
                yield
            finally:
                self._scope = None

    def request(self) -> None:
        """Stop the work because a person asks for it."""
        self._cancel()
        self._is_requested = True

    def mark_stale(self) -> None:
        """Stop the work because the data that it rests on has changed."""
        self._cancel()
        self._is_stale = True

    def is_requested(self) -> bool:
        """Return whether a person wants the work to end."""
        return self._is_requested

    def is_stale(self) -> bool:
        """Return whether the work rests on data that has changed."""
        return self._is_stale

    def _cancel(self) -> None:
        if self._scope and not self._is_requested:
            self._scope.reschedule(asyncio.get_running_loop().time())
