"""Run background tasks: session titles, memory files, reports to owners, accepted changes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agent_core.agent.accepted_calls import AcceptedCalls
from agent_core.agent.quotas.background import AnswerPending, BackgroundModel
from agent_core.agent.replay.session_log import SESSION_LOG_TASK, LogFiles, SessionLog
from agent_core.agent.review.reviewer import Reviewer
from agent_core.agent.titles import TitleGenerator
from agent_core.agent.toolboxes import Toolboxes
from agent_core.errors import StoreError
from agent_core.ids import SessionId
from agent_core.memory.soul_store import SOUL_TASK
from agent_core.memory.sync import GROWTH_TASK
from agent_core.skills.drafts import Drafts
from agent_core.skills.evaluation.replay import ReplaySandbox
from agent_core.skills.usage import UsageFile
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.queues import curations, reviews, skill_tests, tasks
from agent_core.state.queues.tasks import Task
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.workspace.catalog import make_workspace_tools
from gateway.app.core import Core, DataServices
from gateway.app.media import make_speech_command
from gateway.background.alert_conditions import AlertSources
from gateway.background.alerts import AlertWatch
from gateway.background.curation import Curation
from gateway.background.lost_store import LOST_STORE_LOOK, LostStoreAlarm
from gateway.background.reviews import SUMMARY_TASK, PersonBusy, Reviews
from gateway.background.skill_tests import SkillTests, TaskUnfinished
from gateway.home import BACKUPS, SESSIONS
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.outbound.webhooks.dispatcher import WebhookDeps, WebhookDispatcher
from gateway.people.owner_notices import Notices
from gateway.texts.skills import find_words
from gateway.turns.lanes import Lanes
from gateway.turns.proposals import PROPOSAL_TASK, AcceptedProposals
from gateway.turns.spoken_answers import SPEECH_TASK, SpokenAnswers

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


def make_reviews(
    core: Core, dispatcher: OutboxDispatcher, questions: Questions, lanes: Lanes
) -> Reviews:
    """Build the service that reviews finished turns and learns from them."""
    reviewer = Reviewer(
        database=core.database,
        memory=core.memory.store,
        background=BackgroundModel(
            model=core.model,
            name=core.settings.model.cheap,
            quotas=core.quotas,
            is_batched=core.settings.learning.batch,
        ),
        now=core.now,
        skills=Drafts(core.skills.catalog, core.database) if core.settings.learning.steps else None,
    )
    return Reviews(
        database=core.database,
        dispatcher=dispatcher,
        questions=questions,
        reviewer=reviewer,
        is_running=lanes.is_running,
        now=core.now,
        zone_of=core.zone_of,
        user_model=core.user_model,
    )


def make_curation(core: Core, dispatcher: OutboxDispatcher, lanes: Lanes) -> Curation:
    """Build the curator, which looks for skills and notes to tidy up."""
    return Curation(
        database=core.database,
        dispatcher=dispatcher,
        memory=core.memory.store,
        catalog=core.skills.catalog,
        model=core.model,
        name=core.settings.model.cheap,
        quotas=core.quotas,
        is_running=lanes.is_running,
        now=core.now,
    )


def make_skill_tests(core: Core, notices: Notices, lanes: Lanes) -> SkillTests:
    """Build the service that tests the agent's skills and tracks their results."""
    settings, catalog = core.settings, core.skills.catalog
    tools = (
        make_workspace_tools(
            core.backend, None, command_seconds=min(settings.tools.command_seconds, 60)
        )
        if core.backend
        else ()
    )
    sandbox = ReplaySandbox(
        catalog=catalog,
        model=settings.model.name,
        judge_model=settings.model.cheap,
        tools=Toolbox(
            [one for one in tools if one.spec.name in _TEST_TOOLS], mask=core.secret_mask
        ),
        backend=core.backend,
        find_words=find_words,
        now=core.now,
    )
    return SkillTests(
        database=core.database,
        dispatcher=notices.dispatcher,
        notices=notices,
        usage=UsageFile(core.database, catalog.folder),
        model=core.model,
        quotas=core.quotas,
        sandbox=sandbox,
        is_running=lanes.is_running,
        now=core.now,
    )


def make_alerts(core: Core, notices: Notices) -> AlertWatch:
    """Build the service that alerts owners to faults of the gateway."""
    settings = core.settings
    sources = AlertSources(
        health=core.platforms.health,
        quotas=core.quotas,
        models=settings.model.named,
        home=settings.home,
        backups=settings.home / BACKUPS if settings.jobs.backups else None,
        unread=core.memory.store.unread,
        now=core.now,
    )
    return AlertWatch(
        core.database,
        notices,
        sources,
        zone=core.zone,
        pause=settings.alerts.pause_minutes * 60_000,
        look=core.extensions.timings.alerts,
    )


def make_lost_store_alarm(core: Core, notices: Notices) -> LostStoreAlarm:
    """Build the service that tells owners if the database vanishes."""
    pause = core.extensions.timings.alerts
    return LostStoreAlarm(
        core.database, notices.dispatcher, look=min(LOST_STORE_LOOK, pause), pause=pause
    )


def make_webhooks(group: asyncio.TaskGroup, core: Core, notices: Notices) -> WebhookDispatcher:
    """Build the dispatcher that sends people's events to their webhooks."""
    deps = WebhookDeps(
        database=core.database,
        allow_hosts=core.settings.webhooks.allow_hosts,
        is_admitted=lambda c, person_id: core.identity.find_admitted(c, person_id) is not None,
        tell=notices.tell_of_webhook,
        enqueue=notices.dispatcher.enqueue,
        now=core.now,
        timings=core.extensions.timings.webhooks,
    )
    return WebhookDispatcher(group, deps)


def make_task_runners(
    core: Core, notices: Notices, data: DataServices, toolboxes: Toolboxes, lanes: Lanes
) -> list[TaskRunner]:
    """Build one runner for quick tasks, and one each for speech, reviews and skill tests."""
    spoken_answers = SpokenAnswers(
        core.database,
        notices.dispatcher,
        make_speech_command(core.settings.media),
        notices.enqueue_for_owners,
        core.now,
    )
    learning = make_reviews(core, notices.dispatcher, data.questions, lanes)
    curation = make_curation(core, notices.dispatcher, lanes)
    tests = make_skill_tests(core, notices, lanes)
    calls = AcceptedCalls(toolboxes, core.now)
    proposals = AcceptedProposals(core.database, notices.dispatcher, calls, core.now)
    quick = {
        **_make_handlers(core, notices, data.data_requests.erasing.lock),
        PROPOSAL_TASK: proposals.apply,
        SUMMARY_TASK: learning.summarize,
    }
    kinds: list[tuple[dict[str, TaskHandler], asyncio.Event]] = [
        (quick, core.tasks_due),
        ({SPEECH_TASK: spoken_answers.apply}, core.speech_due),
        ({reviews.KIND: learning.apply, curations.KIND: curation.apply}, asyncio.Event()),
        ({skill_tests.KIND: tests.apply, skill_tests.CHECK: tests.check}, asyncio.Event()),
    ]
    return [
        TaskRunner(
            database=core.database,
            handlers=handlers,
            now=core.now,
            wakeup=wakeup,
            poll=core.extensions.timings.task_poll,
        )
        for handlers, wakeup in kinds
    ]


def _make_handlers(core: Core, notices: Notices, erasures: asyncio.Lock) -> dict[str, TaskHandler]:
    """Return the handlers of quick tasks: titles, memory files, reports to owners, session logs.

    `erasures` is the lock that is held while personal data is removed.
    """
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
        # The person may have been merged since: the person who remains says where the files are.
        person = await database.read(people.find, person_id=task.person_id)
        if person:
            await memory.snapshot(person.id, person.slug, now())

    async def report_soul(task: Task) -> None:
        await notices.notify_soul_change(task, now())

    async def check_growth(task: Task) -> None:
        await notices.notify_oversize(task, memory, now())

    log = _make_session_log(core, erasures)

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
    }


def _make_session_log(core: Core, erasures: asyncio.Lock) -> SessionLog:
    settings = core.settings.session_log
    files = LogFiles(
        folder=core.settings.home / SESSIONS,
        most_bytes=settings.megabytes * 1_000_000,
        kept=settings.kept_files,
    )
    return SessionLog(core.database, files, core.secret_mask, erasures)
