"""Build the scheduler and the services of its jobs."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial

from agent_core.agent.named import AgentFolder
from agent_core.digest import DigestOptions
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.memory import ExternalMemory
from agent_core.skills import SkillCatalog
from agent_core.state.engine.database import Database
from agent_core.tools import SecretMask
from gateway.bootstrap.core import Core
from gateway.concurrency import Signal
from gateway.config import (
    BACKUPS,
    DATABASE,
    Settings,
    environment,
    list_left_out,
    make_lock,
    make_place,
)
from gateway.jobs import Notifier, Outcomes
from gateway.outbound import OutboxDispatcher
from gateway.people import Notices
from gateway.scheduler import (
    BACKUP,
    CALENDARS,
    CURATOR,
    MEMORY_SYNC,
    RETENTION,
    AgentMessageDeps,
    AgentMessages,
    BackupPlan,
    Backups,
    Calendars,
    CommandEndDeps,
    CommandEnds,
    Curator,
    EventSources,
    JobRunner,
    RunnerDeps,
    Scheduler,
    SkillServices,
    Sweeper,
    ensure_system_jobs,
    make_skill_services,
    make_triggers,
    sync_at_start,
    sync_memory,
)
from gateway.turns import Lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """The scheduler and its services."""

    scheduler: Scheduler
    runs: JobRunner
    skills: SkillServices
    calendars: Calendars
    wake: Callable[[], None]
    """Call it after a write that may make a job due earlier."""
    event_sources: EventSources
    prepare: Callable[[], Awaitable[None]]
    """Creates the system jobs, syncs the skills and starts their usage log. Raises `StoreError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingDeps:
    """The services that jobs run on."""

    group: asyncio.TaskGroup
    settings: Settings
    database: Database
    lanes: Lanes
    dispatcher: OutboxDispatcher
    external_memory: ExternalMemory | None
    notices: Notices
    notifier: Notifier
    outcomes: Outcomes
    zone: str
    """The deployment's IANA time zone."""
    secret_mask: SecretMask
    data_removed: Signal[None]
    now: Callable[[], int]
    agents: AgentFolder
    watch: float
    """Seconds between two looks at the folders and feeds that jobs wait for."""


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


def gather_scheduling_deps(
    group: asyncio.TaskGroup,
    core: Core,
    lanes: Lanes,
    notices: Notices,
    notifier: Notifier,
    outcomes: Outcomes,
) -> SchedulingDeps:
    """Gather the services that jobs run on."""
    return SchedulingDeps(
        group=group,
        settings=core.settings,
        database=core.database,
        lanes=lanes,
        dispatcher=notices.dispatcher,
        external_memory=core.external_memory,
        notices=notices,
        notifier=notifier,
        outcomes=outcomes,
        zone=core.zone,
        secret_mask=core.secret_mask,
        data_removed=core.data_removed,
        now=core.now,
        watch=core.extensions.timings.watch,
        agents=core.agents,
    )


def make_scheduling(deps: SchedulingDeps) -> Scheduling:
    """Build the scheduler with everything that it starts."""
    settings, database, now = deps.settings, deps.database, deps.now
    enqueue, wake = deps.dispatcher.enqueue, deps.outcomes.wakeup.set
    backups = Backups(database, plan_backups(settings), now=now)
    renew = partial(deps.data_removed.emit, None)
    skills = make_skill_services(SkillCatalog(*settings.skill_places), settings.skills, database)
    curator = Curator(skills, deps.notices, settings.learning, enqueue=enqueue, now=now)
    calendars = make_calendars(settings, database, deps.zone, changed=wake, now=now)
    runner_deps = RunnerDeps(
        group=deps.group,
        database=database,
        lanes=deps.lanes,
        enqueue=enqueue,
        now=now,
        folder=settings.home,
        environ=environment(),
        secret_mask=deps.secret_mask,
        script_limits=_make_script_limits(settings),
        digest=make_digest_options(settings, deps.zone),
        catalog=skills.catalog,
        agents=deps.agents,
        is_priced=lambda model: settings.prices.find(model) is not None,
        system_tasks={
            BACKUP: backups.make,
            RETENTION: Sweeper(database, settings.retention, now=now, renew=renew).work,
            CURATOR: curator.work,
            MEMORY_SYNC: partial(sync_memory, deps.external_memory, now),
            CALENDARS: calendars.work,
        },
        at_once=settings.jobs.at_once,
    )
    runs = JobRunner(runner_deps, outcomes=deps.outcomes, notifier=deps.notifier)
    scheduler = Scheduler(
        database=database,
        runner=runs,
        outcomes=deps.outcomes,
        enqueue=enqueue,
        triggers=make_triggers(deps.zone),
        now=now,
    )
    absent = {CALENDARS, *(() if deps.external_memory else (MEMORY_SYNC,))}
    wanted = set(runner_deps.system_tasks) - absent  # the first calendar creates its own

    async def prepare() -> None:
        await sync_at_start(skills, now())
        deps.group.create_task(skills.usage.keep())
        await database.write(
            "works.ensure", lambda c: ensure_system_jobs(c, wanted, deps.zone, now())
        )

    return Scheduling(
        scheduler=scheduler,
        runs=runs,
        skills=skills,
        calendars=calendars,
        wake=wake,
        event_sources=_make_event_sources(deps, runner_deps.digest),
        prepare=prepare,
    )


def list_deliveries(
    core: Core, lanes: Lanes, notifier: Notifier
) -> list[Callable[[], Coroutine[object, object, None]]]:
    """List the work that starts turns nobody has written for: after commands in the background,
    and after messages between agents.
    """
    return [*_list_command_ends(core, lanes, notifier), _make_messages(core, lanes, notifier).run]


def _make_messages(core: Core, lanes: Lanes, notifier: Notifier) -> AgentMessages:
    deps = AgentMessageDeps(
        database=core.database,
        mail=core.agent_mail,
        lanes=lanes,
        notifier=notifier,
        now=core.now,
    )
    delivery = AgentMessages(deps)
    core.stale_messages.connect(delivery.give_again)
    return delivery


def _list_command_ends(
    core: Core, lanes: Lanes, notifier: Notifier
) -> list[Callable[[], Coroutine[object, object, None]]]:
    """List the work that tells of commands in the background; none without a backend."""
    backend, background = core.backend, core.background
    if backend is None or background is None:
        return []
    core.data_removed.connect(lambda _: background.kill_erased())
    deps = CommandEndDeps(
        database=core.database,
        backend=backend,
        background=background,
        lanes=lanes,
        notifier=notifier,
        secret_mask=core.secret_mask,
        now=core.now,
    )
    return [CommandEnds(deps).run]


def _make_event_sources(deps: SchedulingDeps, digest: DigestOptions) -> EventSources:
    return EventSources(
        deps.database,
        digest,
        deps.outcomes,
        enqueue=deps.dispatcher.enqueue,
        now=deps.now,
        pause=deps.watch,
    )


def plan_backups(settings: Settings) -> BackupPlan:
    """Return what the settings put into a backup, and where. Raises `SettingsError`."""
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
