"""Every event comes twice and more, in all the ways that platforms have: each is answered once."""

import random
import time

import pytest

from tests.faults.deployment import Deployment
from tests.faults.population import AT_REST, chats_of, lose_power, meet
from tests.faults.report import Trial, publish, take_seed


async def _hear_all_again(deployment: Deployment, *, messages: int, people: int, name: str) -> None:
    """Each event is repeated as it comes; then all of them, to this process and to the next.

    The next one also reads all histories from their beginning, as if no mark had been set.
    """
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(deployment, people)
    await meet(deployment, chats)
    for _ in range(messages - 2 * len(chats)):
        chat = chance.choice(chats)
        await deployment.says(chat)
        await deployment.driver_of(chat).repeat(1)
    await deployment.all_seen(deployment.said, within=AT_REST)
    for driver in deployment.drivers:
        await driver.repeat(messages)
    await lose_power(deployment)
    deployment.rewind_marks()
    process = await deployment.open_process()
    await process.ready()
    for driver in deployment.drivers:
        await driver.repeat(messages)
    for chat in chats:
        await deployment.says(chat)
    findings = await deployment.come_to_rest(within=AT_REST)
    publish(deployment, Trial(name=name, seed=seed, began=began, done={"repeats": 3}), findings)
    findings.must_be_flawless()


async def test_what_comes_twice_is_answered_once(full_deployment: Deployment) -> None:
    await _hear_all_again(full_deployment, messages=36, people=1, name="repeats-short")


@pytest.mark.long
async def test_five_hundred_messages_that_come_twice_are_answered_once(
    full_deployment: Deployment,
) -> None:
    await _hear_all_again(full_deployment, messages=500, people=6, name="repeats")
