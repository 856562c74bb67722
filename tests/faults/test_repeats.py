"""Every event comes twice and more, in all the ways that platforms have: each is answered once."""

import random
import time

import pytest

from tests.faults.crowd import AT_REST, chats_of, lose_power, meet
from tests.faults.report import Trial, take_seed, tell
from tests.faults.town import Town


async def _hear_all_again(town: Town, *, messages: int, people: int, name: str) -> None:
    """Each event is repeated as it comes; then all of them, to this process and to the next.

    The next one also reads all histories from their beginning, as if no mark had been set.
    """
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(town, people)
    await meet(town, chats)
    for _ in range(messages - 2 * len(chats)):
        chat = chance.choice(chats)
        await town.says(chat)
        await town.quarter_of(chat).repeat(1)
    await town.all_seen(town.said, within=AT_REST)
    for quarter in town.quarters:
        await quarter.repeat(messages)
    await lose_power(town)
    town.rewind_marks()
    house = await town.open_house()
    await house.ready()
    for quarter in town.quarters:
        await quarter.repeat(messages)
    for chat in chats:
        await town.says(chat)
    findings = await town.come_to_rest(within=AT_REST)
    tell(town, Trial(name=name, seed=seed, began=began, done={"repeats": 3}), findings)
    findings.must_be_flawless()


async def test_what_comes_twice_is_answered_once(city: Town) -> None:
    await _hear_all_again(city, messages=36, people=1, name="repeats-short")


@pytest.mark.long
async def test_five_hundred_messages_that_come_twice_are_answered_once(city: Town) -> None:
    await _hear_all_again(city, messages=500, people=6, name="repeats")
