"""Within a transaction: what a file is taken for, and when it is noted as written."""

from functools import partial

from agent_core.memory.changes import Edit
from agent_core.memory.editing import make
from agent_core.memory.files import ABSENT, FileText, digest
from agent_core.memory.sync import Settlement, Shelf, confirm, finalize, find_agreed
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin
from agent_core.state.people.people import Person

TURN = Origin(actor="turn:1", now=5)


async def test_a_late_confirmation_does_not_speak_for_a_newer_file(
    database: Database, ann: Person
) -> None:
    shelf = Shelf(person_id=ann.id, target="memory", limit=100)

    def add(connection: Connection, text: str) -> Settlement:
        work = partial(make, edits=[Edit(action="add", target="memory", text=text)], origin=TURN)
        return finalize(connection, [(shelf, ABSENT)], work, TURN.now).lists[0]

    def work(connection: Connection) -> tuple[object, ...]:
        first, second = add(connection, "one"), add(connection, "two")
        assert second.text == "- one\n- two\n"
        newer = FileText(text=second.text, hash=digest(second.text))
        older = FileText(text="- one\n", hash=digest("- one\n"))
        confirm(connection, shelf, first.projection)
        before = [find_agreed(connection, shelf, seen) for seen in (older, newer)]
        confirm(connection, shelf, second.projection)
        after = [find_agreed(connection, shelf, seen) for seen in (older, newer)]
        return before, after

    assert await database.write("work", work) == ([None, None], [None, ("one", "two")])
