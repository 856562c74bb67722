"""People write while the gateway is down, and it is killed again before it has read everything."""

import asyncio

from tests.faults.deployment import PATIENCE, Deployment
from tests.faults.population import chats_of, lose_power, meet

STORING = ("begin:inbox.store:1", "committed:inbox.store:1", "committed:inbox.store:2")
POLL = 0.01


async def test_what_was_written_in_an_absence_is_answered_once_however_often_it_dies(
    full_deployment: Deployment,
) -> None:
    chats = chats_of(full_deployment, 1)
    await meet(full_deployment, chats)
    await lose_power(full_deployment)
    for point in STORING:
        for chat in chats:
            await full_deployment.says(chat)
        process = await full_deployment.open_process(point)
        await process.died()
    for chat in chats:
        await full_deployment.says(chat)
    await full_deployment.open_process()
    (await full_deployment.come_to_rest()).must_be_flawless()


async def test_what_is_said_meanwhile_does_not_hide_what_was_missed(
    full_deployment: Deployment,
) -> None:
    """It dies between taking what is said now and reading what was said before."""
    chats = chats_of(full_deployment, 1)
    await meet(full_deployment, chats)
    await lose_power(full_deployment)
    for chat in chats:
        await full_deployment.says(chat)
    asked = {}
    for driver in full_deployment.drivers:
        driver.hush()
        asked[driver] = driver.asked
    process = await full_deployment.open_process()
    await process.ready()
    for chat in chats:
        await full_deployment.says(chat)
    async with asyncio.timeout(PATIENCE):
        while any(driver.asked == count for driver, count in asked.items()):
            await asyncio.sleep(POLL)
    await lose_power(full_deployment)
    full_deployment.hurry()
    await full_deployment.open_process()
    (await full_deployment.come_to_rest()).must_be_flawless()
