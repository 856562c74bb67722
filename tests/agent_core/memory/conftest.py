"""A real database with two people in it, and the folder of their memory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from tests.databases import open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(tmp_path / "state.db")
    yield database
    await database.close()


@pytest.fixture
async def ann(database: Database) -> Person:
    return await database.write(
        "ann",
        lambda connection: people.insert(connection, slug="ann", name="Ann", role="owner", now=0),
    )


@pytest.fixture
async def bob(database: Database, ann: Person) -> Person:
    return await database.write(
        "bob",
        lambda connection: people.insert(connection, slug="bob", name="Bob", role="member", now=0),
    )


class Desk:
    """Where a person finds their MEMORY.md, and edits it by hand."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, person: Person) -> Path:
        return self._folder / "people" / person.slug / "MEMORY.md"

    def read(self, person: Person) -> str:
        path = self.path(person)
        return path.read_text() if path.exists() else ""

    def save(self, person: Person, text: str) -> None:
        path = self.path(person)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def lose(self, person: Person) -> None:
        self.path(person).unlink(missing_ok=True)


@pytest.fixture
def desk(folder: Path) -> Desk:
    return Desk(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memories"
