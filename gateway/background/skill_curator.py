"""The curator: archives skills that nobody uses, and reports broken ones."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from agent_core.errors import SkillMissing
from agent_core.execution.subprocesses.spawning import finish
from agent_core.skills.changes import archive_planned
from agent_core.skills.curation.looks import enqueue_looks
from agent_core.skills.curation.snapshot import take_snapshot
from agent_core.skills.curator import CurationStep, CuratorReport, hash_fault
from agent_core.skills.intents import write_planned
from agent_core.skills.ledger_sync import note_found
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skill_changes, skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.queues.outbox import OutboxRow
from gateway.background.home_skills import HomeSkills
from gateway.texts import system_jobs

if TYPE_CHECKING:
    from gateway.app.tables import LearningSettings
    from gateway.people.owner_notices import Notices


@dataclass(frozen=True, slots=True, kw_only=True)
class Curator:
    """Reviews the skills; notifies owners once of each broken one."""

    database: Database
    skills: HomeSkills
    notices: "Notices"
    learning: "LearningSettings"
    """With its `proposals`, a model then proposes how to tidy skills and memories."""
    enqueue: Callable[[Sequence[OutboxRow]], None]
    now: Callable[[], int]

    async def work(self) -> str:
        """Review the skills and return a report.

        A snapshot comes before the first move. Raises `SkillBroken`, `StoreError`, and `OSError`
        if the snapshot can't be written.
        """
        now = self.now()
        planned = await self.skills.plan(now)
        if any(step.kind == "archive" for step in planned.steps):
            await finish(asyncio.to_thread(take_snapshot, self.skills.catalog.folder, now))

        def work(connection: Connection) -> tuple[CuratorReport, list[OutboxRow]]:
            write_planned(connection, self.skills.catalog.folder)
            view, found = self.skills.inspect(connection, now)
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

        done, queued = await self.database.write("skills.curate", work)
        self.enqueue(queued)
        folder = self.skills.catalog.folder
        await self.database.write("skills.write_planned", write_planned, folder)
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
            folder = self.skills.catalog.folder
            try:
                kept = archive_planned(connection, folder, step.name, why)
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
