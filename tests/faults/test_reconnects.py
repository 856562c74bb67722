"""Connections break off again and again while people go on writing: nothing lost, nothing twice."""

import asyncio
import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.crowd import AT_REST, chats_of, meet
from tests.faults.report import Trial, take_seed, tell
from tests.faults.town import Town


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrest:
    """How often every platform cuts its connections, and how many write meanwhile; in seconds."""

    messages: int
    people: int
    pause: float
    """Between one message and the next."""
    cut_every: float


async def _cut(town: Town, unrest: Unrest, chance: random.Random, cuts: list[str]) -> None:
    while True:
        await asyncio.sleep(unrest.cut_every)
        for quarter in town.quarters:
            await quarter.split(chance)
            cuts.append(quarter.platform)


async def _endure(town: Town, unrest: Unrest, name: str) -> None:
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(town, unrest.people)
    await meet(town, chats)
    cuts: list[str] = []
    cutting = asyncio.create_task(_cut(town, unrest, chance, cuts))
    for _ in range(unrest.messages - len(town.said)):
        await town.says(chance.choice(chats))
        await asyncio.sleep(unrest.pause)
    cutting.cancel()
    findings = await town.come_to_rest(within=AT_REST)
    done = {"cuts": len(cuts), "messages": len(town.said)}
    tell(town, Trial(name=name, seed=seed, began=began, done=done), findings)
    findings.must_be_flawless()
    assert set(cuts) == {quarter.platform for quarter in town.quarters}


async def test_connections_that_break_lose_nothing(city: Town) -> None:
    unrest = Unrest(messages=30, people=1, pause=0.08, cut_every=0.6)
    await _endure(city, unrest, "reconnects-short")


@pytest.mark.long
async def test_five_hundred_messages_while_all_is_cut_every_five_seconds(city: Town) -> None:
    unrest = Unrest(messages=500, people=6, pause=0.12, cut_every=5.0)
    await _endure(city, unrest, "reconnects")
