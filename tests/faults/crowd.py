"""Everybody in every kind of place of a town, and how the bot gets to know them."""

from tests.faults.quarters import KINDS, PEOPLE
from tests.faults.town import Town

AT_REST = 180.0
"""Seconds in which everything has to be answered once nothing goes wrong any more."""


def chats_of(town: Town, people: int) -> list[int]:
    """Every person, on every platform, in every kind of place."""
    return [
        quarter.first_chat + kind * PEOPLE + person
        for quarter in town.quarters
        for kind in range(len(KINDS))
        for person in range(people)
    ]


async def meet(town: Town, chats: list[int]) -> None:
    """Everybody is heard once, by a house that goes on.

    What is first said somewhere while nobody listens, no platform tells in every case.
    """
    house = await town.open_house()
    await house.ready()
    await town.all_seen([await town.says(chat) for chat in chats], within=AT_REST)


async def lose_power(town: Town) -> None:
    """The house dies at once."""
    assert town.house is not None
    town.house.kill()
    await town.house.died()
