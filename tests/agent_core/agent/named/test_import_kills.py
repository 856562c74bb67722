"""Kills in the middle of an import leave the agent with everything, or nothing of it."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import AgentMissing
from agent_core.state.engine.database import Connection, Database
from tests.agent_core.agent.named.import_program import make_editor

pytestmark = [pytest.mark.process, pytest.mark.slow]

MESSAGES = 1_000
_TABLES = ("blocks", "ledger", "sessions", "turns", "messages", "conversations")


def write_file(folder: Path) -> Path:
    data = Path(__file__).parent / "letta" / "present.af"
    document: dict[str, Any] = json.loads(data.read_text())
    document["agents"][0]["messages"] = [
        {"role": ("user", "assistant")[one % 2], "content": f"Word {one} of the cellar. " * 5}
        for one in range(MESSAGES)
    ]
    path = folder / "anna.af"
    path.write_text(json.dumps(document))
    return path


def run(home: Path, file: Path, seconds: float | None) -> float:
    """Import a file, and kill it after some time; return the seconds that it worked."""
    module = "tests.agent_core.agent.named.import_program"
    with subprocess.Popen(
        [sys.executable, "-m", module, str(home), str(file)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        began = time.monotonic()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        return time.monotonic() - began


async def look(home: Path) -> str:
    """Start anew, and say whether the agent is there. Fails if only a part of it is."""
    database = await Database.open(home / "state.db")
    editor = make_editor(home, database)
    await editor.finish_earlier()

    def count(connection: Connection) -> tuple[int, ...]:
        rows = (connection.execute(f"SELECT COUNT(*) FROM {one}").fetchone() for one in _TABLES)
        return tuple(row[0] for row in rows)

    counts = await database.read(count)
    await database.close()
    folder = home / "agents"
    names = [one.name for one in folder.iterdir()] if folder.exists() else []
    try:
        editor.files.agents.find("anna-s-service")
    except AgentMissing:
        assert (counts, names) == ((0,) * len(_TABLES), [])
        return "nothing"
    assert names == ["anna-s-service"]
    assert counts == (2, 3, 1, MESSAGES // 2, MESSAGES, 1)
    return "all"


async def kill_imports(folder: Path, number: int) -> Counter[str]:
    file = write_file(folder)
    times = []
    for one in range(3):  # the quickest counts: kills after the end would show nothing
        (folder / f"whole-{one}").mkdir()
        times.append(run(folder / f"whole-{one}", file, None))
        assert await look(folder / f"whole-{one}") == "all"
    whole = min(times)
    dice, found = random.Random(38), Counter[str]()
    for one in range(number):
        home = folder / f"home-{one}"
        home.mkdir()
        run(home, file, dice.uniform(0, whole))
        found[await look(home)] += 1
    return found


async def test_a_killed_import_leaves_all_or_nothing(tmp_path: Path) -> None:
    found = await kill_imports(tmp_path, 5)
    assert found["nothing"] + found["all"] == 5


@pytest.mark.long
async def test_200_killed_imports_leave_all_or_nothing(tmp_path: Path) -> None:
    found = await kill_imports(tmp_path, 200)
    print(dict(found))
    assert found["nothing"] > 20
    assert found["all"] > 0
