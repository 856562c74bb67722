"""Find the faults that exist now; `talaria doctor` uses the same checks."""

import asyncio
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adapters.contract import Health
from agent_core.agent.quotas.reservations import Quotas, QuotaStatus
from agent_core.state.backups.places import find_newest
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.queues import dead_letters, incidents, tasks
from agent_core.state.queues.incidents import Details, Incident

_LITTLE_SPACE = 500_000_000
_NO_SPACE = 50_000_000
"""Least bytes free on the home's disk."""
_OLDEST_BACKUP = 2 * 86_400_000
"""Milliseconds; a backup is made each night."""
_RECONNECTING = 120_000
"""Milliseconds that a platform may take to reconnect on its own."""
_LONGEST_LOOK = 120_000
"""Milliseconds between two looks; after a longer time, the machine slept."""
_LONGEST_WAIT = 15 * 60_000
"""Milliseconds that a message may wait for a platform that is connected."""
_LATEST_TASK = 60 * 60_000
"""Milliseconds that background work may be late; one task takes five minutes at most."""
_RUNS = 5
"""Newest runs of a system job, among which the last failed one is."""

AlertKind = Literal[
    "platform", "concern", "model", "budget", "disk", "job", "backup", "queue", "memory"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A fault that exists now. `subject` distinguishes conditions of the same kind."""

    kind: AlertKind
    subject: str = ""
    details: Details


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The bytes free on a disk. In the state `full`, the gateway can soon write no more."""

    free: int

    @property
    def state(self) -> Literal["enough", "little", "full"]:
        """Classify the free space."""
        if self.free < _NO_SPACE:
            return "full"
        return "little" if self.free < _LITTLE_SPACE else "enough"


def measure_space(folder: Path) -> Space:
    """Measure the space on the disk of a folder. Blocks; raises `OSError`."""
    return Space(free=shutil.disk_usage(folder).free)


def is_backup_old(made: int, now: int) -> bool:
    """Return whether a backup made then is too old to be the newest; both in milliseconds UTC."""
    return now - made > _OLDEST_BACKUP


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Measurements from outside of the database."""

    health: Mapping[str, Health]
    down_since: Mapping[str, int]
    """Since when each platform that is not connected is down, in milliseconds UTC."""
    space: Space
    backup: int | None
    """Time of the newest backup, in milliseconds UTC; None without one."""
    unread: Mapping[str, str]
    """The memory files that can't be read, below the home, and why."""
    budget: QuotaStatus
    budget_percent: int
    awake_since: int
    """The start of the gateway, or the last time the machine woke, in milliseconds UTC. Waits count
    from then at the earliest.
    """

    @property
    def connected(self) -> set[str]:
        """The platforms that are connected."""
        return {name for name, one in self.health.items() if one.state == "connected"}


class Gauge:
    """Measures what the database can't tell.

    Remembers since when platforms are down, and the machine is awake.
    """

    def __init__(
        self,
        *,
        health: Callable[[], Mapping[str, Health]],
        quotas: Quotas,
        home: Path,
        backups: Path | None,
        unread: Mapping[Path, str],
        now: Callable[[], int],
    ) -> None:
        """`backups` is the folder with the record of the newest one; None if none are made.

        `unread` holds the memory files that can't be read, and why.
        """
        self._health = health
        self._quotas = quotas
        self._home = home
        self._backups = backups
        self._unread = unread
        self._now = now
        self._down_since: dict[str, int] = {}
        self._looked_at = self._awake_since = 0

    async def measure(self) -> Measured:
        """Measure everything. Raises `StoreError` and `OSError`."""
        now = self._now()
        if not 0 <= now - self._looked_at <= _LONGEST_LOOK:
            self._awake_since = now
        self._looked_at = now
        health = self._health()
        self._down_since = {
            name: self._down_since.get(name, now)
            for name, one in health.items()
            if one.state != "connected"
        }
        budget = await self._quotas.find_deployment_status()
        space, backup = await asyncio.to_thread(self._look_at_disk)
        return Measured(
            health=health,
            down_since=self._down_since,
            space=space,
            backup=backup,
            unread={
                str(file.relative_to(self._home)): reason for file, reason in self._unread.items()
            },
            budget=budget,
            budget_percent=self._quotas.rules.cheap_from,
            awake_since=self._awake_since,
        )

    def _look_at_disk(self) -> tuple[Space, int | None]:
        newest = find_newest(self._backups) if self._backups else None
        return measure_space(self._home), newest[0] if newest else None


def find_conditions(
    connection: Connection, measured: Measured, models: Collection[str], now: int
) -> Iterator[Condition]:
    """Yield what is wrong now."""
    known = [one for one in incidents.list_all(connection) if one.ended_at is None]
    yield from _find_platforms(measured, known, now)
    yield from _find_models(connection, known, models)
    yield from _find_budget(measured)
    if measured.space.state != "enough":
        yield Condition(kind="disk", details={"free": measured.space.free})
    failing = [job for job in jobs.list_system(connection) if job.failures]
    for job in failing:
        runs = job_runs.list_of_job(connection, job_id=job.id, limit=_RUNS)
        reason = next((run.reason for run in runs if run.state == "failed"), "")
        yield Condition(
            kind="job",
            subject=job.body,
            details={"title": job.title, "job_id": job.id, "reason": reason},
        )
    if measured.backup and is_backup_old(measured.backup, now) and not failing:
        yield Condition(kind="backup", details={"made": measured.backup})
    yield from _find_queues(connection, measured, now)
    for name, reason in measured.unread.items():
        yield Condition(kind="memory", subject=name, details={"reason": reason})


def _find_platforms(measured: Measured, known: Sequence[Incident], now: int) -> Iterator[Condition]:
    """Yield the platforms that have been down for long; a restart of the gateway repairs none."""
    down = {one.subject for one in known if one.kind == "platform"}
    for name, since in measured.down_since.items():
        health = measured.health[name]
        if health.state == "stopped" or now - since >= _RECONNECTING or name in down:
            yield Condition(kind="platform", subject=name, details={"detail": health.detail})
    for name, health in measured.health.items():
        for concern in health.concerns:
            details: Details = {"platform": name, "detail": concern}
            yield Condition(kind="concern", subject=f"{name} {concern}", details=details)


def _find_models(
    connection: Connection, known: Sequence[Incident], models: Collection[str]
) -> Iterator[Condition]:
    """Yield the models whose fault was noted and that have not answered since."""
    for one in known:
        if one.kind != "model":
            continue
        if one.told_at and one.subject not in models:
            continue  # this model is not in use any more
        after = int(one.details["after"])
        if not usage.has_answered(connection, model=one.subject, after=after):
            yield Condition(kind="model", subject=one.subject, details=one.details)


def _find_budget(measured: Measured) -> Iterator[Condition]:
    spent, limit, percent = measured.budget.spent, measured.budget.limit, measured.budget_percent
    for unit, amount, most in (
        ("money", spent.micro_dollars, limit.money),
        ("tokens", spent.unpriced_tokens, limit.tokens),
    ):
        if most and amount * 100 >= most * percent:
            details = {"percent": percent, "limit": most, "until": measured.budget.day.end}
            yield Condition(kind="budget", subject=unit, details=details)


def _find_queues(connection: Connection, measured: Measured, now: int) -> Iterator[Condition]:
    """Yield connected platforms that take no messages, and background work that does not begin."""
    awake = measured.awake_since
    for platform, oldest in dead_letters.list_oldest(connection).items():
        if platform in measured.connected and now - max(oldest, awake) > _LONGEST_WAIT:
            yield Condition(kind="queue", subject=platform, details={"since": oldest})
    due = tasks.find_earliest_due(connection)
    if due is not None and now - max(due, awake) > _LATEST_TASK:
        yield Condition(kind="queue", details={"since": due})
