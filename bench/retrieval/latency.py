"""The time of one person's search among many, the index size, and the cost of writing.

`python -m bench.retrieval.latency [messages] [people] [--long] [--unmerged]`.
"""

import argparse
import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.privacy.erasure.scrub import merge_indexes
from agent_core.state.engine.database import Database
from agent_core.tools.contract import ToolContext
from bench.retrieval.town import Talkers, build

SEARCHES = 300
"""Of each kind."""
_Taken = tuple[float, float]
"""Seconds that a search took, by the clock and of the processor."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.latency", description=__doc__)
    parser.add_argument("messages", type=int, nargs="?", default=200_000)
    parser.add_argument("people", type=int, nargs="?", default=1000)
    parser.add_argument("--long", action="store_true", help="let the answers be long")
    parser.add_argument("--unmerged", action="store_true", help="search before the nightly merge")
    given = parser.parse_args()
    count, population = given.messages, given.people
    with tempfile.TemporaryDirectory(prefix="talaria-recall-") as folder:
        path = Path(folder) / "state.db"
        built = build(
            path,
            count=count,
            population=population,
            report=print,
            has_long_answers=given.long,
        )
        with closing(sqlite3.connect(path)) as connection:
            index = _measure_index(connection)
            heavy = _count(connection, 1)
        print(f"\n{count:,} messages of {population:,} people; the first of them wrote {heavy:,}")
        print(f"text {built.text_bytes / 1e6:.1f} MB, index {index / built.text_bytes:.2f} of it")
        print(
            f"{built.clock_ms:.3f} ms to write a message with its entry, a thousand at a time;"
            f" {built.worked_ms:.3f} ms of the processor"
        )
        asyncio.run(_search(path, population, is_merged=not given.unmerged))


def _measure_index(connection: sqlite3.Connection) -> int:
    """Return the bytes of the whole index."""
    data = "SELECT SUM(LENGTH(block)) FROM message_search_data"
    tree = "SELECT SUM(LENGTH(term)) + 8 * COUNT(*) FROM message_search_idx"
    return sum(int(connection.execute(sql).fetchone()[0]) for sql in (data, tree))


def _count(connection: sqlite3.Connection, person_id: int) -> int:
    row = connection.execute(
        "SELECT COUNT(*) FROM messages WHERE person_id = :id", {"id": person_id}
    ).fetchone()
    return int(row[0])


async def _search(path: Path, population: int, *, is_merged: bool) -> None:
    vocabulary = Talkers(random.Random(4)).vocabulary
    chance = random.Random(5)
    kinds: dict[str, Callable[[], str]] = {
        "common words": lambda: " ".join(chance.choices(vocabulary[:20], k=3)),
        "rare words": lambda: " ".join(chance.choices(vocabulary[1000:6000], k=3)),
        "a rare and common ones": lambda: " ".join(
            [*chance.choices(vocabulary[:20], k=3), chance.choice(vocabulary[500:3000])]
        ),
        "one common word": lambda: chance.choice(vocabulary[:5]),
        "eight words": lambda: " ".join(chance.choices(vocabulary[:2000], k=8)),
    }
    database = await Database.open(path)
    if is_merged:
        began = time.process_time()
        await merge_indexes(database)  # as the gateway does every night
        print(f"{time.process_time() - began:.1f} s of the processor to merge the index")
    tool = RecallTool(database)
    head = f"{'p50 ms':>8}{'p99 ms':>8}"
    print(f"\n{'search, whole answer of the tool':44}{head}    of the processor{head}")
    everything: list[_Taken] = []
    try:
        for who, persons in (("anybody", range(2, population + 1)), ("the one with a tenth", (1,))):
            for kind, make in kinds.items():
                taken = []
                for _ in range(SEARCHES):
                    person_id = PersonId(chance.choice(persons))
                    query = make()
                    began, worked = time.perf_counter(), time.process_time()
                    await tool.run({"query": query}, _context(person_id))
                    taken.append((time.perf_counter() - began, time.process_time() - worked))
                _report(f"{who}: {kind}", taken)
                everything += taken
    finally:
        await database.close()
    _report("all", everything)


def _context(person_id: PersonId) -> ToolContext:
    return ToolContext(
        person_id=person_id,
        owner_id=person_id,
        memory_owner=None,
        conversation_id=ConversationId(person_id),
        scope=f"p{person_id}",
        turn_id=TurnId(2**40),
        call_id=CallId("call"),
        now=1_800_000_000_000,
        evidence="",
    )


def _report(name: str, taken: list[_Taken]) -> None:
    wall, worked = (statistics.quantiles(kind, n=100) for kind in zip(*taken, strict=True))
    figures = [f"{cuts[place] * 1000:8.1f}" for cuts in (wall, worked) for place in (49, 98)]
    print(f"{name:44}{''.join(figures[:2])}{'':20}{''.join(figures[2:])}")


if __name__ == "__main__":
    main()
