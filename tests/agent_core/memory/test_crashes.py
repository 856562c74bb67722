"""A process that is killed between a row and its file: the next one finds both right."""

import asyncio
import signal
from pathlib import Path

import pytest

from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.files import parse
from agent_core.memory.list_changes import replay
from agent_core.memory.store import MemoryStore
from agent_core.memory.sync import scan_all
from agent_core.state.engine.database import Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from tests.agent_core.memory.crashing import MOMENTS, WORKS, crash
from tests.integration.processes import run_fork

pytestmark = pytest.mark.process

AFTERWARDS = {
    "batch": (("one", "two", "three"), ("likes tea",)),
    "undo": (("two",), ()),
    "restore": (("one",), ()),
}


@pytest.mark.thorough
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("work", WORKS)
async def test_what_the_ledger_had_is_in_the_files_after_the_next_start(
    tmp_path: Path, moment: str, work: str
) -> None:
    folder = tmp_path / "memories"
    database = await Database.open(tmp_path / "state.db")
    ann = await database.write(
        "ann", lambda c: people.insert(c, slug="ann", name="Ann", role="owner", now=0)
    )
    store = MemoryStore(database, folder)
    for at, text in enumerate(("one", "two"), start=1):
        edit = Edit(action="add", target="memory", text=text)
        await store.change(ann.id, ann.slug, edit, Origin(actor="turn:1", now=at))
    await database.close()

    assert await asyncio.to_thread(run_fork, crash, tmp_path, moment, work) == -signal.SIGKILL

    database = await Database.open(tmp_path / "state.db")
    try:
        store = MemoryStore(database, folder)
        await scan_all(store, database, lambda: 200)
        memory, user = AFTERWARDS[work]
        for name, target, expected in (("MEMORY.md", "memory", memory), ("USER.md", "user", user)):
            rows = await database.read(
                lambda c, target=target: ledger.find_entries(  # type: ignore[misc]
                    c, person_id=ann.id, target=target
                )
            )
            assert replay(row.change for row in rows) == expected
            assert all(row.origin.actor != "hand" for row in rows)
            path = folder / "people" / "ann" / name
            assert parse(path.read_text() if path.exists() else "") == expected
    finally:
        await database.close()
