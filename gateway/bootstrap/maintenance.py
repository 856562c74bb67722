"""Run background tasks: session titles, memory files, reports to owners, accepted changes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agent_core.agent import TitleGenerator
from agent_core.agent.review import Reviewer
from agent_core.errors import StoreError
from agent_core.ids import SessionId
from agent_core.memory import GROWTH_TASK, SOUL_TASK
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.tasks import Task
from gateway.bootstrap.core import Core
from gateway.outbound import OutboxDispatcher, Questions
from gateway.people import Notices
from gateway.scheduler import PersonBusy, ReviewDeps, Reviews
from gateway.turns import PROPOSAL_TASK, SPEECH_TASK, AcceptedProposals, Lanes, SpokenAnswers

_log = logging.getLogger(__name__)

_LONGEST = 300.0
"""Seconds that one task may take."""
_MOST_ATTEMPTS = 3
_PAUSE = 60_000
_SLOW = frozenset((SPEECH_TASK, reviews.KIND))
"""Kinds of tasks whose runner runs nothing else."""

Handler = Callable[[Task], Awaitable[None]]


class TaskRunner:
    """Runs the rows of the `tasks` table."""

    def __init__(
        self,
        *,
        database: Database,
        handlers: Mapping[str, Handler],
        now: Callable[[], int],
        wakeup: asyncio.Event,
        poll: float,
    ) -> None:
        """`handlers` has one function for each kind of task; `poll` is in seconds.

        A runner of slow kinds runs nothing else, because nothing may wait for those.
        Whoever waits for a task sets `wakeup`, which belongs to one runner.
        """
        self._database = database
        self._handlers = handlers
        self._now = now
        self._poll = poll
        is_slow = not _SLOW.isdisjoint(handlers)
        kinds = tuple(handlers) if is_slow else tuple(sorted(_SLOW))
        self._queue = tasks.Queue(kinds=kinds, is_listed=is_slow)
        self._wakeup = wakeup

    async def run(self) -> None:
        """Work until cancelled; repeat the tasks that an earlier process did not finish."""
        is_reopened = False
        while True:
            self._wakeup.clear()
            try:
                if not is_reopened:
                    await self._database.write(
                        "tasks.reopen", lambda c: tasks.reopen(c, queue=self._queue)
                    )
                    is_reopened = True
                worked = await self._do_next()
            except StoreError as error:
                _log.error("background tasks wait for the store: %s", error)
                worked = is_reopened = False  # the unfinished task is done again
            if not worked:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._poll):
                        await self._wakeup.wait()

    async def _do_next(self) -> bool:
        """Run the next task that is due; return whether there was one. Raises `StoreError`."""
        now = self._now()
        if not await self._database.read(lambda c: tasks.has_due(c, queue=self._queue, now=now)):
            return False
        task = await self._database.write(
            "tasks.take", lambda c: tasks.take_due(c, queue=self._queue, now=now)
        )
        if task is None:
            return False
        try:
            async with asyncio.timeout(_LONGEST):
                await self._handlers[task.kind](task)
        except PersonBusy:
            due_at = now + round(2000 * self._poll)
            await self._database.write(
                "tasks.defer", lambda c: tasks.defer(c, task_id=task.id, due_at=due_at)
            )
        except Exception as error:  # the bulkhead: one task's error harms no other
            _log.warning("task %d (%s) failed: %r", task.id, task.kind, error)
            await self._postpone(task, repr(error))
        else:
            await self._database.write("tasks.done", lambda c: tasks.finish(c, task_id=task.id))
        return True

    async def _postpone(self, task: Task, reason: str) -> None:
        due_at = self._now() + _PAUSE * 2**task.attempts

        def work(connection: Connection) -> None:
            if task.attempts >= _MOST_ATTEMPTS:
                tasks.abandon(connection, task_id=task.id, reason=reason)
            else:
                tasks.postpone(connection, task_id=task.id, due_at=due_at, reason=reason)

        await self._database.write("tasks.back", work)


def make_reviews(
    core: Core, dispatcher: OutboxDispatcher, questions: Questions, lanes: Lanes
) -> Reviews:
    """Build what learns from finished turns."""
    reviewer = Reviewer(
        database=core.database,
        memory=core.memory.store,
        model=core.model,
        name=core.settings.model.cheap,
        quotas=core.quotas,
        now=core.now,
    )
    return Reviews(
        ReviewDeps(
            database=core.database,
            dispatcher=dispatcher,
            questions=questions,
            reviewer=reviewer,
            is_running=lanes.is_running,
            now=core.now,
        )
    )


def make_task_runners(
    core: Core,
    notices: Notices,
    proposals: AcceptedProposals,
    spoken_answers: SpokenAnswers,
    learning: Reviews,
) -> tuple[TaskRunner, TaskRunner, TaskRunner]:
    """Build the runner of most kinds of tasks, that of speech and that of reviews."""
    database, memory, now = core.database, core.memory.store, core.now
    titles = TitleGenerator(
        database=database,
        model=core.model,
        name=core.settings.model.cheap,
        quotas=core.quotas,
    )

    async def generate_title(task: Task) -> None:
        await titles.generate(SessionId(int(task.payload)), task.person_id, now())

    async def write_memory(task: Task) -> None:
        # The person may have been merged since: the remaining one says where the files are.
        person = await database.read(lambda c: people.find(c, person_id=task.person_id))
        if person:
            await memory.snapshot(person.id, person.slug, now())

    async def report_soul(task: Task) -> None:
        await notices.notify_soul_change(task, now())

    async def check_growth(task: Task) -> None:
        await notices.notify_oversize(task, memory, now())

    handlers = {
        "title": generate_title,
        "memory": write_memory,
        SOUL_TASK: report_soul,
        GROWTH_TASK: check_growth,
        PROPOSAL_TASK: proposals.apply,
    }
    poll = core.extensions.timings.task_poll
    return (
        TaskRunner(database=database, handlers=handlers, now=now, wakeup=core.tasks_due, poll=poll),
        TaskRunner(
            database=database,
            handlers={SPEECH_TASK: spoken_answers.apply},
            now=now,
            wakeup=core.speech_due,
            poll=poll,
        ),
        TaskRunner(
            database=database,
            handlers={reviews.KIND: learning.apply},
            now=now,
            wakeup=asyncio.Event(),
            poll=poll,
        ),
    )
