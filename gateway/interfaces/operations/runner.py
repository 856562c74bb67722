"""Performs an operation on the database of a home, where no gateway runs."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import tzlocal

from agent_core.digest import DigestOptions
from agent_core.errors import StoreError
from agent_core.memory import MemoryStore, withdraw_fallen
from agent_core.skills import SkillCatalog
from agent_core.state.engine.database import Database, now
from agent_core.state.queues.outbox import OutboxRow
from gateway.bootstrap.factories import load_adapters, make_memory, make_prompt_cache
from gateway.config import DATABASE, MEMORIES, SKILLS, Settings, SkillSettings, make_home
from gateway.errors import Declined
from gateway.interfaces.operations.contract import (
    Answer,
    OperationContext,
    scheduling_context,
    webhook_rules,
)
from gateway.interfaces.operations.registry import OPERATIONS
from gateway.people import DataErase, DataExport
from gateway.scheduler import Calendars, make_skill_services


def perform_here(home: Path, operation: str, asked: Answer, settings: Settings | None) -> Answer:
    """Open the database of a home and perform an operation on it.

    Raises `Declined`, `StartError`, and `StoreError` if the database can't be opened.
    """
    return asyncio.run(_perform_here(home, operation, asked, settings))


async def _perform_here(
    home: Path, operation: str, asked: Answer, settings: Settings | None
) -> Answer:
    make_home(home)
    database = await Database.open(home / DATABASE)
    memory = MemoryStore(database, home / MEMORIES, withdraw=withdraw_fallen)
    context = OperationContext(
        database=database,
        now=now,
        enqueue=_leave_queued,
        forget_known=_cache_nothing,
        exports=DataExport(database, home, adapters={}, now=now),
        erasing=DataErase(database, memory, home, now=now, renew=_cache_nothing),
        memory=memory,
        skills=make_skill_services(
            SkillCatalog(*settings.skill_places) if settings else SkillCatalog(home / SKILLS),
            settings.skills if settings else SkillSettings(),
            database,
        ),
        webhooks=webhook_rules(settings),
        wake_webhooks=_do_nothing,
        prompt_cache=make_prompt_cache(settings, database, make_memory(settings, database))
        if settings
        else None,
        scheduling=scheduling_context(
            settings,
            calendars=_make_calendars(home, database, settings),
            wake=_do_nothing,
            load_platforms=lambda: load_adapters(settings) if settings else {},
        ),
    )
    try:
        return await OPERATIONS[operation](context, asked)
    except StoreError as error:
        raise Declined(str(error)) from error
    finally:
        await database.close()


def _make_calendars(home: Path, database: Database, settings: Settings | None) -> Calendars:
    zone = (settings.people.time_zone if settings else None) or tzlocal.get_localzone_name()
    allowed = settings.digest.allow_hosts if settings else ()
    digest = DigestOptions(
        home=home, zone=zone, github_url="", github_token="", allow_hosts=allowed
    )
    return Calendars(database=database, digest=digest, zone=zone, changed=_do_nothing, now=now)


def _leave_queued(_: Sequence[OutboxRow]) -> None:
    """Leave the rows in the outbox: the next gateway delivers them."""


def _do_nothing() -> None:
    """Do nothing: the next gateway checks what is due when it starts."""


def _cache_nothing() -> None:
    """Do nothing: this process caches nothing."""
