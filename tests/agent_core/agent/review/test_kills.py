"""Reviews that are killed at any point: files, ledger and counters agree afterwards."""

import asyncio
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from agent_core.agent.review.record import load_record
from agent_core.memory.files import parse
from agent_core.memory.list_changes import replay
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.people import people
from agent_core.state.queues import reviews, tasks
from tests.agent_core.agent.review.killing import live
from tests.integration.processes import run_fork

pytestmark = pytest.mark.process

ENDLESS = 10**6


async def run(home: Path, most: int, seconds: float = 0.0) -> int:
    """Run the process to its end or its death; return its exit code."""
    return await asyncio.to_thread(run_fork, live, home, most, seconds)


async def kill_and_check(home: Path, kills: int) -> None:
    chance = random.Random(kills)
    await run(home, 0)  # starts what forks the others
    began = time.monotonic()
    assert await run(home, 3) == 0
    seconds = time.monotonic() - began
    for _ in range(kills):
        assert await run(home, ENDLESS, seconds * chance.random()) == -signal.SIGKILL
    database = await Database.open(home / "state.db")
    try:
        done = await database.read(_count_done)
    finally:
        await database.close()
    assert await run(home, done + 2) == 0
    await check(home, done + 2)


async def check(home: Path, done: int) -> None:
    """Compare what was said, the records, the ledger, the archive, the files and the costs."""
    database = await Database.open(home / "state.db")
    try:
        said, entries, notes, kept, paid, actors = await database.read(_look)
        skills, intents = await database.read(_look_at_skills)
    finally:
        await database.close()
    assert len(said) == done, "no turn was counted twice, and none was left out"
    assert Counter(entries) == Counter(f"Collects stamp {number}" for number in range(done))
    assert Counter(notes) == Counter(f"Owns coin {number}" for number in range(done))
    path = next(home.glob("memories/people/*/USER.md"))  # noqa: ASYNC240
    assert parse(path.read_text()) == entries
    assert paid == 3 * done, "each answer of the model, two of the judge with it, was paid once"
    assert Counter(name for name, _ in skills) == Counter(f"stamp-{n}" for n in range(done))
    files = {one.parent.name: one.read_text() for one in home.glob("skills/*/SKILL.md")}  # noqa: ASYNC240
    assert files == dict(skills), "each file is as the ledger has it"
    assert not intents
    assert len(kept) == len(set(kept)) == 3 * done, "each record names its own rows"
    assert actors <= {"review"}, "no row was taken for an edit by hand"


def _count_done(connection: Connection) -> int:
    query = "SELECT COUNT(*) FROM tasks WHERE kind = 'review' AND state = 'done'"
    return int(connection.execute(query).fetchone()[0])


def _look(
    connection: Connection,
) -> tuple[list[str], tuple[str, ...], list[str], list[int], int, set[str]]:
    person = people.list_all(connection)[0]
    rows = ledger.find_entries(connection, person_id=person.id, target="user")
    archived = connection.execute("SELECT text FROM archive").fetchall()
    finished = tasks.list_finished(
        connection, kind=reviews.KIND, person_id=person.id, limit=ENDLESS
    )
    records = [load_record(payload) for _, payload in finished]
    assert all(record.is_over for record in records)
    calls = "SELECT COUNT(*) FROM usage WHERE purpose = 'review'"
    return (
        [row[0] for row in connection.execute("SELECT text FROM messages")],
        replay(row.change for row in rows),
        [row[0] for row in archived],
        [row_id for record in records for row_id in record.kept],
        int(connection.execute(calls).fetchone()[0]),
        {row.origin.actor.partition(":")[0] for row in rows},
    )


def _look_at_skills(connection: Connection) -> tuple[list[tuple[str, str]], int]:
    """Return the texts of skills by the ledger, and how many files are still to be written."""
    rows = connection.execute(
        "SELECT skills.name, ledger.after FROM ledger JOIN skills ON skills.id = ledger.position"
        " WHERE ledger.target = 'skill' ORDER BY ledger.id"
    ).fetchall()
    pending = connection.execute("SELECT COUNT(*) FROM meta WHERE key LIKE 'skill_intent:%'")
    return [(row[0], row[1]) for row in rows], int(pending.fetchone()[0])


@pytest.mark.thorough
async def test_a_review_that_is_killed_loses_and_repeats_nothing(tmp_path: Path) -> None:
    await kill_and_check(tmp_path, 6)


@pytest.mark.long
async def test_two_hundred_kills_leave_files_ledger_and_counters_in_agreement(
    tmp_path: Path,
) -> None:
    await kill_and_check(tmp_path, 200)
