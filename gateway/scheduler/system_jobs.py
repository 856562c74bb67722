"""The house's own jobs: which there are, when, the nightly backup, the outside memory's look."""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from agent_core.memory.external.client import ExternalMemory
from agent_core.schedule.occurrences import find_zone, first_slot
from agent_core.schedule.triggers import dump_timing, read_cron
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import NewJob, Options
from gateway.texts.system_jobs import NO_OUTSIDE, describe_sync

BACKUP, RETENTION, CURATOR, MEMORY_SYNC = "backup", "retention", "curator", "memory-sync"
TIMES: Mapping[str, tuple[str, str]] = {
    BACKUP: ("Backup of the database", "30 3 * * *"),
    RETENTION: ("Removing what need not be kept", "0 4 * * *"),
    CURATOR: ("Looking over the skills", "30 4 * * 0"),
    MEMORY_SYNC: ("Seeing how the outside memory fares", "20 * * * *"),
}
"""Name -> what it is called, and when it runs by the house's clock."""
_PREFIX = "nightly-"
_PATIENCE = 1000
"""Failures in a row after which one is paused: the house's own work has to go on."""


def ensure(connection: Connection, wanted: Collection[str], zone: str, now: int) -> None:
    """Every work that is wanted has its job; those that there are stay as they are.

    One that was damaged on disk is made anew: nothing of it is anybody's.
    """
    known = set()
    for found in jobs.list_of_house(connection):
        if found.is_whole:
            known.add(found.body)
        elif found.person_id is None:
            jobs.bury(connection, job_id=found.id)
    for name, (title, expression) in TIMES.items():
        if name in known or name not in wanted:
            continue
        timing = read_cron(expression)
        slot = first_slot(timing, find_zone(zone), now)
        job = NewJob(
            person_id=None,
            room_id=None,
            kind="system",
            title=title,
            body=name,
            timing=dump_timing(timing),
            zone=zone,
            late="catch_up",
            options=Options(pause_after=_PATIENCE),
            targets=(),
            is_urgent=False,
            next_slot=(slot.name, slot.at) if slot else None,
            actor="house",
        )
        jobs.insert(connection, job, now=now)


async def sync_memory(external_memory: ExternalMemory | None, now: Callable[[], int]) -> str:
    """See how the outside memory fares, and say so. Raises `StoreError`."""
    if external_memory is None:
        return NO_OUTSIDE
    return describe_sync(await external_memory.sync(), now())


class Backups:
    """A copy of the database every night; the newest `keep` of them stay, none if that is 0."""

    def __init__(
        self, database: Database, folder: Path, *, keep: int, now: Callable[[], int]
    ) -> None:
        self._database = database
        self._folder = folder
        self._keep = keep
        self._now = now

    async def make(self) -> str:
        """Make one. Raises `StoreError`, and `OSError` if older ones can't be removed."""
        if not self._keep:
            return "switched off"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        moment = datetime.fromtimestamp(self._now() / 1000, UTC)
        target = self._folder / f"{_PREFIX}{moment:%Y%m%dT%H%M%SZ}.db"
        await self._database.back_up(target)
        for old in sorted(self._folder.glob(f"{_PREFIX}*.db"))[: -self._keep]:
            old.unlink()
        return f"{target.name} made"
