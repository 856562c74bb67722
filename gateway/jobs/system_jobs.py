"""The system jobs: their schedules, the nightly backup and the sync of external memory."""

import asyncio
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from apscheduler.triggers.cron import CronTrigger

from agent_core.memory.external.client import ExternalMemory
from agent_core.schedule.occurrences import first_slot
from agent_core.schedule.triggers import dump_timing, read_cron
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.backups.claims import claim_folder
from agent_core.state.backups.contents import HomeContent, Manifest
from agent_core.state.backups.encryption import Lock
from agent_core.state.backups.making import make_backup
from agent_core.state.backups.places import NIGHTLY, BackupPlace, FolderPlace, record_newest
from agent_core.state.engine.complete_backups import ENDING, LOCKED_ENDING
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.recovery import translate_os_error
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import NewJob, Options
from gateway.texts.system_jobs import NO_OUTSIDE, TITLES, describe_sync

BACKUP, RETENTION, CURATOR, MEMORY_SYNC = "backup", "retention", "curator", "memory-sync"
CALENDARS = "calendars"
SCHEDULES: Mapping[str, str] = {
    BACKUP: "30 3 * * *",
    RETENTION: "0 4 * * *",
    CURATOR: "30 4 * * sun",
    MEMORY_SYNC: "20 * * * *",
    CALENDARS: "10 5 * * *",
}
"""Name -> cron expression, in the deployment's time zone.

A day of the week is a name: APScheduler counts days from Monday, and cron from Sunday."""
_COPY = ".nightly.db"
"""The copy of the database while the backup is made."""
_OUTGOING = ".outgoing-"
"""The prefix of the folder of a backup that goes elsewhere."""
_PAUSE_AFTER = 1000
"""Failures in a row that pause a system job: in practice it is never paused."""


def make_triggers(zone: str) -> dict[str, CronTrigger]:
    """Return the trigger of every system job in an IANA time zone, by name."""
    return {
        name: CronTrigger.from_crontab(expression, timezone=find_zone(zone))
        for name, expression in SCHEDULES.items()
    }


def ensure_system_jobs(
    connection: Connection, wanted: Collection[str], zone: str, now: int
) -> None:
    """Create the system jobs that are missing; existing rows stay as they are.

    A row damaged on disk is replaced: it holds no person's data.
    """
    known = set()
    for found in jobs.list_system(connection):
        if found.is_whole:
            known.add(found.body)
        elif found.person_id is None:
            jobs.redact(connection, job_id=found.id)
    for name, expression in SCHEDULES.items():
        if name in known or name not in wanted:
            continue
        timing = read_cron(expression)
        slot = first_slot(timing, find_zone(zone), now)
        job = NewJob(
            person_id=None,
            room_id=None,
            kind="system",
            title=TITLES[name].english,
            body=name,
            timing=dump_timing(timing),
            zone=zone,
            late="catch_up",
            options=Options(pause_after=_PAUSE_AFTER),
            targets=(),
            is_urgent=False,
            next_slot=(slot.name, slot.at) if slot else None,
            actor="house",
        )
        jobs.insert(connection, job, now=now)


async def sync_memory(external_memory: ExternalMemory | None, now: Callable[[], int]) -> str:
    """Check the external memory, retry failed syncs, and report. Raises `StoreError`."""
    if external_memory is None:
        return NO_OUTSIDE
    return describe_sync(await external_memory.sync(), now())


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupPlan:
    """The content of a backup, and the place for it."""

    home: Path
    folder: Path
    """The folder in the home where backups are made."""
    database: str
    """The name of the database in the home."""
    left_out: Collection[str]
    lock: Lock
    place: BackupPlace
    keep: int
    """Backups that stay; 0 turns the nightly backup off."""

    def claim(self) -> AbstractContextManager[None]:
        """Claim the folder where backups are made; see `claim_folder`."""
        others = (self.place.folder,) if isinstance(self.place, FolderPlace) else ()
        return claim_folder(self.folder, *others)


class Backups:
    """Nightly backups of the whole home."""

    def __init__(self, database: Database, plan: BackupPlan, *, now: Callable[[], int]) -> None:
        self._database = database
        self._plan = plan
        self._now = now

    async def make(self) -> str:
        """Make one backup. Raises `StoreError`."""
        plan = self._plan
        if not plan.keep:
            return "switched off"
        copy = plan.folder / _COPY
        with ExitStack() as stack:
            await asyncio.to_thread(stack.enter_context, plan.claim())
            stack.callback(copy.unlink, missing_ok=True)
            await self._database.back_up(copy)
            where, written = await asyncio.to_thread(deliver_backup, plan, copy, self._now())
        await asyncio.to_thread(plan.place.prune, plan.keep)
        missed = f"; {len(written.unreadable)} files can't be read" if written.unreadable else ""
        return f"{where} made and read again{missed}"


def deliver_backup(
    plan: BackupPlan, copy: Path, now: int, *, prefix: str = NIGHTLY
) -> tuple[str, Manifest]:
    """Make a backup with a copy of the database, and put it in its place. Blocks.

    Return what it is called there, and what is in it. `now` is in milliseconds since the epoch,
    UTC. Raises `StoreError`.
    """
    stamp = f"{datetime.fromtimestamp(now / 1000, UTC):%Y%m%dT%H%M%S}"
    if prefix != NIGHTLY:
        stamp += f".{now % 1000:03}"  # people can make two backups in one second
    name = f"{prefix}{stamp}Z{LOCKED_ENDING if plan.lock else ENDING}"
    content = HomeContent(home=plan.home, database=plan.database, copy=copy, left_out=plan.left_out)
    folder = plan.folder
    try:
        with tempfile.TemporaryDirectory(prefix=_OUTGOING, dir=folder) as outgoing:
            folder = plan.place.folder if isinstance(plan.place, FolderPlace) else Path(outgoing)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = folder / name
            written = make_backup(content, target, plan.lock, now)
            where = plan.place.store(target)
        record_newest(plan.folder, where, now)
    except OSError as error:
        raise translate_os_error(error, folder) from error
    return where, written
