"""The time that an agent file takes to come in, and that others wait meanwhile."""

import asyncio
import json
import random
import tempfile
import time
from pathlib import Path

from agent_core.agent.caches import SessionCache
from agent_core.agent.named.agent_files import AgentFiles
from agent_core.agent.named.editor import AgentEditor, Author
from agent_core.agent.named.file_transfer import import_agent
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.teams import TeamFolder
from agent_core.state.engine import meta
from agent_core.state.engine.database import Database
from agent_core.state.people import people
from bench.figures import Figure

MESSAGES = 10_000
_WORDS = 70
_GOAL = 10.0
"""Seconds for a file of so many messages; from issue 38."""


async def measure(*, messages: int) -> list[Figure]:
    """Return the seconds of an import, and of the slowest other write meanwhile."""
    with tempfile.TemporaryDirectory(prefix="talaria-bench-", dir="/var/tmp") as folder:
        database = await Database.open(Path(folder) / "state.db")
        try:
            file, worked = _make_file(messages), time.process_time()
            taken, longest = await _import_beside(database, Path(folder), file)
            worked = time.process_time() - worked
        finally:
            await database.close()
    goal = _GOAL if messages == MESSAGES else None
    return [
        Figure(name=f"agent file of {messages:,} messages", unit="s", value=taken, at_most=goal),
        Figure(name="CPU of the import and the other writes", unit="s", value=worked),
        Figure(name="longest other write meanwhile", unit="ms", value=longest * 1000),
    ]


async def _import_beside(database: Database, home: Path, file: bytes) -> tuple[float, float]:
    agents = AgentFolder(home)
    editor = AgentEditor(
        database=database,
        files=AgentFiles(agents),
        teams=TeamFolder(home, agents),
        now=lambda: 1_800_000_000_000,
        load_ids=SessionCache(database).id_allocator,
    )
    ada = await database.write(
        "bench.ada", people.insert, slug="a", name="Ada", role="owner", now=1
    )
    async with asyncio.TaskGroup() as tasks:
        others = tasks.create_task(_write_beside(database))
        began = time.perf_counter()
        await import_agent(editor, file, ada.id, Author())
        taken = time.perf_counter() - began
        await database.write("bench.end", meta.put, key=_END, value="1")
    return taken, others.result()


_END = "bench:end"


async def _write_beside(database: Database) -> float:
    """Write small values until the import is over; return the seconds of the slowest write."""
    longest, number = 0.0, 0
    while await database.read(lambda c: meta.get(c, key=_END)) is None:
        began, number = time.perf_counter(), number + 1
        await database.write("bench.beside", meta.put, key="bench:beside", value=str(number))
        longest = max(longest, time.perf_counter() - began)
        await asyncio.sleep(0.01)
    return longest


def _make_file(messages: int) -> bytes:
    draw = random.Random(38)
    words = [f"word{number}" for number in range(8000)]
    said = [
        {"role": ("user", "assistant")[one % 2], "content": " ".join(draw.choices(words, k=_WORDS))}
        for one in range(messages)
    ]
    agent = {"id": "agent-0", "name": "anna", "system": "You are Anna.", "messages": said}
    return json.dumps({"agents": [agent]}).encode()
