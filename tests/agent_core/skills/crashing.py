"""A process of its own that changes a skill, and is killed on the way."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.changes import archive_planned, check_patch, plan, restore_planned
from agent_core.skills.intents import write_planned
from agent_core.skills.undo import undo_skill_change
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, skill_changes
from agent_core.state.memory.ledger import Origin

MOMENTS = ("planned", "renaming", "written")
"""Between the row and the file, before the file gets its name, and before the intent is dropped."""
ORIGIN = Origin(actor="turn:1", now=100, call_key="1:c1")

Deed = Callable[[Connection, SkillCatalog], object]


def _patch(connection: Connection, catalog: SkillCatalog) -> None:
    change = check_patch(catalog, "tidy", "Do it.", "Do it well.")
    plan(connection, catalog.folder, change, ORIGIN)


def _undo(connection: Connection, catalog: SkillCatalog) -> None:
    team = blocks.find_team(connection)
    assert team is not None
    newest = skill_changes.list_recent(connection, person_id=team, limit=1)[0]
    undo_skill_change(connection, catalog.folder, newest.id, ORIGIN)


DEEDS: dict[str, Deed] = {
    "patch": _patch,
    "undo": _undo,
    "archive": lambda c, catalog: archive_planned(c, catalog.folder, "tidy", ORIGIN),
    "restore": lambda c, catalog: restore_planned(c, catalog.folder, "tidy", ORIGIN),
}


def crash(home: Path, deed: str, moment: str) -> None:
    """Change the skill, and be killed at the moment."""
    asyncio.run(_change(home, DEEDS[deed], moment))


async def _change(home: Path, deed: Deed, moment: str) -> None:
    database = await Database.open(home / "state.db")
    catalog = SkillCatalog(home / "skills")
    await database.write("plan", deed, catalog)

    def write_all(connection: Connection) -> None:
        write_planned(connection, catalog.folder)
        _die()

    if moment == "planned":
        _die()
    if moment == "renaming":
        sys.addaudithook(_die_at_rename)
    await database.write("write_planned", write_all)


def _die_at_rename(event: str, _: object) -> None:
    if event == "os.rename":
        _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
