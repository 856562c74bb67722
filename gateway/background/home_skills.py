"""Comparison of a home's skills with their ledger."""

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from agent_core.errors import SkillBroken, StoreDamaged
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.curator import CuratorReport, CuratorRules, CuratorView, plan_steps
from agent_core.skills.intents import write_planned
from agent_core.skills.ledger_sync import FOUND, inspect_skills, note_found
from agent_core.skills.usage import USAGE_TABLES, write_usage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin
from gateway.texts import system_jobs

if TYPE_CHECKING:
    from gateway.app.tables import SkillSettings

_log = logging.getLogger(__name__)


class HomeSkills:
    """The skills of a home directory: their files, their usage, and what became of them."""

    def __init__(
        self, *, database: Database, catalog: SkillCatalog, settings: "SkillSettings"
    ) -> None:
        self.catalog = catalog
        database.project(USAGE_TABLES, partial(write_usage, folder=catalog.folder))
        self._database = database
        self._rules = CuratorRules(
            stale_days=settings.stale_days, archive_days=settings.archive_days
        )

    async def plan(self, now: int) -> CuratorReport:
        """Return the curator's next changes without making them.

        Raises `SkillBroken` and `StoreError`.
        """
        return (await self._database.read(self.inspect, now))[1]

    def inspect(self, connection: Connection, now: int) -> tuple[CuratorView, CuratorReport]:
        """Compare the files with the ledger, and plan the steps. Raises `SkillBroken`."""
        view = inspect_skills(connection, self.catalog)
        has_folder = self.catalog.is_there()
        steps = plan_steps(view, self._rules, now) if has_folder else ()
        return view, CuratorReport(count=len(view.own), has_folder=has_folder, steps=steps)

    def record_manual_changes(
        self, connection: Connection, now: int, evidence: str
    ) -> CuratorReport:
        """Record changes made to skills by hand, or before a crash, with this evidence.

        Raises `SkillBroken` if the folder can't be read.
        """
        write_planned(connection, self.catalog.folder)
        view, found = self.inspect(connection, now)
        found = replace(found, steps=[step for step in found.steps if step.kind in FOUND])
        if found.has_folder:
            origin = Origin(actor="hand", now=now, evidence=evidence)
            note_found(connection, view, found.steps, origin)
        return found

    async def sync(self, now: int) -> None:
        """Record what was changed while no gateway ran, before anything uses the skills.

        A folder that can't be read is logged as a warning. Raises `StoreError`.
        """
        try:
            found = await self._database.write(
                "skills.compare", self.record_manual_changes, now, "found at the start"
            )
            await self._database.tidy(partial(write_usage, folder=self.catalog.folder))
        except (SkillBroken, StoreDamaged) as error:
            _log.warning("the skills can't be compared with the ledger: %s", error)
            return
        if found.steps:
            _log.info("skills were changed by hand: %s", system_jobs.describe_round(found))
