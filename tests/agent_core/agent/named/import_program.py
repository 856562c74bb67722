"""Program that imports an agent file into a home, for tests that kill it: HOME FILE."""

import asyncio
import sys
from pathlib import Path

from agent_core.agent.caches import SessionCache
from agent_core.agent.named.agent_files import AgentFiles
from agent_core.agent.named.editor import AgentEditor, Author
from agent_core.agent.named.file_transfer import import_agent
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.teams import TeamFolder
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person

NOW = 1_800_000_000_000


def make_editor(home: Path, database: Database) -> AgentEditor:
    agents = AgentFolder(home)
    teams = TeamFolder(home, agents)
    return AgentEditor(
        database=database,
        files=AgentFiles(agents),
        teams=teams,
        now=lambda: NOW,
        load_ids=SessionCache(database).id_allocator,
    )


def find_ada(connection: Connection) -> Person:
    found = people.find_owner(connection)
    return found or people.insert(connection, slug="ada", name="Ada", role="owner", now=NOW)


async def main(home: Path, data: bytes) -> None:
    database = await Database.open(home / "state.db")
    editor = make_editor(home, database)
    ada = await database.write("test.ada", find_ada)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await import_agent(editor, data, ada.id, Author())
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]).read_bytes()))
