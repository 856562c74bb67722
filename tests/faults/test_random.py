"""Killed at random moments, over and over, while people go on writing on every platform."""

import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.crowd import AT_REST, chats_of, lose_power, meet
from tests.faults.report import Trial, take_seed, tell
from tests.faults.speech import Verb
from tests.faults.town import Town

VERBS: tuple[Verb, ...] = ("say", "ring", "long", "slow")
WEIGHTS = (70, 15, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """How bad it gets; `mean_life` is in seconds, `people` are those of one platform."""

    kills: int
    messages: int
    people: int
    mean_life: float


async def _rage(town: Town, storm: Storm, chance: random.Random, chats: list[int]) -> None:
    """Start, let people write, let things go wrong, kill."""
    town.stream_slowly()
    each = (storm.messages - len(town.said)) / storm.kills
    for _ in range(storm.kills):
        house = await town.open_house()
        left = storm.messages - len(town.said)
        for _ in range(min(left, round(each * chance.uniform(0, 2)))):
            await town.says(chance.choice(chats), chance.choices(VERBS, WEIGHTS)[0])
        for quarter in town.quarters:
            quarter.spoil(chance)
        if chance.random() < 0.2:
            await chance.choice(town.quarters).split(chance)
        try:
            await house.died(within=chance.expovariate(1 / storm.mean_life))
        except TimeoutError:
            house.kill()
            await house.died()
        else:
            pytest.fail(f"a house died by itself: see {town.home}/house.log")


async def weather(town: Town, storm: Storm, name: str) -> None:
    """A storm that has to leave no trace. Prints what was counted, and keeps it in a file."""
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(town, storm.people)
    print(f"\nseed {seed}, home {town.home}")
    await meet(town, chats)
    await lose_power(town)
    await _rage(town, storm, chance, chats)
    town.hurry()
    await town.open_house()
    for _ in range(storm.messages - len(town.said)):
        await town.says(chance.choice(chats))
    findings = await town.come_to_rest(within=AT_REST)
    done = {"kills": storm.kills, "messages": len(town.said)}
    tell(town, Trial(name=name, seed=seed, began=began, done=done), findings)
    findings.must_be_flawless(strays=storm.kills)


async def test_random_kills_lose_nothing_and_answer_nothing_twice(city: Town) -> None:
    await weather(city, Storm(kills=6, messages=32, people=1, mean_life=0.8), "kills-short")


@pytest.mark.long
async def test_three_hundred_random_kills_over_fifteen_hundred_messages(city: Town) -> None:
    await weather(city, Storm(kills=150, messages=750, people=6, mean_life=1.5), "kills")
