"""Actions of people on the emulated Telegram, through python-telegram-bot."""

import asyncio
from typing import Any

import pytest
from telegram import Bot
from telegram.error import (
    BadRequest,
)

from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, BEN, FORUM, GROUP, SUPERGROUP, only_message, read
from tests.emulators.telegram_media import document, photo, sticker, voice
from tests.patience import PATIENCE


async def test_a_message_arrives_with_its_details(api: TelegramEmulator, bot: Bot) -> None:
    message_id = await api.says(ANNA, "hello")
    message = await only_message(bot)
    assert message.message_id == message_id
    assert message.text == "hello"
    assert message.chat.type == "private"
    assert message.from_user is not None
    assert (message.from_user.id, message.from_user.username) == (ANNA, "anna_k")
    assert not message.api_kwargs


async def test_commands_and_mentions_are_found_by_utf16_units(
    api: TelegramEmulator, bot: Bot
) -> None:
    await api.says(ANNA, "😀 /start@talaria_bot 👨‍👩‍👧 @talaria_bot mail@example.org")
    found = (await only_message(bot)).parse_entities()
    assert sorted(found.values()) == ["/start@talaria_bot", "@talaria_bot"]


async def test_a_long_poll_is_woken_by_a_message(api: TelegramEmulator, bot: Bot) -> None:
    poll = asyncio.create_task(bot.get_updates(timeout=30))
    await api.wait_for(lambda: api.calls["getUpdates"])
    await api.says(ANNA, "wake up")
    assert len(await asyncio.wait_for(poll, PATIENCE)) == 1


async def test_unrequested_updates_are_not_kept(api: TelegramEmulator, bot: Bot) -> None:
    await bot.get_updates(timeout=0, allowed_updates=["message"])
    message_id = await api.says(ANNA, "helo")
    await api.edits(ANNA, message_id, "hello")
    assert [next(k for k in u if k != "update_id") for u in api.pending] == ["message"]


async def test_replies_and_topics_have_their_parents(api: TelegramEmulator, bot: Bot) -> None:
    sent = await bot.send_message(SUPERGROUP, "a question")
    await api.says(ANNA, "yes", chat=SUPERGROUP, reply_to=sent.message_id, quote="question")
    topic = api.topic(FORUM, ANNA, "Plans")
    await api.says(ANNA, "hi", chat=FORUM, thread=topic)
    reply, in_topic = (update.message for update in await read(bot))
    assert reply is not None
    assert reply.reply_to_message is not None
    assert reply.reply_to_message.text == "a question"
    assert reply.quote is not None
    assert in_topic is not None
    assert in_topic.is_topic_message
    assert in_topic.message_thread_id == topic
    assert in_topic.chat.is_forum


@pytest.mark.parametrize(
    ("fields", "kind"),
    [(sticker(), "sticker"), (voice(), "voice"), (photo(), "photo"), (document(), "document")],
)
async def test_the_sdk_reads_content_besides_text(
    api: TelegramEmulator, bot: Bot, fields: dict[str, Any], kind: str
) -> None:
    await api.says(ANNA, None, caption="/look here", **fields)
    message = await only_message(bot)
    assert message.effective_attachment
    assert getattr(message, kind) == message.effective_attachment
    assert list(message.parse_caption_entities().values()) == ["/look"]
    assert not message.api_kwargs


async def test_only_files_that_were_sent_can_be_fetched(api: TelegramEmulator, bot: Bot) -> None:
    await api.says(ANNA, None, **photo())
    await api.says(ANNA, None, **document(file_id="big", size=20_000_001))
    file = await bot.get_file("photo-1-1280")
    assert file.file_size == 140_000
    with pytest.raises(BadRequest, match="Invalid file_id"):
        await bot.get_file("photo-2")
    with pytest.raises(BadRequest, match="File is too big"):
        await bot.get_file("big")


async def test_private_chats_and_basic_groups_share_one_counter(
    api: TelegramEmulator, bot: Bot
) -> None:
    first = await api.says(ANNA, "one")
    assert await api.says(BEN, "two") == first + 1
    assert (await bot.send_message(GROUP, "three")).message_id == first + 2
    assert (await bot.send_message(ANNA, "four")).message_id == first + 3


async def test_each_supergroup_has_its_own_counter(api: TelegramEmulator, bot: Bot) -> None:
    await api.says(ANNA, "one")
    assert await api.says(ANNA, "one", chat=SUPERGROUP) == 1
    assert (await bot.send_message(SUPERGROUP, "two")).message_id == 2
    assert (await bot.send_message(FORUM, "one")).message_id == 1
