"""The people of the Bot API's tests, and how to read updates."""

from telegram import Bot, Message, Update

ANNA, BEN = 11, 12
GROUP, SUPERGROUP, FORUM = -77, -1001000000001, -1001000000002


async def read(bot: Bot, offset: int = 0) -> tuple[Update, ...]:
    return await bot.get_updates(offset=offset, timeout=0)


async def only_message(bot: Bot) -> Message:
    (update,) = await read(bot)
    assert update.message is not None
    return update.message
