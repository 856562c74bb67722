"""The curator: archives skills that nobody uses, and reports broken ones."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from agent_core.errors import SkillBroken, SkillMissing, StoreDamaged
from agent_core.execution.subprocesses.spawning import finish
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.changes import write_planned
from agent_core.skills.curation.looks import enqueue_looks
from agent_core.skills.curation.snapshot import take_snapshot
from agent_core.skills.curator import (
    CurationStep,
    CuratorReport,
    CuratorRules,
    CuratorView,
    hash_fault,
    plan_steps,
)
from agent_core.skills.ledger_sync import FOUND, archive_skill, inspect_skills, note_found
from agent_core.skills.usage import UsageFile
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skill_changes, skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.queues.outbox import OutboxRow
from gateway.texts import system_jobs

if TYPE_CHECKING:
    from gateway.app.tables import LearningSettings, SkillSettings
    from gateway.people.owner_notices import Notices

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillServices:
    """The skills of a home directory, their usage, and the curator's rules."""

    database: Database
    catalog: SkillCatalog
    usage: UsageFile
    rules: CuratorRules


def make_skill_services(
    catalog: SkillCatalog, settings: "SkillSettings", database: Database
) -> SkillServices:
    """Return the skill services of a home directory."""
    rules = CuratorRules(stale_days=settings.stale_days, archive_days=settings.archive_days)
    return SkillServices(
        database=database,
        catalog=catalog,
        usage=UsageFile(database, catalog.folder),
        rules=rules,
    )


async def plan_round(services: SkillServices, now: int) -> CuratorReport:
    """Return the curator's next changes without making them. Raises `SkillBroken`, `StoreError`."""
    return (await services.database.read(_look, services, now))[1]


def record_manual_changes(
    connection: Connection, services: SkillServices, now: int, evidence: str
) -> CuratorReport:
    """Record changes made to skills by hand, or before a crash, with this evidence.

    Raises `SkillBroken` if the folder can't be read.
    """
    write_planned(connection, services.catalog.folder)
    view, found = _look(connection, services, now)
    found = replace(found, steps=[step for step in found.steps if step.kind in FOUND])
    if found.has_folder:
        origin = Origin(actor="hand", now=now, evidence=evidence)
        note_found(connection, view, found.steps, origin)
    return found


async def sync_at_start(services: SkillServices, now: int) -> None:
    """Compare the skills with the ledger before anything uses them.

    A folder that can't be read is logged as a warning. Raises `StoreError`.
    """
    try:
        found = await services.database.write(
            "skills.compare",
            record_manual_changes,
            services,
            now,
            "found at the start",
        )
    except (SkillBroken, StoreDamaged) as error:
        _log.warning("the skills can't be compared with the ledger: %s", error)
        return
    if found.steps:
        _log.info("skills were changed by hand: %s", system_jobs.describe_round(found))


def _look(
    connection: Connection, services: SkillServices, now: int
) -> tuple[CuratorView, CuratorReport]:
    view = inspect_skills(connection, services.catalog)
    has_folder = services.catalog.is_there()
    steps = plan_steps(view, services.rules, now) if has_folder else ()
    return view, CuratorReport(count=len(view.own), has_folder=has_folder, steps=steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curator:
    """Reviews the skills; notifies owners once of each broken one."""

    services: SkillServices
    notices: "Notices"
    learning: "LearningSettings"
    """With its `proposals`, a model then proposes how to tidy skills and memories."""
    enqueue: Callable[[Sequence[OutboxRow]], None]
    now: Callable[[], int]

    async def work(self) -> str:
        """Review the skills and return a report.

        A snapshot comes before the first move. Raises `SkillBroken`, `StoreError`, and `OSError`
        if the snapshot or the usage file can't be written.
        """
        now = self.now()
        planned = await plan_round(self.services, now)
        if any(step.kind == "archive" for step in planned.steps):
            await finish(asyncio.to_thread(take_snapshot, self.services.catalog.folder, now))

        def work(connection: Connection) -> tuple[CuratorReport, list[OutboxRow]]:
            write_planned(connection, self.services.catalog.folder)
            view, found = _look(connection, self.services, now)
            if self.learning.proposals:
                enqueue_looks(connection, now=now)
            if not found.has_folder:
                return found, []
            hand = Origin(actor="hand", now=now, evidence="found by the curator")
            note_found(connection, view, found.steps, hand)
            done = self._archive(connection, found, now)
            for step in done.steps:
                _record_marks(connection, step, now)
            faults = [step.fault for step in done.steps if step.kind == "tell"]
            if not faults:
                return done, []
            notice = partial(system_jobs.describe_broken, faults)
            return done, self.notices.enqueue_for_owners(connection, notice, now)

        done, queued = await self.services.database.write("skills.curate", work)
        self.enqueue(queued)
        await self.services.usage.write()
        return system_jobs.describe_round(done)

    def _archive(self, connection: Connection, found: CuratorReport, now: int) -> CuratorReport:
        """Archive unused skills; one that can't be moved stays until the next review."""
        steps: list[CurationStep] = []
        failed: list[tuple[str, str]] = []
        for step in found.steps:
            if step.kind != "archive":
                steps.append(step)
                continue
            why = Origin(actor="curator", now=now, evidence=f"not used for {step.days} days")
            folder = self.services.catalog.folder
            try:
                kept = archive_skill(connection, folder, step.name, why)
            except SkillMissing:
                continue  # deleted meanwhile
            except OSError as error:
                failed.append((step.name, error.strerror or str(error)))
            else:
                steps.append(replace(step, kept=kept))
        return replace(found, steps=steps, stuck=failed)


def _record_marks(connection: Connection, step: CurationStep, now: int) -> None:
    """Record a review's marks; changes found and moves are recorded already."""
    match step.kind:
        case "tell":
            skills.note_fault_reported(connection, name=step.name, fault=hash_fault(step.fault))
        case "repaired":
            skills.note_fault_reported(connection, name=step.name, fault="")
        case "stale":
            why = f"not used for {step.days} days"
            origin = Origin(actor="curator", now=now)
            skill_changes.set_state(
                connection, name=step.name, state="stale", why=why, origin=origin
            )
        case "fresh":
            why = "it is used, or a person has changed the limits"
            origin = Origin(actor="curator", now=now)
            skill_changes.set_state(
                connection, name=step.name, state="active", why=why, origin=origin
            )
