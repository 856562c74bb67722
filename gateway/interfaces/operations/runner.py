"""Does an operation where it can be done: in the running gateway, else on its database."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_core.errors import StoreError
from agent_core.memory import MemoryStore
from agent_core.state.engine.database import Database
from agent_core.state.queues.outbox import OutboxRow
from gateway.bootstrap.factories import load_adapters, make_memory, make_prompt_cache
from gateway.config import DATABASE, MEMORIES, Settings, SkillSettings, make_home, now
from gateway.errors import Declined, StartError
from gateway.interfaces.operations.client import PATIENCE, NobodyThere, ask
from gateway.interfaces.operations.contract import Answer, OperationContext, times_of
from gateway.interfaces.operations.registry import OPERATIONS
from gateway.people.data_erase import DataErase
from gateway.people.data_export import DataExport
from gateway.scheduler.skill_curator import make_skill_services


def perform(
    home: Path,
    operation: str,
    asked: dict[str, Any],
    *,
    timeout: float = PATIENCE,
    settings: Settings | None = None,
) -> Answer:
    """Ask the gateway that runs on this home; where none runs, open the database and do it.

    `settings` are those of the home, for operations that want to know them.

    Raises `Declined`, `StartError`, and `StoreError` if the database can't be opened.
    """
    try:
        return ask(home, operation, asked, timeout=timeout)
    except NobodyThere:
        if not (home / DATABASE).exists():
            raise StartError(
                f"The home {home} holds no database yet; `talaria run` makes one."
            ) from None
        return asyncio.run(_perform_here(home, operation, asked, settings))


async def _perform_here(
    home: Path, operation: str, asked: Answer, settings: Settings | None
) -> Answer:
    make_home(home)
    database = await Database.open(home / DATABASE)
    memory = MemoryStore(database, home / MEMORIES)
    context = OperationContext(
        database=database,
        now=now,
        enqueue=_keep_owed,
        forget_known=_nobody_remembers,
        exports=DataExport(database, home, adapters={}, now=now),
        erasing=DataErase(database, memory, home, now=now, renew=_nobody_remembers),
        memory=memory,
        skills=make_skill_services(
            home, settings.skills if settings else SkillSettings(), database
        ),
        freezer=make_prompt_cache(settings, database, make_memory(settings, database))
        if settings
        else None,
        times=times_of(
            settings,
            wake=_nobody_waits,
            load_platforms=lambda: load_adapters(settings) if settings else {},
        ),
    )
    try:
        return await OPERATIONS[operation](context, asked)
    except StoreError as error:
        raise Declined(str(error)) from error
    finally:
        await database.close()


def _keep_owed(_: Sequence[OutboxRow]) -> None:
    """It stands in the outbox; the next gateway delivers it."""


def _nobody_waits() -> None:
    """The next gateway looks at what is due when it starts."""


def _nobody_remembers() -> None:
    """All is read from the database here."""
