"""What people wrote while the house was down, and it dies again before it has read all of that."""

import asyncio

from tests.faults.crowd import chats_of, lose_power, meet
from tests.faults.town import PATIENCE, Town

STORING = ("begin:inbox.store:1", "committed:inbox.store:1", "committed:inbox.store:2")
POLL = 0.01


async def test_what_was_written_in_an_absence_is_answered_once_however_often_it_dies(
    city: Town,
) -> None:
    chats = chats_of(city, 1)
    await meet(city, chats)
    await lose_power(city)
    for point in STORING:
        for chat in chats:
            await city.says(chat)
        house = await city.open_house(point)
        await house.died()
    for chat in chats:
        await city.says(chat)
    await city.open_house()
    (await city.come_to_rest()).must_be_flawless()


async def test_what_is_said_meanwhile_does_not_hide_what_was_missed(city: Town) -> None:
    """It dies between taking what is said now and reading what was said before."""
    chats = chats_of(city, 1)
    await meet(city, chats)
    await lose_power(city)
    for chat in chats:
        await city.says(chat)
    asked = {}
    for quarter in city.quarters:
        quarter.hush()
        asked[quarter] = quarter.asked
    house = await city.open_house()
    await house.ready()
    for chat in chats:
        await city.says(chat)
    async with asyncio.timeout(PATIENCE):
        while any(quarter.asked == count for quarter, count in asked.items()):
            await asyncio.sleep(POLL)
    await lose_power(city)
    city.hurry()
    await city.open_house()
    (await city.come_to_rest()).must_be_flawless()
