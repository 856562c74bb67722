"""A process of its own that changes Ann's memory, and is killed around the write of a file."""

import asyncio
import os
import signal
from pathlib import Path

from agent_core.memory import files
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.store import MemoryStore, Write
from agent_core.state.engine.database import Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people

MOMENTS = ("before", "drafted", "after")
WORKS = ("batch", "undo", "restore")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(moment: str) -> Write:
    """A write that never returns: killed before it, with a draft lying there, or after it."""

    def write(path: Path, text: str, seen: str) -> bool:
        if moment == "drafted":
            path.with_name(f".{path.name}.new").write_text(text[: len(text) // 2])
        if moment == "after":
            files.write_file(path, text, seen)
        die()
        return True

    return write


def crash(home: Path, moment: str, work: str) -> None:
    """Begin the work, and be killed at the moment."""
    asyncio.run(_work(home, moment, work))


async def _work(home: Path, moment: str, work: str) -> None:
    database = await Database.open(home / "state.db")
    ann = (await database.read(people.list_all))[0]
    store = MemoryStore(database, home / "memories", write=dying(moment))
    origin = Origin(actor="turn:1", now=100, call_key="1:c1")
    if work == "batch":
        edits = (
            Edit(action="add", target="memory", text="three"),
            Edit(action="add", target="user", text="likes tea"),
        )
        await store.change_all(ann.id, ann.slug, edits, origin)
    elif work == "undo":
        rows = await database.read(
            lambda c: ledger.find_entries(c, person_id=ann.id, target="memory")
        )
        await store.undo(ann.id, ann.slug, rows[0].id, origin)
    else:
        await store.restore(ann.id, ann.slug, 1, origin)
