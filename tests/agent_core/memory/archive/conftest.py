"""A real database with two people and a room, and turns that call the archive."""

import pytest

from agent_core.ids import CallId, PersonId, TurnId
from agent_core.memory.archive import undo
from agent_core.memory.archive.archive_tool import ArchiveTool
from agent_core.memory.archive.entries import parse_id
from agent_core.memory.archive.history import ArchiveHistory, load_archive_history
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person, PersonKind
from agent_core.tools.contract import MemoryOwner, ToolContext, ToolResult
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_turn

BEGIN = 1_770_000_000_000
"""Monday 2026-02-02, 02:40 UTC."""
MINUTE = 60_000
DAY = 24 * 60 * MINUTE


async def meet(database: Database, slug: str, kind: PersonKind = "human") -> Dialogue:
    """Somebody who remembers, and their talk."""

    def work(connection: Connection) -> Dialogue:
        person = people.insert(
            connection, slug=slug, name=slug.title(), role="member", now=0, kind=kind
        )
        return add_dialogue(connection, person, key=f"talk:{slug}", room=kind == "room")

    return await database.write("meet", work)


@pytest.fixture
async def ann(database: Database) -> Dialogue:
    return await meet(database, "ann")


@pytest.fixture
async def bob(database: Database, ann: Dialogue) -> Dialogue:
    return await meet(database, "bob")


class Caller:
    """Turns of one person, each with one call, a minute apart."""

    def __init__(
        self, database: Database, dialogue: Dialogue, memory_owner: Person | None = None
    ) -> None:
        self.changed: list[PersonId] = []
        self.now = BEGIN
        self._database = database
        self._dialogue = dialogue
        self._owner = memory_owner or dialogue.person
        in_room = self._owner.kind == "room"
        self.tool = ArchiveTool(database, self.changed.append, in_room=in_room)

    def context(self, turn_id: TurnId, call: str = "call") -> ToolContext:
        memory_owner = self._owner
        return ToolContext(
            person_id=self._dialogue.person.id,
            owner_id=self._dialogue.conversation.person_id,
            memory_owner=MemoryOwner(
                person_id=memory_owner.id, slug=memory_owner.slug, kind=memory_owner.kind
            ),
            conversation_id=self._dialogue.conversation.id,
            scope=self._dialogue.conversation.scope,
            turn_id=turn_id,
            call_id=CallId(call),
            now=self.now,
            evidence="my words",
        )

    async def begin(self) -> TurnId:
        self.now += MINUTE
        return await self._database.write(
            "turn", lambda connection: add_turn(connection, self._dialogue, now=self.now)
        )

    async def __call__(self, action: str, **arguments: object) -> ToolResult:
        context = self.context(await self.begin())
        return await self.tool.run({"action": action, **arguments}, context)

    async def keep(self, text: str, *tags: str) -> str:
        """Keep an entry; the name by which the tool calls it."""
        done = await self("insert", text=text, tags=list(tags))
        return done.text.removeprefix("Kept as ").partition(".")[0]

    async def rows(self) -> list[LedgerEntry]:
        """Return the changes of the archive."""
        person_id = self._dialogue.person.id
        return await self._database.read(
            lambda c: ledger.find_entries(c, person_id=person_id, target="archive")
        )

    async def texts(self) -> list[str]:
        """Return the words of all entries."""
        person_id = self._dialogue.person.id
        known = await self._database.read(lambda c: archive.list_known(c, person_id=person_id))
        found = await self._database.read(
            lambda c: [archive.find(c, person_id=person_id, archive_id=one) for one in known]
        )
        return [entry.text for entry in found if entry]

    async def take_back(self, row: LedgerEntry) -> LedgerEntry:
        """Undo one change."""
        person_id, origin = self._dialogue.person.id, Origin(actor="house", now=BEGIN)
        return await self._database.write(
            "undo",
            lambda c: undo.undo_archive_change(c, person_id=person_id, row=row, origin=origin),
        )

    async def history(self, name: str) -> ArchiveHistory:
        """Return what became of an entry."""
        person_id, archive_id = self._dialogue.person.id, parse_id(name)
        assert archive_id
        found = await self._database.read(
            lambda c: load_archive_history(c, person_id=person_id, archive_id=archive_id)
        )
        assert found
        return found

    async def search(self, query: str = "", **rest: object) -> str:
        return (await self("search", query=query, **rest)).text


@pytest.fixture
def call(database: Database, ann: Dialogue) -> Caller:
    return Caller(database, ann)
