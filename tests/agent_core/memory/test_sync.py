"""Within a transaction: what a file is taken for, and when it is noted as written."""

from functools import partial

from agent_core.memory.editing import apply_edits
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.files import ABSENT, FileText, hash_text
from agent_core.memory.sync import (
    ListSync,
    MemoryList,
    confirm_written,
    find_if_in_sync,
    sync_lists,
)
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin
from agent_core.state.people.people import Person

TURN = Origin(actor="turn:1", now=5)


async def test_a_late_confirmation_does_not_speak_for_a_newer_file(
    database: Database, ann: Person
) -> None:
    memory_list = MemoryList(person_id=ann.id, target="memory", limit=100)

    def add(connection: Connection, text: str) -> ListSync:
        work = partial(
            apply_edits, edits=[Edit(action="add", target="memory", text=text)], origin=TURN
        )
        return sync_lists(connection, [(memory_list, ABSENT)], work, TURN.now).lists[0]

    def work(connection: Connection) -> tuple[object, ...]:
        first, second = add(connection, "one"), add(connection, "two")
        assert second.text == "- one\n- two\n"
        newer = FileText(text=second.text, hash=hash_text(second.text))
        older = FileText(text="- one\n", hash=hash_text("- one\n"))
        confirm_written(connection, memory_list, first.projection)
        before = [find_if_in_sync(connection, memory_list, seen) for seen in (older, newer)]
        confirm_written(connection, memory_list, second.projection)
        after = [find_if_in_sync(connection, memory_list, seen) for seen in (older, newer)]
        return before, after

    assert await database.write("work", work) == ([None, None], [None, ("one", "two")])
