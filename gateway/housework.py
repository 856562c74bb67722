"""What works beside the chats: titles, files of memory, forgetting, sweeping, garbage."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from agent_core.ceilings.reservations import Ceilings
from agent_core.ids import SessionId
from agent_core.memory import identity as soul
from agent_core.memory.rounds import compare_all
from agent_core.memory.store import MemoryStore
from agent_core.models.contract import Model
from agent_core.state import people
from agent_core.state.database import Database
from agent_core.state.tasks import Task
from agent_core.titles import Titles
from gateway import collector
from gateway.background import Background
from gateway.belongings import Around, Belongings
from gateway.clock import now
from gateway.delivery import Delivery
from gateway.lanes import Lanes
from gateway.media.assembly import make_reader
from gateway.notices import Notices
from gateway.settings import Settings
from gateway.unpacking import Unpacking


def make_background(
    settings: Settings,
    database: Database,
    model: Model,
    memory: MemoryStore,
    ceilings: Ceilings,
    delivery: Delivery,
) -> Background:
    """Durable work after turns."""
    titles = Titles(database=database, model=model, name=settings.model.cheap, ceilings=ceilings)

    async def give_title(task: Task) -> None:
        await titles.give(SessionId(int(task.payload)), task.person_id, now())

    async def write_memory(task: Task) -> None:
        # Whose it was may have been joined since: who they are now says where the files lie.
        person = await database.read(lambda c: people.find(c, person_id=task.person_id))
        if person:
            await memory.snapshot(person.id, person.slug, now())

    async def tell_of_soul(task: Task) -> None:
        await notices.tell_of_soul(task, now())

    notices = Notices(database, delivery)
    doers = {"title": give_title, "memory": write_memory, soul.TASK: tell_of_soul}
    return Background(database=database, doers=doers, now=now)


def make_belongings(
    database: Database,
    memory: MemoryStore,
    home: Path,
    delivery: Delivery,
    now: Callable[[], int],
) -> Belongings:
    """What gives people all that is theirs, and lets it be gone."""
    around = Around(adapters=delivery.adapters, now=now, owe=delivery.owe)
    return Belongings(database, memory, home, around)


def make_unpacking(
    group: asyncio.TaskGroup,
    settings: Settings,
    database: Database,
    lanes: Lanes,
    delivery: Delivery,
    now: Callable[[], int],
) -> Unpacking:
    """What reads attachments before a lane gets them."""
    reader = make_reader(
        settings.media,
        settings.secrets,
        database=database,
        adapters=delivery.adapters,
        now=now,
    )
    return Unpacking(
        group=group, database=database, reader=reader, lanes=lanes, delivery=delivery, now=now
    )


def begin(
    group: asyncio.TaskGroup,
    belongings: Belongings,
    memory: MemoryStore,
    is_quiet: Callable[[], bool],
) -> None:
    """Start what keeps the house in order."""
    group.create_task(compare_all(memory, belongings.database, now))
    group.create_task(belongings.run())
    group.create_task(belongings.keep_clean(is_quiet))
    group.create_task(collector.collect(is_quiet))
