"""Build the scheduler and the services of its jobs."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial

from agent_core.digest.tools import DigestOptions
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.skills.catalog import SkillCatalog
from agent_core.state.engine.database import Database
from agent_core.tools.text_cleaner import TextCleaner
from gateway.app.backups import list_left_out, make_lock, make_place
from gateway.app.core import Core
from gateway.app.job_rules import find_unpriced
from gateway.app.settings import Settings, environment
from gateway.background.agent_messages import AgentMessages
from gateway.background.command_ends import CommandEnds
from gateway.background.retention import Sweeper
from gateway.background.skill_curator import (
    Curator,
    SkillServices,
    make_skill_services,
    sync_at_start,
)
from gateway.home import BACKUPS, DATABASE
from gateway.jobs.agent_runs import AgentRunDeps
from gateway.jobs.calendars import Calendars
from gateway.jobs.gates import GateChecker
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import Outcomes
from gateway.jobs.runner import JobRunner, SystemTask
from gateway.jobs.system_jobs import (
    BACKUP,
    CALENDARS,
    CURATOR,
    MEMORY_SYNC,
    RETENTION,
    BackupPlan,
    Backups,
    ensure_system_jobs,
    make_triggers,
    sync_memory,
)
from gateway.jobs.ticker import Scheduler
from gateway.jobs.watches import EventSources
from gateway.people.owner_notices import Notices
from gateway.turns.lanes import Lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """The scheduler and its services."""

    scheduler: Scheduler
    runs: JobRunner
    skills: SkillServices
    calendars: Calendars
    wake: Callable[[], None]
    """Call this after a write that may make a job due earlier."""
    event_sources: EventSources
    prepare: Callable[[], Awaitable[None]]
    """Creates the system jobs, syncs the skills and starts their usage log. Raises `StoreError`."""


def make_digest_options(settings: Settings, zone: str) -> DigestOptions:
    """Build the options of digests and gates from the settings."""
    return DigestOptions(
        home=settings.home,
        zone=zone,
        github_url=settings.digest.github_url,
        github_token=settings.secrets.github_token or "",
        allow_hosts=settings.digest.allow_hosts,
    )


def make_calendars(
    settings: Settings,
    database: Database,
    zone: str,
    *,
    changed: Callable[[], None],
    now: Callable[[], int],
) -> Calendars:
    """Build the reader of calendars. `zone` is the deployment's IANA time zone."""
    digest = make_digest_options(settings, zone)
    return Calendars(database=database, digest=digest, zone=zone, changed=changed, now=now)


def make_scheduling(
    group: asyncio.TaskGroup,
    core: Core,
    lanes: Lanes,
    notices: Notices,
    notifier: Notifier,
    outcomes: Outcomes,
) -> Scheduling:
    """Build the scheduler with every service that its jobs use."""
    settings, database, now = core.settings, core.database, core.now
    enqueue, wake = notices.dispatcher.enqueue, core.wakeup.set
    digest = make_digest_options(settings, core.zone)
    skills = make_skill_services(SkillCatalog(*settings.skill_places), settings.skills, database)
    calendars = make_calendars(settings, database, core.zone, changed=wake, now=now)
    system_tasks = _make_system_tasks(core, notices, skills, calendars)
    script_limits = _make_script_limits(settings)
    runs = JobRunner(
        group=group,
        database=database,
        lanes=lanes,
        outcomes=outcomes,
        enqueue=enqueue,
        now=now,
        folder=settings.home,
        environ=environment(),
        script_limits=script_limits,
        cleaner=TextCleaner(core.secret_mask),
        gates=GateChecker(
            database=database, digest=digest, environ=environment(), limits=script_limits, now=now
        ),
        agent_runs=_make_agent_runs(core, notifier, skills.catalog),
        system_tasks=system_tasks,
        at_once=settings.jobs.at_once,
    )
    scheduler = Scheduler(
        database=database,
        runner=runs,
        outcomes=outcomes,
        enqueue=enqueue,
        triggers=make_triggers(core.zone),
        now=now,
    )
    absent = {CALENDARS, *(() if core.external_memory else (MEMORY_SYNC,))}
    wanted = set(system_tasks) - absent  # the first calendar creates that job
    return Scheduling(
        scheduler=scheduler,
        runs=runs,
        skills=skills,
        calendars=calendars,
        wake=wake,
        event_sources=EventSources(
            database,
            digest,
            outcomes,
            enqueue=enqueue,
            now=now,
            pause=core.extensions.timings.watch,
        ),
        prepare=partial(_prepare, group, core, skills, wanted),
    )


def _make_agent_runs(core: Core, notifier: Notifier, catalog: SkillCatalog) -> AgentRunDeps:
    return AgentRunDeps(
        notifier=notifier,
        catalog=catalog,
        agents=core.agents,
        find_unpriced=partial(find_unpriced, core.settings),
    )


def _make_system_tasks(
    core: Core, notices: Notices, skills: SkillServices, calendars: Calendars
) -> dict[str, SystemTask]:
    settings, database, now = core.settings, core.database, core.now
    enqueue, renew = notices.dispatcher.enqueue, partial(core.data_removed.emit, None)
    return {
        BACKUP: Backups(database, plan_backups(settings), now=now).make,
        RETENTION: Sweeper(database, settings.retention, now=now, renew=renew).work,
        CURATOR: Curator(
            services=skills,
            notices=notices,
            learning=settings.learning,
            enqueue=enqueue,
            now=now,
        ).work,
        MEMORY_SYNC: partial(sync_memory, core.external_memory, now),
        CALENDARS: calendars.work,
    }


async def _prepare(
    group: asyncio.TaskGroup, core: Core, skills: SkillServices, wanted: set[str]
) -> None:
    """Sync the skills, start their usage log, and create the system jobs. Raises `StoreError`."""
    await sync_at_start(skills, core.now())
    group.create_task(skills.usage.keep())
    await core.database.write("works.ensure", ensure_system_jobs, wanted, core.zone, core.now())


def list_deliveries(
    core: Core, lanes: Lanes, notifier: Notifier
) -> list[Callable[[], Coroutine[object, object, None]]]:
    """List the workers that start turns without a message from a person.

    These turns report the end of a background command, or deliver a message between agents.
    """
    return [*_list_command_ends(core, lanes, notifier), _make_messages(core, lanes, notifier).run]


def _make_messages(core: Core, lanes: Lanes, notifier: Notifier) -> AgentMessages:
    delivery = AgentMessages(
        database=core.database,
        mail=core.agent_mail,
        lanes=lanes,
        notifier=notifier,
        now=core.now,
    )
    core.stale_messages.connect(delivery.give_again)
    return delivery


def _list_command_ends(
    core: Core, lanes: Lanes, notifier: Notifier
) -> list[Callable[[], Coroutine[object, object, None]]]:
    """List the worker that reports the end of background commands; empty without a backend."""
    backend, background = core.backend, core.background
    if backend is None or background is None:
        return []
    core.data_removed.connect(lambda _: background.kill_erased())
    ends = CommandEnds(
        database=core.database,
        backend=backend,
        background=background,
        lanes=lanes,
        notifier=notifier,
        cleaner=TextCleaner(core.secret_mask),
        now=core.now,
    )
    return [ends.run]


def plan_backups(settings: Settings) -> BackupPlan:
    """Return what a backup contains and where it goes, by the settings. Raises `SettingsError`."""
    lock = make_lock(settings.backup, settings.secrets)
    return BackupPlan(
        home=settings.home,
        folder=settings.home / BACKUPS,
        database=DATABASE,
        left_out=list_left_out(settings.backup, has_secrets=bool(lock)),
        lock=lock,
        place=make_place(settings.backup, settings.secrets, settings.home / BACKUPS),
        keep=settings.jobs.backups,
    )


def _make_script_limits(settings: Settings) -> ScriptLimits:
    return ScriptLimits(
        memory=settings.jobs.script_memory_mb * 1_000_000,
        file=settings.jobs.script_file_mb * 1_000_000,
        processes=settings.jobs.script_processes,
    )
