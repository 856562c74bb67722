"""Kills during commands and delegated tasks, whose effects must not happen twice."""

import json
import random
import re
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.streaming import Answer, Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.faults.deployment import PATIENCE, Deployment
from tests.faults.report import RESULTS, take_seed

pytestmark = [pytest.mark.process, needs_bubblewrap]

ROUNDS = 3
"""Answers with tool calls in one turn."""
COMMANDS = 2
"""Commands in one answer, besides a delegation to two helpers."""
EFFECTS = "effects"
_WORK = re.compile(r"work (\d+)")
_TASK = re.compile(r"Task: (\d+\.\d+\.h\d)")
_LONGEST_LIFE = 1.2
_TOLD = "don't know whether it took effect"
_UNKNOWN = "It is not known whether this call took effect"


def _append(mark: str) -> Json:
    """Call a command that adds a line, with a pause before and after."""
    command = f"sleep 0.05; echo {mark} >> {EFFECTS}; sleep 0.05"
    return {"type": "tool_use", "name": "terminal", "input": {"command": command}}


def answer(body: dict[str, Any]) -> Reply:
    """Work in rounds, as a pure function of the request. A helper runs one command."""
    if "tools" not in body:
        return text_answer("A talk")
    said = [_text(message) for message in body["messages"]]
    if task := _TASK.search(said[0]):
        has_run = any("tool_use" in _kinds(message) for message in body["messages"])
        mark = task[1]
        return text_answer(f"helped {mark}") if has_run else _ask(_append(mark))
    number, place = max(
        (int(found[1]), at) for at, x in enumerate(said) for found in _WORK.finditer(x)
    )
    done = sum("tool_use" in _kinds(message) for message in body["messages"][place:])
    if done >= ROUNDS:
        return text_answer(f"finished {number}!")
    marks = [f"{number}.{done}.{one}" for one in range(COMMANDS)]
    tasks = [{"goal": f"{number}.{done}.h{one}"} for one in range(2)]
    helpers = {"type": "tool_use", "name": "delegate_task", "input": {"tasks": tasks}}
    return _ask(*map(_append, marks), helpers)


def _ask(*calls: Json) -> Answer:
    return Answer(blocks=list(calls), stop="tool_use")


def _blocks(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _kinds(message: Json) -> set[str]:
    return {block["type"] for block in _blocks(message)}


def _text(message: Json) -> str:
    return "\n".join(block["text"] for block in _blocks(message) if block["type"] == "text")


@dataclass
class Count:
    """How much the kills interrupted, and what was found afterwards."""

    kills: int = 0
    in_turns: int = 0
    turns: int = 0
    lives: list[float] = field(default_factory=list)


async def _kill_at_random(deployment: Deployment, kills: int, name: str) -> None:
    """Process one message after the other, and kill the gateway up to three times each."""
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    print(f"\nseed {seed}, home {deployment.home}")
    deployment.anthropic.answer = answer
    deployment.settings["TALARIA_TOOLS__BACKEND"] = "local"
    deployment.telegram.user(ANNA, "Anna")
    count = Count()
    while count.kills < kills:
        count.turns += 1
        await deployment.telegram.says(ANNA, f"work {count.turns}")
        for _ in range(chance.randint(1, 3)):
            process = await deployment.open_process()
            await process.ready()
            try:
                await process.died(within=chance.uniform(0.0, _LONGEST_LIFE))
            except TimeoutError:
                process.kill()
                await process.died()
            count.kills += 1
            count.in_turns += bool(deployment.attempts_of_running())
        process = await deployment.open_process()
        await deployment.telegram.wait_for(lambda: _is_answered(deployment, count.turns), PATIENCE)
        process.terminate()
        await process.died()
    _judge(deployment, count)
    took = round(time.monotonic() - began)
    line = f"{name}: seed {seed}, kills {count.kills}, of them in a turn {count.in_turns}, {took} s"
    print(line)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}.txt").write_text(f"{line}\n")


def _is_answered(deployment: Deployment, number: int) -> bool:
    return any(m.text.startswith(f"finished {number}!") for m in deployment.telegram.messages(ANNA))


def _judge(deployment: Deployment, count: Count) -> None:
    texts = [m.text for m in deployment.telegram.messages(ANNA)]
    shown = Counter(text.split("\n")[0] for text in texts)
    assert {f"finished {number}!": 1 for number in range(1, count.turns + 1)} == {
        text: often for text, often in shown.items() if text.startswith("finished")
    }
    effects = Counter(_read_effects(deployment.home))
    assert [mark for mark, often in effects.items() if often > 1] == [], "an effect was repeated"
    expected = {
        f"{number}.{done}.{one}"
        for number in range(1, count.turns + 1)
        for done in range(ROUNDS)
        for one in (*map(str, range(COMMANDS)), "h0", "h1")
    }
    assert effects.keys() <= expected
    unknown, open_rows = _read_state(deployment.home)
    missing = expected - effects.keys()
    told = {text.split("!")[0][9:]: text.count(_TOLD) for text in texts if _TOLD in text}
    in_doubt = Counter(mark.split(".")[0] for mark in unknown if "h" not in mark)
    assert told == {number: min(often, 3) for number, often in in_doubt.items()}
    print(f"effects {len(effects)}, missing {len(missing)}, of unknown outcome {len(unknown)}")
    assert missing <= unknown, "an effect is missing that the model takes for done"
    assert open_rows == []


def _read_effects(home: Path) -> list[str]:
    (found,) = home.glob(f"workspaces/*/{EFFECTS}")
    return found.read_text().split()


def _read_state(home: Path) -> tuple[set[str], list[tuple[object, ...]]]:
    """Return the marks of commands with unknown outcome, and open turns and steps."""
    with closing(sqlite3.connect(home / "state.db")) as connection:
        rows = connection.execute(
            "SELECT messages.parts, steps.call_id FROM steps JOIN messages"
            " ON messages.turn_id = steps.turn_id AND messages.role = 'assistant'"
            " WHERE steps.name = 'terminal' AND steps.outcome LIKE ?",
            (f"{_UNKNOWN}%",),
        ).fetchall()
        open_rows = connection.execute(
            "SELECT 'turn', id, state FROM turns WHERE state <> 'answered'"
            " UNION ALL SELECT 'step', id, name FROM steps WHERE outcome IS NULL"
            " UNION ALL SELECT 'outbox', id, state FROM outbox WHERE state <> 'sent'"
        ).fetchall()
    marks = set()
    for parts, call_id in rows:
        for part in json.loads(parts):
            if part.get("call_id") == call_id:
                marks |= set(re.findall(r"echo (\S+) >>", json.dumps(part)))
    return marks, open_rows


async def test_kills_in_turns_full_of_commands_repeat_none(deployment: Deployment) -> None:
    await _kill_at_random(deployment, 5, "tools-short")


@pytest.mark.long
async def test_a_hundred_kills_in_turns_full_of_commands(deployment: Deployment) -> None:
    await _kill_at_random(deployment, 100, "tools")
