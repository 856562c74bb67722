"""Bot calls to the emulated Telegram: sent, edited and refused."""

import json
from typing import Any

import aiohttp
import pytest
from telegram import Bot, MessageEntity, ReplyParameters
from telegram.constants import ChatAction
from telegram.error import (
    BadRequest,
    EndPointNotFound,
    InvalidToken,
)

from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, FORUM

# Sending


async def test_a_sent_message_is_answered_and_shown(api: TelegramEmulator, bot: Bot) -> None:
    asked = await api.says(ANNA, "well?")
    bold = MessageEntity("bold", 0, 2)
    sent = await bot.send_message(
        ANNA, "yes", entities=[bold], reply_parameters=ReplyParameters(asked)
    )
    assert sent.from_user is not None
    assert sent.from_user.is_bot
    assert sent.entities == (bold,)
    assert sent.reply_to_message is not None
    assert sent.reply_to_message.message_id == asked
    (shown,) = api.messages(ANNA)
    assert (shown.message_id, shown.text, shown.reply_to) == (sent.message_id, "yes", asked)
    assert shown.entities == [{"type": "bold", "offset": 0, "length": 2}]


async def test_a_message_goes_into_its_topic(api: TelegramEmulator, bot: Bot) -> None:
    topic = api.topic(FORUM, ANNA, "Plans")
    await bot.send_message(FORUM, "here", message_thread_id=topic)
    await bot.send_message(FORUM, "elsewhere")
    assert [m.text for m in api.messages(FORUM, thread=topic)] == ["here"]
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(FORUM, "nowhere", message_thread_id=topic + 100)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Message text is empty"),
        (" \n\u200b ", "Message text is empty"),
        ("a" * 4097, "Message is too long"),
        ("😀" * 2048 + "a", "Message is too long"),
    ],
)
async def test_an_invalid_text_is_refused(
    api: TelegramEmulator, bot: Bot, text: str, complaint: str
) -> None:
    with pytest.raises(BadRequest, match=complaint):
        await bot.send_message(ANNA, text)
    assert api.messages(ANNA) == []


async def test_the_longest_text_is_counted_in_utf16_units(api: TelegramEmulator, bot: Bot) -> None:
    await bot.send_message(ANNA, "😀" * 2048)
    assert api.texts(ANNA) == ["😀" * 2048]


@pytest.mark.parametrize(
    ("entity", "complaint"),
    [
        (MessageEntity("bold", 2, 2), "ends after the end of the text"),
        (MessageEntity("bold", -1, 2), "ends after the end of the text"),
        (MessageEntity("bold", 1, 0), "ends after the end of the text"),
        (MessageEntity("bold", 1, 2), "begins in a middle of a utf-16 symbol"),
        (MessageEntity("bold", 0, 1), "ends in a middle of a utf-16 symbol"),
        (MessageEntity("sparkle", 0, 2), "unsupported type specified"),
        (MessageEntity("text_link", 0, 2), 'can\'t find field "url"'),
    ],
)
async def test_an_entity_outside_the_text_is_refused(
    bot: Bot, entity: MessageEntity, complaint: str
) -> None:
    with pytest.raises(BadRequest, match=complaint):
        await bot.send_message(ANNA, "😀a", entities=[entity])


async def test_a_hundred_entities_are_kept_and_automatic_ones_ignored(
    api: TelegramEmulator, bot: Bot
) -> None:
    given = [MessageEntity("bold", place, 1) for place in range(120)]
    sent = await bot.send_message(
        ANNA, "x" * 120, entities=[MessageEntity("url", 0, 1), *reversed(given)]
    )
    assert sent.entities == tuple(given[:100])


async def test_a_chat_that_does_not_exist_is_refused(bot: Bot) -> None:
    for wrong in (999, "nobody"):
        with pytest.raises(BadRequest, match="Chat not found"):
            await bot.send_message(wrong, "hello")
    with pytest.raises(BadRequest, match="Chat_id is empty"):
        await bot.send_chat_action("", ChatAction.TYPING)


# Editing


async def test_an_edit_that_changes_nothing_is_refused(api: TelegramEmulator, bot: Bot) -> None:
    bold = MessageEntity("bold", 0, 1)
    sent = await bot.send_message(ANNA, "ab", entities=[bold])
    with pytest.raises(BadRequest, match="Message is not modified: specified new message content"):
        await bot.edit_message_text("ab", ANNA, sent.message_id, entities=[bold])
    await bot.edit_message_text("ab", ANNA, sent.message_id)
    assert api.messages(ANNA)[0].entities == []


async def test_only_messages_of_the_bot_can_be_edited(api: TelegramEmulator, bot: Bot) -> None:
    theirs = await api.says(ANNA, "mine")
    with pytest.raises(BadRequest, match="Message can't be edited"):
        await bot.edit_message_text("yours", ANNA, theirs)
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("nobody's", ANNA, theirs + 1)


async def test_a_message_can_be_deleted(api: TelegramEmulator, bot: Bot) -> None:
    sent = await bot.send_message(ANNA, "a")
    await bot.delete_message(ANNA, sent.message_id)
    assert api.messages(ANNA) == []
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("b", ANNA, sent.message_id)
    with pytest.raises(BadRequest, match="Message to delete not found"):
        await bot.delete_message(ANNA, sent.message_id)


# Tokens, methods, bodies


@pytest.mark.parametrize(
    ("token", "status", "answer"),
    [("no-token", 404, "Not Found"), ("123:wrong", 401, "Unauthorized")],
)
async def test_a_wrong_token_is_refused(
    api: TelegramEmulator, token: str, status: int, answer: str
) -> None:
    async with aiohttp.ClientSession() as session:
        raw = await session.post(f"{api.base_url}/bot{token}/getMe")
        said = await raw.json()
    assert raw.status == status
    assert said == {"ok": False, "error_code": status, "description": answer}
    stranger = Bot(token, base_url=f"{api.base_url}/bot")
    try:
        with pytest.raises(InvalidToken, match=answer):
            await stranger.get_me()
    finally:
        await stranger.request.shutdown()


async def test_a_method_that_does_not_exist_is_not_found(bot: Bot) -> None:
    with pytest.raises(EndPointNotFound):
        await bot.do_api_request("sendRichMessage", api_kwargs={"chat_id": ANNA})


def _in_parts(fields: dict[str, Any]) -> aiohttp.FormData:
    form = aiohttp.FormData(default_to_multipart=True)
    for name, value in fields.items():
        form.add_field(name, value)
    return form


_BOLD = {"type": "bold", "offset": 0, "length": 1}
_ENTITIES = json.dumps([_BOLD])


@pytest.mark.parametrize(
    "body",
    [
        {"json": {"chat_id": ANNA, "text": "hi", "entities": [_BOLD]}},
        {"json": {"chat_id": str(ANNA), "text": "hi", "entities": _ENTITIES}},
        {"data": {"chat_id": str(ANNA), "text": "hi", "entities": _ENTITIES}},
        {"data": _in_parts({"chat_id": str(ANNA), "text": "hi", "entities": _ENTITIES})},
        {"params": {"chat_id": str(ANNA), "text": "hi", "entities": _ENTITIES}},
    ],
    ids=["json", "json with text", "form", "multipart", "address"],
)  # fmt: skip
async def test_every_kind_of_body_is_understood(
    api: TelegramEmulator, body: dict[str, Any]
) -> None:
    async with aiohttp.ClientSession() as session:
        answer = await session.post(f"{api.base_url}/bot{api.token}/sendMessage", **body)
        assert (await answer.json())["ok"]
    assert api.messages(ANNA)[0].entities == [_BOLD]


@pytest.mark.parametrize(
    "body",
    [
        {"data": b"{nope", "headers": {"Content-Type": "application/json"}},
        {"json": ["no", "object"]},
        {"data": {"chat_id": ANNA, "text": "hi", "entities": "{["}},
        {"json": {"chat_id": ANNA, "text": "hi", "entities": {"type": "bold"}}},
        {"json": {"chat_id": ANNA, "text": "hi", "entities": ["bold"]}},
        {"json": {"chat_id": ANNA, "text": "hi", "entities": [{"type": "bold", "offset": "0"}]}},
    ],
)
async def test_a_malformed_call_is_a_bad_request(
    api: TelegramEmulator, body: dict[str, Any]
) -> None:
    async with aiohttp.ClientSession() as session:
        answer = await session.post(f"{api.base_url}/bot{api.token}/sendMessage", **body)
        said = await answer.json()
    assert (answer.status, said["ok"], said["error_code"]) == (400, False, 400)


@pytest.mark.parametrize(
    ("mode", "given", "read"),
    [
        ("HTML", "<b>3 &lt; 4</b> and <a href='x'>so on</a>", "3 < 4 and so on"),
        ("MarkdownV2", r"1\.5 \* 2 \\ 3", r"1.5 * 2 \ 3"),
    ],
)
async def test_marks_are_read_only_if_wanted(
    api: TelegramEmulator, bot: Bot, mode: str, given: str, read: str
) -> None:
    with pytest.raises(BadRequest, match="not parse modes"):
        await bot.send_message(ANNA, given, parse_mode=mode)
    api.reads_markup = True
    await bot.send_message(ANNA, given, parse_mode=mode)
    assert api.texts(ANNA) == [read]


@pytest.mark.parametrize(
    ("name", "description", "language", "why"),
    [
        ("gedächtnis", "Notizen", "de", "BOT_COMMAND_INVALID"),
        ("n" * 33, "Notes", "", "BOT_COMMAND_INVALID"),
        ("notes", "n" * 257, "", "BOT_COMMAND_DESCRIPTION_INVALID"),
        ("notes", "Notes", "de-AT", "language code"),
    ],
)
async def test_a_menu_beyond_the_limits_is_refused(
    api: TelegramEmulator, bot: Bot, name: str, description: str, language: str, why: str
) -> None:
    await bot.set_my_commands([("help", "Help")])
    with pytest.raises(BadRequest, match=f"(?i){why}"):
        await bot.set_my_commands([(name, description)], language_code=language)
    assert api.menu(language) == [{"command": "help", "description": "Help"}]
