"""One worker per key that exists only while it has work: the order of a chat or a conversation."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Workers(Generic[K, T]):
    """Runs `serve` for each key with waiting items: one at a time a key, all keys at once.

    `serve` is given the key and its queue, and takes at least one item from it a call.
    This is the bulkhead of intake, lanes and delivery: an error that nobody expected in
    one key's work is logged and handed to `fail`, and harms no other key. What `fail` raises
    is logged, and no more: then nobody is left to tell.
    """

    def __init__(
        self,
        group: asyncio.TaskGroup,
        serve: Callable[[K, deque[T]], Awaitable[None]],
        fail: Callable[[K, T, Exception], Awaitable[None]],
    ) -> None:
        self._group = group
        self._serve = serve
        self._fail = fail
        self._queues: dict[K, deque[T]] = {}

    def put(self, key: K, item: T) -> None:
        """Add an item at the end of its key's queue; never waits."""
        queue = self._queues.get(key)
        if queue is not None:
            queue.append(item)
            return
        self._queues[key] = queue = deque([item])
        self._group.create_task(self._work(key, queue))

    def waiting(self, key: K) -> deque[T]:
        """The queue of a key that is at work, else an empty one."""
        return self._queues.get(key) or deque()

    def is_busy(self, key: K) -> bool:
        """True while a key has a worker."""
        return key in self._queues

    def __len__(self) -> int:
        """How many keys are at work."""
        return len(self._queues)

    async def _work(self, key: K, queue: deque[T]) -> None:
        try:
            while queue:
                first = queue[0]
                try:
                    await self._serve(key, queue)
                except Exception as error:  # the bulkhead, see the class
                    _log.exception("unexpected error in the work of %s", key)
                    if queue and queue[0] is first:
                        queue.popleft()
                    await self._report(key, first, error)
        finally:
            del self._queues[key]

    async def _report(self, key: K, item: T, error: Exception) -> None:
        try:
            await self._fail(key, item, error)
        except Exception:  # the bulkhead, see the class
            _log.exception("what failed in the work of %s could not be reported", key)
