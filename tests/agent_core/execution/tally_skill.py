"""A skill whose scripts are tools."""

from collections.abc import Mapping
from pathlib import Path

from agent_core.execution.contract import Backend
from agent_core.ids import PersonId
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.tools.scripts import SkillScripts
from agent_core.state.engine.database import Database
from agent_core.tools.contract import Tool
from tests.databases import open_database

TALLY = '''"""Adds up."""
import os

def main(prices: list[float], currency: str = "EUR", *, rounds: bool = False):
    """Add up prices.

    More words.
    """
    total = sum(prices)
    return {"total": round(total) if rounds else total, "currency": currency,
            "secret": os.environ.get("TALARIA_SECRET_PROBE")}
'''


def write(home: Path, scripts: Mapping[str, str], metadata: str) -> Path:
    place = home / "skills" / "tally"
    (place / "scripts").mkdir(parents=True)
    front = f"---\nname: tally\ndescription: Adds up.\nmetadata:\n{metadata}---\nDo it.\n"
    (place / "SKILL.md").write_text(front)
    for name, text in scripts.items():
        (place / "scripts" / name).write_text(text)
    return place


async def opened(
    home: Path, backend: Backend, elsewhere: Mapping[str, Backend] | None = None
) -> tuple[SkillScripts, Database, SkillDirectory]:
    database = await open_database(home / "state.db")
    directory = SkillDirectory(SkillCatalog(home / "skills"), database, 800)
    await directory.refresh()
    scripts = SkillScripts(directory, database, backend, 30, elsewhere=elsewhere)
    return scripts, database, directory


async def list_by_name(scripts: SkillScripts) -> dict[str, Tool]:
    return {tool.spec.name: tool for tool in await scripts.list_tools(PersonId(1))}
