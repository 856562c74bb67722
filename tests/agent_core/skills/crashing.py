"""A process of its own that changes a skill as the agent does, and is killed on the way."""

import asyncio
import os
import signal
from pathlib import Path

from agent_core.skills import changes
from agent_core.skills.catalog import SkillCatalog
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin

MOMENTS = ("planned", "written")


def crash(home: Path, moment: str) -> None:
    """Change the skill, and be killed at the moment."""
    asyncio.run(_change(home, moment))


async def _change(home: Path, moment: str) -> None:
    database = await Database.open(home / "state.db")
    catalog = SkillCatalog(home / "skills")
    origin = Origin(actor="turn:1", now=100, call_key="1:c1")
    if moment == "archived":
        await database.write(
            "archive", lambda c: changes.archive_planned(c, catalog.folder, "tidy", origin)
        )
        os.kill(os.getpid(), signal.SIGKILL)
    change = changes.check_patch(catalog, "tidy", "Do it.", "Do it well.")
    await database.write("plan", lambda c: changes.plan(c, catalog, change, origin))

    def write_planned(connection: Connection) -> None:
        changes.write_planned(connection, catalog.folder)
        os.kill(os.getpid(), signal.SIGKILL)

    if moment == "planned":
        os.kill(os.getpid(), signal.SIGKILL)
    await database.write("write_planned", write_planned)
