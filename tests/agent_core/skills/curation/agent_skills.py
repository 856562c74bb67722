"""Skills that the agent or the curator wrote."""

from pathlib import Path

from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.changes import check_create, plan
from agent_core.skills.intents import write_planned
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin

TEXT = "---\nname: {name}\ndescription: Tidies things up.\n---\n{body}\n"


async def make(database: Database, folder: Path, name: str, actor: str = "turn:1") -> None:
    """Write a skill as the agent or the curator does."""
    catalog = SkillCatalog(folder)
    change = check_create(catalog, name, TEXT.format(name=name, body="Do it."))

    def work(connection: Connection) -> None:
        assert plan(connection, catalog.folder, change, Origin(actor=actor, now=5)) == 1
        write_planned(connection, folder)

    await database.write("test", work)


def read_text(folder: Path, name: str) -> str:
    return (folder / name / "SKILL.md").read_text()
