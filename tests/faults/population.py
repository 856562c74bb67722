"""The people of a deployment in every kind of chat, and how the bot gets to know them."""

from tests.faults.deployment import Deployment
from tests.faults.drivers import KINDS, PEOPLE

AT_REST = 180.0
"""Seconds in which everything has to be answered once nothing goes wrong any more."""


def chats_of(deployment: Deployment, people: int) -> list[int]:
    """Every person, on every platform, in every kind of place."""
    return [
        driver.first_chat + kind * PEOPLE + person
        for driver in deployment.drivers
        for kind in range(len(KINDS))
        for person in range(people)
    ]


async def meet(deployment: Deployment, chats: list[int]) -> None:
    """Everybody is heard once, by a gateway that goes on.

    What is first said somewhere while nobody listens, no platform tells in every case.
    """
    process = await deployment.open_process()
    await process.ready()
    await deployment.all_seen([await deployment.says(chat) for chat in chats], within=AT_REST)


async def lose_power(deployment: Deployment) -> None:
    """The gateway dies at once."""
    assert deployment.process is not None
    deployment.process.kill()
    await deployment.process.died()
