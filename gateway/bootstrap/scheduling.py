"""Puts the rooms together that do things at their time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from agent_core.agent.agent import Agent
from agent_core.memory.external.client import ExternalMemory
from agent_core.state.engine.database import Database
from agent_core.state.people.people import Person
from gateway.config import BACKUPS, Settings, environment
from gateway.jobs.history import JobHistory
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import Outcomes
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.owners import Notices
from gateway.scheduler import system_jobs
from gateway.scheduler.retention import Sweeper
from gateway.scheduler.runner import JobRunner, RunnerDeps
from gateway.scheduler.skill_curator import (
    Curator,
    SkillServices,
    make_skill_services,
    sync_at_start,
)
from gateway.scheduler.system_jobs import Backups
from gateway.scheduler.ticker import Scheduler
from gateway.turns.lanes import Lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The parts of the scheduler that turns use, too."""

    zone: str
    outcomes: Outcomes
    notifier: Notifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """What does things at their time."""

    scheduler: Scheduler
    runs: JobRunner
    skills: SkillServices
    wake: Callable[[], None]
    """Something may be due earlier than was known."""
    prepare: Callable[[], Awaitable[None]]
    """See to it that the house's own jobs are there and the skills' changes are known, and begin
    to tell which are used. Raises `StoreError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingDeps:
    """The services that jobs run on."""

    database: Database
    lanes: Lanes
    dispatcher: OutboxDispatcher
    external: ExternalMemory | None
    renew: Callable[[], None]
    """Drops cached conversations after retention has deleted messages."""


def make_timing(
    database: Database,
    dispatcher: OutboxDispatcher,
    agent: Agent,
    *,
    zone: str,
    wakeup: asyncio.Event,
) -> Timing:
    """Build what turns need of the scheduler. `zone` is the deployment's."""

    def zone_of(person: Person) -> str:
        return person.time_zone or zone

    notifier = Notifier(dispatcher.adapters, JobHistory(agent.id_allocator), zone_of=zone_of)
    dispatcher.reroute = notifier.reroute
    outcomes = Outcomes(
        notifier,
        zone_of=zone_of,
        notify_owners=Notices(database, dispatcher).enqueue_for_owners,
        wakeup=wakeup,
    )
    return Timing(zone=zone, outcomes=outcomes, notifier=notifier)


def make_timekeeper(
    group: asyncio.TaskGroup,
    settings: Settings,
    timing: Timing,
    deps: SchedulingDeps,
    now: Callable[[], int],
) -> Scheduling:
    """The alarm clock and what it sets going."""
    database, dispatcher = deps.database, deps.dispatcher
    backups = Backups(database, settings.home / BACKUPS, keep=settings.jobs.backups, now=now)
    sweeper = Sweeper(database, settings.retention, now=now, renew=deps.renew)
    skills = make_skill_services(settings.home, settings.skills, database)
    notices = Notices(database, dispatcher)

    curator = Curator(skills, notices, enqueue=dispatcher.enqueue, now=now)
    bench = RunnerDeps(
        group=group,
        database=database,
        lanes=deps.lanes,
        enqueue=dispatcher.enqueue,
        now=now,
        folder=settings.home,
        environ=environment(),
        shelf=skills.shelf,
        works={
            system_jobs.BACKUP: backups.make,
            system_jobs.RETENTION: sweeper.work,
            system_jobs.CURATOR: curator.work,
            system_jobs.MEMORY_SYNC: partial(system_jobs.sync_memory, deps.external, now),
        },
        at_once=settings.jobs.at_once,
    )
    runs = JobRunner(bench, outcomes=timing.outcomes, notifier=timing.notifier)
    scheduler = Scheduler(
        database=database,
        runner=runs,
        outcomes=timing.outcomes,
        enqueue=dispatcher.enqueue,
        triggers=system_jobs.make_triggers(timing.zone),
        now=now,
    )

    wanted = set(bench.works) - (set() if deps.external else {system_jobs.MEMORY_SYNC})

    async def prepare() -> None:
        await sync_at_start(skills, now())
        group.create_task(skills.usage.keep())
        await database.write(
            "works.ensure", lambda c: system_jobs.ensure(c, wanted, timing.zone, now())
        )

    return Scheduling(
        scheduler=scheduler,
        runs=runs,
        skills=skills,
        wake=timing.outcomes.wakeup.set,
        prepare=prepare,
    )
