"""Connections break off again and again while people go on writing: nothing lost, nothing twice."""

import asyncio
import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.deployment import Deployment
from tests.faults.population import AT_REST, chats_of, meet
from tests.faults.report import Trial, publish, take_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrest:
    """How often every platform cuts its connections, and how many write meanwhile; in seconds."""

    messages: int
    people: int
    pause: float
    """Between one message and the next."""
    cut_every: float


async def _cut(
    deployment: Deployment, unrest: Unrest, chance: random.Random, cuts: list[str]
) -> None:
    while True:
        await asyncio.sleep(unrest.cut_every)
        for driver in deployment.drivers:
            await driver.split(chance)
            cuts.append(driver.platform)


async def _endure(deployment: Deployment, unrest: Unrest, name: str) -> None:
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(deployment, unrest.people)
    await meet(deployment, chats)
    cuts: list[str] = []
    cutting = asyncio.create_task(_cut(deployment, unrest, chance, cuts))
    for _ in range(unrest.messages - len(deployment.said)):
        await deployment.says(chance.choice(chats))
        await asyncio.sleep(unrest.pause)
    cutting.cancel()
    findings = await deployment.come_to_rest(within=AT_REST)
    done = {"cuts": len(cuts), "messages": len(deployment.said)}
    publish(deployment, Trial(name=name, seed=seed, began=began, done=done), findings)
    findings.must_be_flawless()
    assert set(cuts) == {driver.platform for driver in deployment.drivers}


async def test_connections_that_break_lose_nothing(full_deployment: Deployment) -> None:
    unrest = Unrest(messages=30, people=1, pause=0.08, cut_every=0.6)
    await _endure(full_deployment, unrest, "reconnects-short")


@pytest.mark.long
async def test_five_hundred_messages_while_all_is_cut_every_five_seconds(
    full_deployment: Deployment,
) -> None:
    unrest = Unrest(messages=500, people=6, pause=0.12, cut_every=5.0)
    await _endure(full_deployment, unrest, "reconnects")
