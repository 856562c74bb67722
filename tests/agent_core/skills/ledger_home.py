"""A home's skills and their ledger."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from agent_core.skills.catalog import ARCHIVE, SkillCatalog
from agent_core.skills.changes import archive_planned, plan, restore_planned
from agent_core.skills.intents import SkillChange, write_planned
from agent_core.skills.ledger_sync import (
    choose_archive_name,
    inspect_skills,
    note_found,
    original_name,
)
from agent_core.skills.undo import UndoneSkillChange, undo_skill_change
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, skill_changes
from agent_core.state.memory.ledger import LedgerEntry, Origin

ORIGIN = Origin(actor="turn:1", now=100, call_key="1:c1", evidence="write it down")
HAND = Origin(actor="hand", now=200, evidence="found at the start")


def compose(name: str, body: str = "Do it.") -> str:
    return f"---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n"


def put_away(folder: Path, name: str) -> str:
    """Move a skill into the archive by hand; return its name there."""
    kept = choose_archive_name(folder, name)
    (folder / ARCHIVE).mkdir(exist_ok=True)
    (folder / name).rename(folder / ARCHIVE / kept)
    return kept


def put_back(folder: Path, kept: str) -> None:
    """Move a skill out of the archive by hand."""
    place = folder / ARCHIVE / kept
    place.rename(folder / original_name(place))


def archive_skill(connection: Connection, folder: Path, name: str, origin: Origin) -> str:
    """Archive a skill as an operation does; return its name in the archive."""
    kept = archive_planned(connection, folder, name, origin)
    write_planned(connection, folder)
    return kept


def restore_skill(connection: Connection, folder: Path, kept: str, origin: Origin) -> str:
    """Restore a skill as an operation does; return its name."""
    name = restore_planned(connection, folder, kept, origin)
    write_planned(connection, folder)
    return name


def undo(connection: Connection, folder: Path, row_id: int, origin: Origin) -> UndoneSkillChange:
    """Undo a change of a skill as an operation does."""
    done = undo_skill_change(connection, folder, row_id, origin)
    write_planned(connection, folder)
    return done


class Home:
    """A home's skills and its ledger."""

    def __init__(self, home: Path, database: Database) -> None:
        self.folder, self.database = home / "skills", database
        self.catalog = SkillCatalog(self.folder)
        self.calls = 0

    async def make(self, change: SkillChange) -> int | None:
        self.calls += 1
        origin = replace(ORIGIN, call_key=f"1:c{self.calls}")
        version = await self.database.write("p", lambda c: plan(c, self.folder, change, origin))
        await self.database.write("s", lambda c: write_planned(c, self.folder))
        return version

    async def rows(self) -> list[LedgerEntry]:
        def look(connection: Connection) -> list[LedgerEntry]:
            team = blocks.find_team(connection)
            assert team
            return skill_changes.list_recent(connection, person_id=team, limit=50)[::-1]

        return await self.database.read(look)

    async def start(self) -> None:
        """Do to the files and the ledger what a start does."""

        def work(connection: Connection) -> None:
            write_planned(connection, self.folder)
            note_found(connection, inspect_skills(connection, self.catalog), (), HAND)

        await self.database.write("start", work)


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Home]:
    database = await Database.open(home / "state.db")
    try:
        yield Home(home, database)
    finally:
        await database.close()
