"""What works beside the chats: titles, files of memory, forgetting, sweeping, garbage."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from agent_core.agent.quotas.reservations import Quotas
from agent_core.agent.titles import TitleGenerator
from agent_core.errors import StoreError
from agent_core.ids import SessionId
from agent_core.memory.soul import soul
from agent_core.memory.store import MemoryStore
from agent_core.memory.sync import scan_all
from agent_core.models.contract import Model
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.queues import tasks
from agent_core.state.queues.tasks import Task
from gateway.attachments.factory import make_reader
from gateway.bootstrap import garbage_collection
from gateway.config import Settings, now
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.data_requests import DataRequests
from gateway.people.owners import Notices
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.lanes import Lanes

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


def make_background(
    settings: Settings,
    database: Database,
    model: Model,
    memory: MemoryStore,
    ceilings: Quotas,
    dispatcher: OutboxDispatcher,
) -> Background:
    """Durable work after turns."""
    titles = TitleGenerator(
        database=database, model=model, name=settings.model.cheap, quotas=ceilings
    )

    async def give_title(task: Task) -> None:
        await titles.generate(SessionId(int(task.payload)), task.person_id, now())

    async def write_memory(task: Task) -> None:
        # Whose it was may have been joined since: who they are now says where the files lie.
        person = await database.read(lambda c: people.find(c, person_id=task.person_id))
        if person:
            await memory.snapshot(person.id, person.slug, now())

    async def tell_of_soul(task: Task) -> None:
        await notices.tell_of_soul(task, now())

    notices = Notices(database, dispatcher)
    doers = {"title": give_title, "memory": write_memory, soul.TASK: tell_of_soul}
    return Background(database=database, doers=doers, now=now)


def make_unpacking(
    group: asyncio.TaskGroup,
    settings: Settings,
    database: Database,
    lanes: Lanes,
    dispatcher: OutboxDispatcher,
    now: Callable[[], int],
) -> AttachmentStage:
    """What reads attachments before a lane gets them."""
    reader = make_reader(
        settings.media,
        settings.secrets,
        database=database,
        adapters=dispatcher.adapters,
        now=now,
    )
    return AttachmentStage(
        group=group, database=database, reader=reader, lanes=lanes, dispatcher=dispatcher, now=now
    )


def begin(
    group: asyncio.TaskGroup,
    database: Database,
    data_requests: DataRequests,
    memory: MemoryStore,
    is_quiet: Callable[[], bool],
) -> None:
    """Start what keeps the house in order."""
    group.create_task(scan_all(memory, database, now))
    group.create_task(data_requests.run())
    group.create_task(data_requests.keep_clean(is_quiet))
    group.create_task(garbage_collection.collect(is_quiet))
