"""Connections break repeatedly while people keep writing: nothing is lost or repeated."""

import asyncio
import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.deployment import Deployment
from tests.faults.population import chats_of, meet
from tests.faults.report import Trial, publish, take_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many messages, and how often every platform cuts its connections, in seconds."""

    messages: int
    people: int
    pause: float
    """Between two messages."""
    cut_every: float


async def _cut(deployment: Deployment, plan: Plan, chance: random.Random, cuts: list[str]) -> None:
    while True:
        await asyncio.sleep(plan.cut_every)
        for driver in deployment.drivers:
            await driver.break_connection(chance)
            cuts.append(driver.platform)


async def _run(deployment: Deployment, plan: Plan, name: str) -> None:
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(deployment, plan.people)
    await meet(deployment, chats)
    cuts: list[str] = []
    cutting = asyncio.create_task(_cut(deployment, plan, chance, cuts))
    for _ in range(plan.messages - len(deployment.said)):
        await deployment.says(chance.choice(chats))
        await asyncio.sleep(plan.pause)
    cutting.cancel()
    findings = await deployment.stop_and_inspect()
    done = {"cuts": len(cuts), "messages": len(deployment.said)}
    publish(deployment, Trial(name=name, seed=seed, began=began, done=done), findings)
    findings.assert_flawless()
    assert set(cuts) == {driver.platform for driver in deployment.drivers}


async def test_connections_that_break_lose_nothing(full_deployment: Deployment) -> None:
    plan = Plan(messages=30, people=1, pause=0.08, cut_every=0.6)
    await _run(full_deployment, plan, "reconnects-short")


@pytest.mark.long
async def test_five_hundred_messages_while_all_is_cut_every_five_seconds(
    full_deployment: Deployment,
) -> None:
    plan = Plan(messages=500, people=6, pause=0.12, cut_every=5.0)
    await _run(full_deployment, plan, "reconnects")
