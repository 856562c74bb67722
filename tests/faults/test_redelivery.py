"""Platforms redeliver every event in all their ways: each is answered once."""

import random
import time

import pytest

from tests.faults.deployment import Deployment
from tests.faults.population import AT_REST, chats_of, lose_power, meet
from tests.faults.report import Trial, publish, take_seed


async def _redeliver_everything(
    deployment: Deployment, *, messages: int, people: int, name: str
) -> None:
    """Redeliver each event at once, and all of them to this process and the next.

    The next one also reads all histories from their start, as if it had no read positions.
    """
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    chats = chats_of(deployment, people)
    await meet(deployment, chats)
    for _ in range(messages - 2 * len(chats)):
        chat = chance.choice(chats)
        await deployment.says(chat)
        await deployment.driver_of(chat).redeliver(1)
    await deployment.all_seen(deployment.said, within=AT_REST)
    for driver in deployment.drivers:
        await driver.redeliver(messages)
    await lose_power(deployment)
    deployment.forget_read_positions()
    process = await deployment.open_process()
    await process.ready()
    for driver in deployment.drivers:
        await driver.redeliver(messages)
    for chat in chats:
        await deployment.says(chat)
    findings = await deployment.stop_and_inspect()
    publish(deployment, Trial(name=name, seed=seed, began=began, done={"repeats": 3}), findings)
    findings.assert_flawless()


async def test_redelivered_events_are_answered_once(full_deployment: Deployment) -> None:
    await _redeliver_everything(full_deployment, messages=36, people=1, name="repeats-short")


@pytest.mark.long
async def test_five_hundred_messages_that_come_twice_are_answered_once(
    full_deployment: Deployment,
) -> None:
    await _redeliver_everything(full_deployment, messages=500, people=6, name="repeats")
