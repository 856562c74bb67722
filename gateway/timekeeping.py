"""Puts the rooms together that do things at their time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from agent_core.state.people import Person
from gateway import works
from gateway.commands.registry import House
from gateway.curating import Curator, SkillRoom, compare_at_start, make_skill_room
from gateway.delivery import Delivery
from gateway.home import BACKUPS
from gateway.notices import Notices
from gateway.outcomes import Outcomes
from gateway.proactive import Proactive
from gateway.runs import Bench, Runs
from gateway.scheduler import Scheduler
from gateway.settings import Settings, environment
from gateway.sweeping import Sweeper
from gateway.works import Backups


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What turns need of the rooms below, and those need of each other."""

    zone: str
    bell: asyncio.Event
    """Rung when something may be due earlier than was known."""
    outcomes: Outcomes
    proactive: Proactive


@dataclass(frozen=True, slots=True, kw_only=True)
class Timekeeper:
    """What does things at their time."""

    scheduler: Scheduler
    runs: Runs
    skills: SkillRoom
    wake: Callable[[], None]
    """Something may be due earlier than was known."""
    prepare: Callable[[], Awaitable[None]]
    """See to it that the house's own jobs are there and the skills' changes are known, and begin
    to tell which are used. Raises `StoreError`."""


def make_timing(delivery: Delivery, zone: str) -> Timing:
    """What is there before any turn can run. `zone` is the house's."""

    def zone_of(person: Person) -> str:
        return person.time_zone or zone

    bell = asyncio.Event()
    proactive = Proactive(delivery.adapters, zone_of=zone_of)
    delivery.reroute = proactive.reroute
    outcomes = Outcomes(proactive, zone_of=zone_of, ring=bell.set)
    return Timing(zone=zone, bell=bell, outcomes=outcomes, proactive=proactive)


def make_timekeeper(
    group: asyncio.TaskGroup,
    settings: Settings,
    timing: Timing,
    house: House,
    delivery: Delivery,
    now: Callable[[], int],
) -> Timekeeper:
    """The alarm clock and what it sets going."""
    database = house.database
    backups = Backups(database, settings.home / BACKUPS, keep=settings.jobs.backups, now=now)
    sweeper = Sweeper(database, settings.retention, now=now, renew=house.belongings.renew)
    skills = make_skill_room(settings.home, settings.skills, database)
    notices = Notices(database, delivery)
    timing.outcomes.tell_owners = notices.owe_all
    curator = Curator(skills, notices, owe=delivery.owe, now=now)
    bench = Bench(
        group=group,
        database=database,
        lanes=house.lanes,
        owe=delivery.owe,
        now=now,
        folder=settings.home,
        environ=environment(),
        shelf=skills.shelf,
        works={
            works.BACKUP: backups.make,
            works.RETENTION: sweeper.work,
            works.CURATOR: curator.work,
            works.MEMORY_SYNC: partial(works.sync_memory, house.outside, now),
        },
        at_once=settings.jobs.at_once,
    )
    runs = Runs(bench, outcomes=timing.outcomes, proactive=timing.proactive)
    scheduler = Scheduler(
        database=database,
        runner=runs,
        outcomes=timing.outcomes,
        owe=delivery.owe,
        bell=timing.bell,
        now=now,
    )

    wanted = set(bench.works) - (set() if house.outside else {works.MEMORY_SYNC})

    async def prepare() -> None:
        await compare_at_start(skills, now())
        group.create_task(skills.usage.keep())
        await database.write("works.ensure", lambda c: works.ensure(c, wanted, timing.zone, now()))

    return Timekeeper(
        scheduler=scheduler, runs=runs, skills=skills, wake=timing.bell.set, prepare=prepare
    )
