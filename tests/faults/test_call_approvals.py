"""Kills of a whole gateway around an approval: what it allows runs once at most, and in time."""

import asyncio
import json
import random
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from agent_core.tools.policy.approval_requests import USE_WITHIN
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.streaming import Answer, Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.faults.deployment import PATIENCE, Deployment
from tests.faults.findings import list_open
from tests.faults.report import take_seed

pytestmark = [pytest.mark.process, pytest.mark.slow, needs_bubblewrap]

COMMITS = (
    *("turns.answer:1", "questions.ask:1", "inbox.store:2", "questions.answer:1"),
    *("turns.begin_step:1", "turns.input:1", "turns.settle:1"),
)
"""Commits of a call that is asked about, pressed and run, in their order."""
KILLS = tuple(f"{phase}:{commit}" for commit in COMMITS for phase in ("begin", "committed"))
FEW_KILLS = (
    *("committed:questions.ask:1", "begin:inbox.store:2", "committed:questions.answer:1"),
    *("begin:turns.begin_step:1", "committed:turns.begin_step:1", "begin:turns.input:1"),
)
_LONGEST_LIFE = 1.5
_TOLD = "not known whether this call took effect"
_WORK = re.compile(r"work (\d+)")


def answer(body: dict[str, Any]) -> Reply:
    """Run one command for each message that asks for work, and repeat what came of it."""
    if "tools" not in body:
        return text_answer("A talk")
    place, number = max(
        (at, int(found[1]))
        for at, message in enumerate(body["messages"])
        for found in _WORK.finditer(_join(message, "text"))
    )
    results = [_join(message, "tool_result") for message in body["messages"][place:]]
    if any(results):
        return text_answer(f"finished {number}: {''.join(results)}")
    command = f"echo {number} >> effects"
    call = {"type": "tool_use", "name": "terminal", "input": {"command": command}}
    return Answer(blocks=[call], stop="tool_use")


def _join(message: Json, kind: str) -> str:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return " ".join(json.dumps(block) for block in blocks if block["type"] == kind)


def prepare(deployment: Deployment) -> None:
    """Let every command ask Anna."""
    deployment.settings["TALARIA_TOOLS__BACKEND"] = "local"
    rules = '[[tools.rules]]\neffect = "ask"\ntool = "terminal"\n'
    (deployment.home / "config.toml").write_text(rules)
    deployment.anthropic.answer = answer
    deployment.telegram.user(ANNA, "Anna")


async def see_question(deployment: Deployment, number: int) -> None:
    """Return once Anna can answer the question about a command."""

    def is_shown() -> bool:
        shown = deployment.telegram.messages(ANNA)
        return any(f"echo {number} >>" in one.text and "Once" in one.labels for one in shown)

    await deployment.telegram.wait_for(is_shown)


async def press_when_shown(deployment: Deployment, number: int) -> None:
    """Press the button once, whichever process sends it."""
    await see_question(deployment, number)
    await deployment.telegram.presses(ANNA, "Once")


async def see_end(deployment: Deployment, number: int) -> None:
    """Return once a message is answered and nothing is left to do; stop the gateway."""
    begin = f"finished {number}:"
    await deployment.telegram.wait_for(
        lambda: any(x.startswith(begin) for x in deployment.telegram.texts(ANNA))
    )
    async with asyncio.timeout(PATIENCE):
        while await asyncio.to_thread(list_open, deployment.home):
            await asyncio.sleep(0.02)
    assert deployment.process is not None
    deployment.process.terminate()
    await deployment.process.died()


def list_effects(deployment: Deployment) -> Counter[str]:
    """Count what commands left in the workspace."""
    found = deployment.home.glob("workspaces/*/effects")
    return Counter(line for one in found for line in one.read_text().split())


def judge(deployment: Deployment, count: int) -> set[int]:
    """Compare effects, answers and decisions of `count` messages; return those without effect."""
    effects = list_effects(deployment)
    assert [what for what, often in effects.items() if often > 1] == [], "a command ran twice"
    ends = [x for x in deployment.telegram.texts(ANNA) if x.startswith("finished ")]
    numbers = [int(end.split(":")[0].removeprefix("finished ")) for end in ends]
    assert numbers == list(range(1, count + 1)), "an answer is lost, or shown twice"
    missing = {number for number in numbers if str(number) not in effects}
    assert all(_TOLD in ends[number - 1] for number in missing), "a command is lost unnoticed"
    with closing(sqlite3.connect(deployment.home / "state.db")) as connection:
        rows = connection.execute("SELECT action FROM audit WHERE action GLOB 'approval.*'")
        decisions = Counter(action for (action,) in rows)
    assert decisions == {"approval.once": count}, "one press is one decision"
    return missing


async def kill_at_each(deployment: Deployment, kills: Sequence[str]) -> None:
    """Let one approved command meet one kill each, and judge what is left."""
    prepare(deployment)
    for number, kill in enumerate(kills, start=1):
        process = await deployment.open_process(kill)
        await deployment.telegram.says(ANNA, f"work {number}")
        pressing = asyncio.create_task(press_when_shown(deployment, number))
        await process.died()
        await deployment.open_process()
        await pressing
        await see_end(deployment, number)
    missing = {kills[number - 1] for number in judge(deployment, len(kills))}
    # Killed right before the command: it may have run, so it is not repeated, and the model knows.
    assert missing <= {"committed:turns.begin_step:1"}


async def test_an_approved_command_survives_kills(deployment: Deployment) -> None:
    await kill_at_each(deployment, FEW_KILLS)


@pytest.mark.long
async def test_an_approved_command_survives_a_kill_at_each_commit(deployment: Deployment) -> None:
    await kill_at_each(deployment, KILLS)


@pytest.mark.long
async def test_approved_commands_survive_sixty_random_kills(deployment: Deployment) -> None:
    seed = take_seed()
    print(f"\nseed {seed}")
    chance, kills, number = random.Random(seed), 0, 0
    prepare(deployment)
    while kills < 60:
        number += 1
        await deployment.telegram.says(ANNA, f"work {number}")
        pressing = asyncio.create_task(press_when_shown(deployment, number))
        for _ in range(chance.randint(1, 3)):
            process = await deployment.open_process()
            await process.ready()
            try:
                await process.died(within=chance.uniform(0.0, _LONGEST_LIFE))
            except TimeoutError:
                process.kill()
                await process.died()
            kills += 1
        await deployment.open_process()
        await pressing
        await see_end(deployment, number)
    missing = judge(deployment, number)
    print(f"{kills} kills, {number} approved commands, {len(missing)} prevented and told")


@pytest.mark.parametrize("answered", ["before the kill", "while it is down"])
async def test_an_approval_that_expired_while_the_gateway_was_down_runs_nothing(
    deployment: Deployment, answered: str
) -> None:
    prepare(deployment)
    is_early = answered == "before the kill"
    kills = ("committed:questions.answer:1",) if is_early else ()
    process = await deployment.open_process(*kills)
    await deployment.telegram.says(ANNA, "work 1")
    await see_question(deployment, 1)
    if not is_early:
        process.kill()
        await process.died()
    await deployment.telegram.presses(ANNA, "Once")
    await process.died()
    # At twice the speed since then, the next gateway's clock is a minute past the expiry.
    deployment.speed, deployment.epoch = 2, int(time.time() * 1000) - USE_WITHIN - 60_000
    await deployment.open_process()
    await see_end(deployment, 1)
    assert list_effects(deployment) == {}
    (end,) = [x for x in deployment.telegram.texts(ANNA) if x.startswith("finished")]
    assert ("used up or has expired" if is_early else "Nobody answered in time") in end
