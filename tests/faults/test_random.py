"""Kills at random moments while people keep writing on every platform."""

import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.deployment import Deployment
from tests.faults.population import CONNECTED, chats_of, lose_power, meet
from tests.faults.report import Trial, publish, take_seed
from tests.faults.script import Verb

VERBS: tuple[Verb, ...] = ("say", "ring", "long", "slow")
WEIGHTS = (70, 15, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much to kill. `mean_life` is in seconds, `people` is per platform."""

    kills: int
    messages: int
    people: int
    mean_life: float
    connected: float = 0.0
    """The part of the processes that connect before they are killed."""


async def _kill_at_random(
    deployment: Deployment, plan: Plan, chance: random.Random, chats: list[int]
) -> None:
    """Start gateways, send messages, inject faults and kill, over and over."""
    deployment.stream_slowly()
    each = (plan.messages - len(deployment.said)) / plan.kills
    for _ in range(plan.kills):
        process = await deployment.open_process()
        left = plan.messages - len(deployment.said)
        for _ in range(min(left, round(each * chance.uniform(0, 2)))):
            await deployment.says(chance.choice(chats), chance.choices(VERBS, WEIGHTS)[0])
        for driver in deployment.drivers:
            driver.inject_fault(chance)
        if chance.random() < 0.2:
            await chance.choice(deployment.drivers).break_connection(chance)
        if chance.random() < plan.connected:
            await process.ready()
        try:
            await process.died(within=chance.expovariate(1 / plan.mean_life))
        except TimeoutError:
            await lose_power(deployment)
        else:
            pytest.fail(f"a gateway died by itself: see {deployment.home}/output.log")


async def run_random_kills(deployment: Deployment, plan: Plan, name: str) -> None:
    """Run random kills and fail on any loss. Prints the counts and keeps them in a file."""
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(deployment, plan.people)
    print(f"\nseed {seed}, home {deployment.home}")
    await meet(deployment, chats)
    await lose_power(deployment)
    await _kill_at_random(deployment, plan, chance, chats)
    deployment.clear_faults()
    await deployment.open_process()
    for _ in range(plan.messages - len(deployment.said)):
        await deployment.says(chance.choice(chats))
    findings = await deployment.stop_and_inspect()
    done = {"kills": plan.kills, "messages": len(deployment.said)}
    publish(deployment, Trial(name=name, seed=seed, began=began, done=done), findings)
    findings.assert_flawless()


async def test_random_kills_lose_nothing_and_answer_nothing_twice(
    full_deployment: Deployment,
) -> None:
    await run_random_kills(
        full_deployment, Plan(kills=6, messages=32, people=1, mean_life=0.8), "kills-short"
    )


@pytest.mark.long
async def test_three_hundred_random_kills_over_fifteen_hundred_messages(
    full_deployment: Deployment,
) -> None:
    await run_random_kills(
        full_deployment,
        Plan(kills=150, messages=750, people=6, mean_life=1.5, connected=CONNECTED),
        "kills",
    )
