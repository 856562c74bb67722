"""Messages sent while the gateway is down are answered once, despite more kills."""

import asyncio

from tests.faults.deployment import PATIENCE, Deployment
from tests.faults.population import chats_of, lose_power, meet

STORING = ("begin:inbox.store:1", "committed:inbox.store:1", "committed:inbox.store:2")
POLL = 0.01


async def test_messages_sent_during_downtime_are_answered_once_despite_kills(
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
    (await full_deployment.stop_and_inspect()).assert_flawless()


async def test_new_messages_do_not_hide_missed_ones(
    full_deployment: Deployment,
) -> None:
    """Kill it after it reads new messages and before it reads missed ones."""
    chats = chats_of(full_deployment, 1)
    await meet(full_deployment, chats)
    await lose_power(full_deployment)
    for chat in chats:
        await full_deployment.says(chat)
    history_calls = {}
    for driver in full_deployment.drivers:
        driver.hide_history()
        history_calls[driver] = driver.history_calls
    process = await full_deployment.open_process()
    await process.ready()
    for chat in chats:
        await full_deployment.says(chat)
    async with asyncio.timeout(PATIENCE):
        while any(driver.history_calls == count for driver, count in history_calls.items()):
            await asyncio.sleep(POLL)
    await lose_power(full_deployment)
    full_deployment.clear_faults()
    await full_deployment.open_process()
    (await full_deployment.stop_and_inspect()).assert_flawless()
