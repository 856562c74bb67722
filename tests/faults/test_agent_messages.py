"""Kills at the commits of messages between agents: nothing is lost, and nothing happens twice."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.streaming import Answer, Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.faults.agent_findings import list_shown, list_unknown
from tests.faults.deployment import PATIENCE, Deployment
from tests.faults.findings import list_open

pytestmark = [pytest.mark.process, pytest.mark.slow, needs_bubblewrap]

AGENTS = ("coder", "writer", "one", "two")
"""The agents that are asked, told, and reached by a broadcast."""
COMMITS = (
    "agents.tell:1",
    "agents.deliver:1",
    "turns.answer:1",
    *(f"turns.begin_step:{number}" for number in (1, 2, 4)),
    *(f"turns.input:{number}" for number in (1, 3, 5)),
    "turns.settle:1",
    "outbox.sent:1",
)
"""Commits of a message to three agents and of what they do; the number counts from the start.

The answer of an agent is committed with the beginning of its only call.
"""
KILLS = tuple(f"{phase}:{commit}" for commit in COMMITS for phase in ("begin", "committed"))
FEW_KILLS = (
    "committed:agents.tell:1",
    "begin:agents.deliver:1",
    "committed:turns.begin_step:2",
)
_NAME = re.compile(r"You are (\w+), an agent\.")
_WORK = re.compile(r"work (\d+)")


def answer(body: dict[str, Any]) -> Reply:
    """Let the default agent write to all others, and each of them run one command."""
    if "tools" not in body:
        return text_answer("A talk")
    found = _NAME.search(json.dumps(body["system"]))
    name = found[1] if found else ""
    place, number = max(
        (at, int(found[1]))
        for at, message in enumerate(body["messages"])
        for found in _WORK.finditer(_join(message, "text"))
    )
    later = body["messages"][place:]
    has_acted = any(_list_blocks(message, "tool_use") for message in later)
    if name:
        command = f"echo {number}.{name} >> effects"
        call = {"type": "tool_use", "name": "terminal", "input": {"command": command}}
        return text_answer(f"{name} did {number}.") if has_acted else _ask(call)
    if has_acted:
        results = "".join(json.dumps(_list_blocks(message, "tool_result")) for message in later)
        return text_answer(f"finished {number} with {results.count(', answered')} answers")
    text = f"work {number}"
    return _ask(
        _write(mode="ask", to="coder", text=text),
        _write(mode="tell", to="writer", text=text),
        _write(mode="broadcast", tags=["all"], text=text),
    )


def _write(**arguments: object) -> Json:
    wanted = {"name": "message_agent", "arguments": arguments}
    return {"type": "tool_use", "name": "use_tool", "input": wanted}


def _ask(*calls: Json) -> Answer:
    return Answer(blocks=list(calls), stop="tool_use")


def _list_blocks(message: Json, kind: str) -> list[Json]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block for block in blocks if block["type"] == kind]


def _join(message: Json, kind: str) -> str:
    return "\n".join(block["text"] for block in _list_blocks(message, kind))


def write_agents(home: Path) -> None:
    for name in AGENTS:
        place = home / "agents" / name
        place.mkdir(parents=True)
        tags = 'tags = ["all"]' if name in AGENTS[2:] else ""
        place.joinpath("agent.toml").write_text(tags)
        place.joinpath("SOUL.md").write_text(f"You are {name}, an agent.")


async def test_messages_between_agents_survive_kills(deployment: Deployment) -> None:
    await kill_at_each(deployment, FEW_KILLS)


@pytest.mark.long
async def test_messages_between_agents_survive_a_kill_at_each_commit(
    deployment: Deployment,
) -> None:
    await kill_at_each(deployment, KILLS)


async def kill_at_each(deployment: Deployment, kills: Sequence[str]) -> None:
    """Let one message meet one kill each, and judge what is left."""
    deployment.settings["TALARIA_TOOLS__BACKEND"] = "local"
    deployment.anthropic.answer = answer
    write_agents(deployment.home)
    deployment.telegram.user(ANNA, "Anna")
    for number, kill in enumerate(kills, start=1):
        process = await deployment.open_process(kill)
        await deployment.telegram.says(ANNA, f"work {number}")
        await process.died()
        process = await deployment.open_process()
        ends = {f"finished {number} with 3 answers", f"From writer:\n\nwriter did {number}."}
        await deployment.telegram.wait_for(lambda ends=ends: ends <= list_shown(deployment).keys())
        async with asyncio.timeout(PATIENCE):
            while await asyncio.to_thread(list_open, deployment.home):
                await asyncio.sleep(0.02)
        process.terminate()
        await process.died()
    judge(deployment, len(kills))


def judge(deployment: Deployment, count: int) -> None:
    """Compare the messages and effects with those that `count` messages must have."""
    numbers = range(1, count + 1)
    assert list_shown(deployment) == {
        **{f"finished {number} with 3 answers": 1 for number in numbers},
        **{f"From writer:\n\nwriter did {number}.": 1 for number in numbers},
    }
    (effects,) = deployment.home.glob("workspaces/*/effects")
    done = Counter(effects.read_text().split())
    assert [what for what, often in done.items() if often > 1] == [], "an effect was repeated"
    expected = {f"{number}.{name}" for number in numbers for name in AGENTS}
    assert done.keys() <= expected
    assert expected - done.keys() <= list_unknown(deployment.home), "an effect is missing unnoticed"
