"""A real database with two people in it, and the folder of their memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_core.ids import PersonId
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.files import parse
from agent_core.memory.list_changes import replay
from agent_core.memory.store import MemoryStore, Snapshot, Write
from agent_core.state.engine.database import Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, MemoryTarget, Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person
from tests.databases import open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    yield opened
    await opened.close()


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


def add(text: str, target: MemoryTarget = "memory", *, for_anyone: bool = False) -> Edit:
    return Edit(action="add", target=target, text=text, is_for_anyone=for_anyone)


@dataclass(frozen=True, slots=True)
class Notebook:
    """One person's memory: the ledger, the file, and the store between them."""

    database: Database
    store: MemoryStore
    person: Person
    desk: Desk

    def writing(self, write: Write) -> "Notebook":
        """Return the same memory in a process that writes files in another way."""
        store = MemoryStore(self.database, self.store.folder, write=write)
        return replace(self, store=store)

    async def change(
        self, *edits: Edit, call: str | None = None
    ) -> tuple[AppliedEdit, ...] | Refusal:
        origin = Origin(actor="turn:1", now=5, evidence="remember this", call_key=call)
        return await self.store.change_all(self.person.id, self.person.slug, edits, origin)

    async def add(self, *texts: str) -> None:
        """Add entries, each with a change of its own."""
        for text in texts:
            assert not isinstance(await self.change(add(text)), Refusal)

    @property
    def path(self) -> Path:
        return self.desk.path(self.person)

    def read(self) -> str:
        return self.desk.read(self.person)

    def save(self, text: str) -> None:
        self.desk.save(self.person, text)

    def lose(self) -> None:
        self.desk.lose(self.person)

    async def snapshot(self, now: int = 9) -> Snapshot:
        return await self.store.snapshot(self.person.id, self.person.slug, now)

    async def lists(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        snapshot = await self.snapshot()
        return snapshot.memory, snapshot.user

    async def look(self) -> tuple[str, ...]:
        return (await self.lists())[0]

    async def rows(self, target: MemoryTarget = "memory") -> list[LedgerEntry]:
        return await self.read_rows(self.person.id, target)

    async def read_rows(
        self, owner: PersonId, target: MemoryTarget = "memory"
    ) -> list[LedgerEntry]:
        return await self.database.read(
            lambda c: ledger.find_entries(c, person_id=owner, target=target)
        )

    async def agree(self) -> tuple[str, ...]:
        """The list, once snapshot, ledger and file were seen to say the same."""
        entries = await self.look()
        replayed = replay(row.change for row in await self.rows())
        assert entries == replayed == parse(self.read())
        return entries


@pytest.fixture
def store(database: Database, folder: Path) -> MemoryStore:
    return MemoryStore(database, folder)


@pytest.fixture
def notebook(database: Database, store: MemoryStore, ann: Person, desk: Desk) -> Notebook:
    return Notebook(database, store, ann, desk)


@pytest.fixture
def other(database: Database, store: MemoryStore, bob: Person, desk: Desk) -> Notebook:
    return Notebook(database, store, bob, desk)


@pytest.fixture
def desk(folder: Path) -> Desk:
    return Desk(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memories"
