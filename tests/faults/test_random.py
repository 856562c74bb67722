"""Killed at random moments, over and over, while people go on writing on every platform."""

import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.deployment import Deployment
from tests.faults.population import AT_REST, chats_of, lose_power, meet
from tests.faults.report import Trial, publish, take_seed
from tests.faults.script import Verb

VERBS: tuple[Verb, ...] = ("say", "ring", "long", "slow")
WEIGHTS = (70, 15, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """How bad it gets; `mean_life` is in seconds, `people` are those of one platform."""

    kills: int
    messages: int
    people: int
    mean_life: float


async def _rage(
    deployment: Deployment, storm: Storm, chance: random.Random, chats: list[int]
) -> None:
    """Start, let people write, let things go wrong, kill."""
    deployment.stream_slowly()
    each = (storm.messages - len(deployment.said)) / storm.kills
    for _ in range(storm.kills):
        process = await deployment.open_process()
        left = storm.messages - len(deployment.said)
        for _ in range(min(left, round(each * chance.uniform(0, 2)))):
            await deployment.says(chance.choice(chats), chance.choices(VERBS, WEIGHTS)[0])
        for driver in deployment.drivers:
            driver.spoil(chance)
        if chance.random() < 0.2:
            await chance.choice(deployment.drivers).split(chance)
        try:
            await process.died(within=chance.expovariate(1 / storm.mean_life))
        except TimeoutError:
            process.kill()
            await process.died()
        else:
            pytest.fail(f"a gateway died by itself: see {deployment.home}/output.log")


async def weather(deployment: Deployment, storm: Storm, name: str) -> None:
    """A storm that has to leave no trace. Prints what was counted, and keeps it in a file."""
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(deployment, storm.people)
    print(f"\nseed {seed}, home {deployment.home}")
    await meet(deployment, chats)
    await lose_power(deployment)
    await _rage(deployment, storm, chance, chats)
    deployment.hurry()
    await deployment.open_process()
    for _ in range(storm.messages - len(deployment.said)):
        await deployment.says(chance.choice(chats))
    findings = await deployment.come_to_rest(within=AT_REST)
    done = {"kills": storm.kills, "messages": len(deployment.said)}
    publish(deployment, Trial(name=name, seed=seed, began=began, done=done), findings)
    findings.must_be_flawless(strays=storm.kills)


async def test_random_kills_lose_nothing_and_answer_nothing_twice(
    full_deployment: Deployment,
) -> None:
    await weather(
        full_deployment, Storm(kills=6, messages=32, people=1, mean_life=0.8), "kills-short"
    )


@pytest.mark.long
async def test_three_hundred_random_kills_over_fifteen_hundred_messages(
    full_deployment: Deployment,
) -> None:
    await weather(full_deployment, Storm(kills=150, messages=750, people=6, mean_life=1.5), "kills")
