"""The people of a deployment in every kind of chat, and their first messages."""

from tests.faults.deployment import Deployment
from tests.faults.drivers import KINDS, PEOPLE
from tests.faults.findings import list_doubts

AT_REST = 180.0
"""Seconds within which everything is answered after the last fault."""

CONNECTED = 0.5
"""The part of the processes that connect before they are killed. On a busy machine, most of the
others don't.
"""


def chats_of(deployment: Deployment, people: int) -> list[int]:
    """Return a chat for every person, platform and kind of place."""
    return [
        driver.first_chat + kind * PEOPLE + person
        for driver in deployment.drivers
        for kind in range(len(KINDS))
        for person in range(people)
    ]


async def meet(deployment: Deployment, chats: list[int]) -> None:
    """Let everybody write once to a gateway that keeps running.

    Not every platform redelivers the first message of a chat after downtime.
    """
    process = await deployment.open_process()
    await process.ready()
    await deployment.all_seen([await deployment.says(chat) for chat in chats], within=AT_REST)


async def lose_power(deployment: Deployment) -> None:
    """Kill the gateway at once, and note which messages that leaves in doubt."""
    assert deployment.process is not None
    deployment.process.kill()
    await deployment.process.died()
    deployment.doubts.update(list_doubts(deployment.home))
