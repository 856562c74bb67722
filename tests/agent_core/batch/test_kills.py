"""A batch that is killed again and again runs each task once, and marks none twice."""

import asyncio
import json
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from agent_core.batch.records import TaskRecord, list_records
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, browse_file
from agent_core.state.people import people
from tests.agent_core.batch.player import MARKS
from tests.architecture.source import ROOT


async def play(folder: Path, tasks: Path, at: int, seed: int) -> int:
    words = ("-m", "tests.agent_core.batch.player", folder, tasks, at, seed)
    started = await asyncio.create_subprocess_exec(sys.executable, *map(str, words), cwd=ROOT)
    return await started.wait()


def count_turns(connection: Connection) -> Counter[str]:
    """The turns of each task: one person is one attempt."""
    found: Counter[str] = Counter()
    for person in people.list_all(connection):
        own = turns.list_of_person(connection, person_id=person.id, before=2**62, limit=99)
        found.update({person.name: len(own)} if own else {})
    return found


@pytest.mark.process
@pytest.mark.parametrize(
    "kills",
    [5, pytest.param(200, marks=[pytest.mark.long, pytest.mark.thorough])],
)
async def test_no_task_is_lost_or_runs_twice(tmp_path: Path, kills: int) -> None:
    chance, folder, tasks = random.Random(38), tmp_path / "run", tmp_path / "tasks.jsonl"
    count = max(20, 4 * kills)
    lines = (json.dumps({"prompt": f"Mark number {number}."}) for number in range(count))
    tasks.write_text("\n".join(lines))
    killed = 0
    while killed < kills:
        code = await play(folder, tasks, chance.randint(1, 12), chance.randrange(10**6))
        assert code == -signal.SIGKILL, "the run was over before the kills were"
        killed += 1
    assert await play(folder, tasks, 0, 0) == 0

    records: list[TaskRecord] = await browse_file(folder / "state.db", list_records)
    assert Counter(one.state for one in records) == {"done": count}
    assert {len(one.attempts) for one in records} == {1}
    per_task = await browse_file(folder / "state.db", count_turns)
    assert per_task == {f"task-{line}-1": 1 for line in range(1, count + 1)}
    marks = Counter((folder / MARKS).read_text().splitlines())
    assert max(marks.values()) == 1, "a tool with an effect ran twice"
    unknown = sum(one.attempts[0].tools["mark"][1] for one in records)
    assert len(marks) + unknown >= count  # what a kill left open is told to the model
    print(f"{kills} kills, {count} tasks: 0 lost, 0 twice, {unknown} of unknown outcome")
