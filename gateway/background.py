"""Durable, bounded work after turns: one task at a time, tried again, never in a lane's way."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from agent_core.errors import StoreError
from agent_core.state import tasks
from agent_core.state.database import Connection, Database
from agent_core.state.tasks import Task

_log = logging.getLogger(__name__)

_POLL = 15.0
"""Seconds between looks at what is due; nothing here is urgent."""
_LONGEST = 300.0
"""Seconds that one task may take."""
_MOST_ATTEMPTS = 3
_PAUSE = 60_000

Doer = Callable[[Task], Awaitable[None]]


class Background:
    """Does what the `tasks` table owes."""

    def __init__(
        self,
        *,
        database: Database,
        doers: Mapping[str, Doer],
        now: Callable[[], int],
        poll: float = _POLL,
    ) -> None:
        """`doers` names what to do for each kind of task; `poll` is in seconds."""
        self._database = database
        self._doers = doers
        self._now = now
        self._poll = poll

    async def run(self) -> None:
        """Work until cancelled; what was half done by an earlier process is done again."""
        is_reopened = False
        while True:
            try:
                if not is_reopened:
                    await self._database.write("tasks.reopen", tasks.reopen)
                    is_reopened = True
                worked = await self._do_next()
            except StoreError as error:
                _log.error("background work waits for the store: %s", error)
                worked = is_reopened = False  # what was being done is done again
            if not worked:
                await asyncio.sleep(self._poll)

    async def _do_next(self) -> bool:
        """Do the task that is due, if one is. Raises `StoreError`."""
        now = self._now()
        if not await self._database.read(lambda c: tasks.has_due(c, now=now)):
            return False
        task = await self._database.write("tasks.take", lambda c: tasks.take_due(c, now=now))
        if task is None:
            return False
        try:
            async with asyncio.timeout(_LONGEST):
                await self._doers[task.kind](task)
        except Exception as error:  # the bulkhead: one task's error harms no other
            _log.warning("task %d (%s) failed: %r", task.id, task.kind, error)
            await self._set_back(task, repr(error))
        else:
            await self._database.write("tasks.done", lambda c: tasks.finish(c, task_id=task.id))
        return True

    async def _set_back(self, task: Task, reason: str) -> None:
        due_at = self._now() + _PAUSE * 2**task.attempts

        def work(connection: Connection) -> None:
            if task.attempts >= _MOST_ATTEMPTS:
                tasks.abandon(connection, task_id=task.id, reason=reason)
            else:
                tasks.postpone(connection, task_id=task.id, due_at=due_at, reason=reason)

        await self._database.write("tasks.back", work)
