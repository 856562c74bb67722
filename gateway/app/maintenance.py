"""Run background tasks: session titles, memory files, reports to owners, accepted changes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agent_core.agent.quotas.background import AnswerPending
from agent_core.agent.replay.session_log import SESSION_LOG_TASK, LogFiles, SessionLog
from agent_core.agent.titles import TitleGenerator
from agent_core.errors import StoreError
from agent_core.execution.contract import Backend
from agent_core.ids import SessionId
from agent_core.memory.soul_store import SOUL_TASK
from agent_core.memory.store import MemoryStore
from agent_core.memory.sync import GROWTH_TASK
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.evaluation.replay import ReplaySandbox
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.queues import curations, reviews, skill_tests, tasks
from agent_core.state.queues.tasks import Task
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.workspace.catalog import make_workspace_tools
from gateway.app.settings import Settings
from gateway.background.reviews import PersonBusy
from gateway.background.skill_tests import TaskUnfinished
from gateway.home import SESSIONS
from gateway.people.owner_notices import STRANGERS_TASK, Notices
from gateway.texts.skills import find_words
from gateway.turns.spoken_answers import SPEECH_TASK

_log = logging.getLogger(__name__)

_LONGEST = 300.0
"""Seconds that one task may take."""
_MOST_ATTEMPTS = 3
_PAUSE = 60_000
_SLOW = frozenset((SPEECH_TASK, reviews.KIND, curations.KIND, skill_tests.KIND, skill_tests.CHECK))
"""Slow kinds of tasks; runners of other tasks skip them, so that nothing waits for them."""

_TEST_TOOLS = ("terminal", "read_file", "write_file", "patch", "search_files")
"""The workspace tools that a skill test may use."""

TaskHandler = Callable[[Task], Awaitable[None]]


class TaskRunner:
    """Runs the rows of the `tasks` table."""

    def __init__(
        self,
        *,
        database: Database,
        handlers: Mapping[str, TaskHandler],
        now: Callable[[], int],
        wakeup: asyncio.Event,
        poll: float,
    ) -> None:
        """`handlers` has one function for each kind of task; `poll` is in seconds.

        A runner of slow kinds runs only its own kinds, and a runner of quick kinds skips the slow
        ones. Code that queues an urgent task sets `wakeup`. Each runner has its own `wakeup`.
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
                    await self._database.write("tasks.reopen", tasks.reopen, queue=self._queue)
                    is_reopened = True
                worked = await self._do_next()
            except StoreError as error:
                _log.error("background tasks wait for the store: %s", error)
                worked = is_reopened = False  # the unfinished task will run again
            if not worked:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._poll):
                        await self._wakeup.wait()

    async def _do_next(self) -> bool:
        """Run the next task that is due; return whether there was one. Raises `StoreError`."""
        now = self._now()
        if not await self._database.read(tasks.has_due, queue=self._queue, now=now):
            return False
        task = await self._database.write("tasks.take", tasks.take_due, queue=self._queue, now=now)
        if task is None:
            return False
        try:
            async with asyncio.timeout(_LONGEST):
                await self._handlers[task.kind](task)
        except (PersonBusy, TaskUnfinished, AnswerPending) as error:
            wait = round(2000 * self._poll) if isinstance(error, PersonBusy) else error.wait
            await self._database.write(
                "tasks.defer", tasks.defer, task_id=task.id, due_at=now + wait
            )
        except Exception as error:  # the bulkhead: one task's error harms no other
            _log.warning("task %d (%s) failed: %r", task.id, task.kind, error)
            await self._postpone(task, repr(error))
        else:
            await self._database.write("tasks.done", tasks.finish, task_id=task.id)
        return True

    async def _postpone(self, task: Task, reason: str) -> None:
        due_at = self._now() + _PAUSE * 2**task.attempts

        def work(connection: Connection) -> None:
            if task.attempts >= _MOST_ATTEMPTS:
                tasks.abandon(connection, task_id=task.id, reason=reason)
            else:
                tasks.postpone(connection, task_id=task.id, due_at=due_at, reason=reason)

        await self._database.write("tasks.back", work)


def make_sandbox(
    settings: Settings,
    catalog: SkillCatalog,
    backend: Backend | None,
    secret_mask: SecretMask,
    now: Callable[[], int],
) -> ReplaySandbox:
    """Build the sandbox in which skills are tested."""
    tools = (
        make_workspace_tools(backend, None, command_seconds=min(settings.tools.command_seconds, 60))
        if backend
        else ()
    )
    return ReplaySandbox(
        catalog=catalog,
        model=settings.model.name,
        judge_model=settings.model.cheap,
        tools=Toolbox([one for one in tools if one.spec.name in _TEST_TOOLS], mask=secret_mask),
        backend=backend,
        find_words=find_words,
        now=now,
    )


def make_handlers(
    *,
    database: Database,
    memory: MemoryStore,
    titles: TitleGenerator,
    notices: Notices,
    log: SessionLog,
    now: Callable[[], int],
) -> dict[str, TaskHandler]:
    """Return the handlers of quick tasks: titles, memory files, reports to owners, session logs."""

    async def generate_title(task: Task) -> None:
        await titles.generate(SessionId(int(task.payload)), task.person_id, now())

    async def write_memory(task: Task) -> None:
        # The person may have been merged since: the person who remains says where the files are.
        person = await database.read(people.find, person_id=task.person_id)
        if person:
            await memory.snapshot(person.id, person.slug, now())

    async def report_soul(task: Task) -> None:
        await notices.notify_soul_change(task, now())

    async def check_growth(task: Task) -> None:
        await notices.notify_oversize(task, memory, now())

    async def report_strangers(task: Task) -> None:
        if wait := max(int(task.payload) - now(), 0):
            raise TaskUnfinished(wait)
        await notices.notify_strangers(now())

    async def log_turn(task: Task) -> None:
        try:
            await log.apply(task)
        except OSError as error:  # a full disk must not make the log lose a turn
            _log.error("the session log can't be written yet: %s", error)
            raise TaskUnfinished(_PAUSE) from error

    return {
        SESSION_LOG_TASK: log_turn,
        "title": generate_title,
        "memory": write_memory,
        SOUL_TASK: report_soul,
        GROWTH_TASK: check_growth,
        STRANGERS_TASK: report_strangers,
    }


def make_log_files(settings: Settings) -> LogFiles:
    """Return where the session log is written, and how much of it is kept."""
    return LogFiles(
        folder=settings.home / SESSIONS,
        most_bytes=settings.session_log.megabytes * 1_000_000,
        kept=settings.session_log.kept_files,
    )
