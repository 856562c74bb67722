"""Kills in the turns of teams: each contribution and each effect happens exactly once.

One message gives three tasks at the same time: to a team that speaks in turn, to one with a
supervisor, and to one that speaks freely. Each of their agents runs a command, whose trace is
counted.
"""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
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

MEMBERS = ("one", "two", "coder", "caller", "called")
"""The agents that act.

`editor` leads `coder`, `one` and `two` speak in turn, and `caller` calls `called`.
"""
COMMITS = {
    "helpers.open": 6,
    "helpers.end": 6,
    "turns.answer": 3,
    "turns.begin_step": 9,
    "turns.input": 8,
    "turns.settle": 1,
    "outbox.sent": 1,
}
"""Commits of such a message, each with how often it happens at least."""
FEW_KILLS = ("committed:helpers.open:2", "begin:helpers.end:1", "committed:turns.begin_step:3")
MOST_KILLS = 240
"""Enough for 200 that are met."""
SEED = 20261129
_NAME = re.compile(r"You are (\w+), an agent\.")
_WORK = re.compile(r"work (\d+)")


def answer(body: dict[str, Any]) -> Reply:
    """Let the assistant give both tasks, the editor ask, and each other agent run one command."""
    if "tools" not in body:
        return text_answer("A title")
    found = _NAME.search(json.dumps(body["system"]))
    name = found[1] if found else ""
    places = [
        (at, int(number))
        for at, message in enumerate(body["messages"])
        for number in _WORK.findall(_list_text(message))
    ]
    place, number = max(places)
    later = body["messages"][place:]
    results = [text for message in later for text in _list_results(message)]
    if not name:
        if not results:
            return _ask(
                *(
                    _write(mode="team", to=team, text=f"@caller work {number}")
                    for team in ("row", "desk", "talk")
                )
            )
        parts = Counter(re.findall(rf"\w+ did {number}\b", json.dumps(results)))
        return text_answer(f"finished {number} with {len(parts)} parts, {max(parts.values())} each")
    if name == "editor":
        if not results:
            return _ask(_write(mode="ask", to="coder", text=f"work {number}"))
        return text_answer(f"editor did {number}. coder did {number}.")
    if not results:
        command = f"echo {number}.{name} >> effects"
        return _ask({"type": "tool_use", "name": "terminal", "input": {"command": command}})
    return text_answer(f"{name} did {number}.{' @called' if name == 'caller' else ''}")


def _write(**arguments: object) -> Json:
    wanted = {"name": "message_agent", "arguments": arguments}
    return {"type": "tool_use", "name": "use_tool", "input": wanted}


def _ask(*calls: Json) -> Answer:
    return Answer(blocks=list(calls), stop="tool_use")


def _blocks(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _list_text(message: Json) -> str:
    return "\n".join(one["text"] for one in _blocks(message) if one["type"] == "text")


def _list_results(message: Json) -> list[str]:
    return [json.dumps(one) for one in _blocks(message) if one["type"] == "tool_result"]


def write_teams(home: Path) -> None:
    for name in (*MEMBERS, "editor"):
        place = home / "agents" / name
        place.mkdir(parents=True)
        place.joinpath("agent.toml").write_text("")
        place.joinpath("SOUL.md").write_text(f"You are {name}, an agent.")
    place = home / "teams"
    place.mkdir()
    (place / "row.toml").write_text(
        'manager = "round_robin"\nmembers = ["one", "two"]\nrounds = 1\n'
    )
    (place / "desk.toml").write_text('supervisor = "editor"\nmembers = ["coder"]\n')
    (place / "talk.toml").write_text('manager = "free"\nmembers = ["caller", "called"]\n')


async def test_team_turns_survive_kills(deployment: Deployment) -> None:
    await kill_at_each(deployment, FEW_KILLS)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
async def test_team_turns_survive_a_kill_at_each_commit(deployment: Deployment, part: int) -> None:
    await kill_at_each(deployment, islice(draw_kills(24), 6 * part, 6 * part + 6))


@pytest.mark.long
async def test_team_turns_survive_two_hundred_kills(deployment: Deployment) -> None:
    await kill_at_each(deployment, draw_kills(MOST_KILLS))


def draw_kills(count: int) -> Iterator[str]:
    """Draw kills at random commits, from a fixed seed."""
    chance = random.Random(SEED)
    for _ in range(count):
        name = chance.choice(list(COMMITS))
        phase = chance.choice(("begin", "committed"))
        yield f"{phase}:{name}:{chance.randint(1, COMMITS[name])}"


async def kill_at_each(deployment: Deployment, kills: Iterable[str]) -> None:
    """Let one message meet one kill each, and judge what is left.

    Calls run at the same time, so a commit may happen less often than usual, without a kill.
    """
    deployment.settings["TALARIA_TOOLS__BACKEND"] = "local"
    deployment.anthropic.answer = answer
    write_teams(deployment.home)
    deployment.telegram.user(ANNA, "Anna")
    count = met = 0
    for count, kill in enumerate(kills, start=1):
        end = f"finished {count} with 6 parts, 1 each"
        process = await deployment.open_process(kill)
        await deployment.telegram.says(ANNA, f"work {count}")
        dying = asyncio.create_task(process.died())
        while not dying.done() and end not in list_shown(deployment):
            await asyncio.wait((dying,), timeout=0.1)
        await asyncio.wait((dying,), timeout=1)
        met += dying.done()
        if not dying.done():
            process.terminate()
        await dying
        process = await deployment.open_process()
        await deployment.telegram.wait_for(lambda end=end: end in list_shown(deployment))
        async with asyncio.timeout(PATIENCE):
            while await asyncio.to_thread(list_open, deployment.home):
                await asyncio.sleep(0.02)
        process.terminate()
        await process.died()
    judge(deployment, count, met)


def judge(deployment: Deployment, count: int, met: int) -> None:
    """Compare the answers and effects with those that `count` messages must have."""
    numbers = range(1, count + 1)
    assert list_shown(deployment) == {
        f"finished {number} with 6 parts, 1 each": 1 for number in numbers
    }
    (effects,) = deployment.home.glob("workspaces/*/effects")
    done = Counter(effects.read_text().split())
    assert [what for what, often in done.items() if often > 1] == [], "an effect was repeated"
    expected = {f"{number}.{name}" for number in numbers for name in MEMBERS}
    assert done.keys() <= expected
    missing = expected - done.keys()
    assert missing <= list_unknown(deployment.home), "an effect is missing unnoticed"
    print(
        f"{count} kills in team turns: 0 lost, 0 doubled, {len(missing)} effects not run and said"
    )
