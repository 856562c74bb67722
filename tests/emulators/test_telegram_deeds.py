"""Files, reactions, presses and member counts on the emulated Telegram, through the SDK."""

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputFile, MessageEntity
from telegram.error import BadRequest, NetworkError

from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, read

YES = InlineKeyboardButton("Yes", callback_data="t:y", style="success")
NO = InlineKeyboardButton("No", callback_data="t:n")
ASKED = InlineKeyboardMarkup([[YES, NO]])


async def test_only_visible_buttons_can_be_pressed(api: TelegramEmulator, bot: Bot) -> None:
    sent = await bot.send_message(ANNA, "Sure?", reply_markup=ASKED)
    with pytest.raises(LookupError):
        await api.presses(ANNA, "Maybe")
    await bot.edit_message_text("Sure?", ANNA, sent.message_id)
    assert api.messages(ANNA)[0].labels == []
    with pytest.raises(LookupError):
        await api.presses(ANNA, "No")


async def test_buttons_are_part_of_what_an_edit_changes(api: TelegramEmulator, bot: Bot) -> None:
    sent = await bot.send_message(ANNA, "Sure?", reply_markup=ASKED)
    with pytest.raises(BadRequest, match="not modified"):
        await bot.edit_message_text("Sure?", ANNA, sent.message_id, reply_markup=ASKED)
    less = InlineKeyboardMarkup([[YES]])
    await bot.edit_message_text("Sure?", ANNA, sent.message_id, reply_markup=less)
    (shown,) = api.messages(ANNA)
    assert (shown.labels, shown.history) == (["Yes"], ["Sure?"])


async def test_an_unknown_press_cannot_be_answered(bot: Bot) -> None:
    with pytest.raises(BadRequest, match="Query is too old"):
        await bot.answer_callback_query("1")


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[InlineKeyboardButton("x", callback_data="x" * 65)]], "Button_data_invalid"),
        ([[InlineKeyboardButton("x", callback_data="")]], "Button_data_invalid"),
        (
            [[InlineKeyboardButton("x", url="http://localhost/")]],
            "url 'http://localhost/' is invalid",
        ),
        ([[InlineKeyboardButton("", callback_data="x")]], "button text is empty"),
        ([[InlineKeyboardButton("x", callback_data="x", style="loud")]], "style"),
        ([[YES]] * 101, "Reply_markup_too_long"),
        ([[YES] * 9], "Reply_markup_too_long"),
    ],
)
async def test_invalid_buttons_are_refused(
    bot: Bot, rows: list[list[InlineKeyboardButton]], complaint: str
) -> None:
    with pytest.raises(BadRequest, match=f"(?i){complaint}"):
        await bot.send_message(ANNA, "Sure?", reply_markup=InlineKeyboardMarkup(rows))


async def test_a_document_is_kept_with_its_caption(api: TelegramEmulator, bot: Bot) -> None:
    bold = MessageEntity("bold", 0, 4)
    sent = await bot.send_document(
        ANNA, InputFile(b"a;b", "t.csv"), caption="Your table", caption_entities=[bold]
    )
    assert sent.document is not None
    assert (sent.document.file_name, sent.document.file_size) == ("t.csv", 3)
    (shown,) = api.messages(ANNA)
    assert shown.file is not None
    assert (shown.file.name, shown.file.data, shown.text) == ("t.csv", b"a;b", "Your table")
    assert shown.file.media_type == "text/csv"
    file = await bot.get_file(sent.document.file_id)
    assert file.file_path == f"{api.base_url}/file/bot{api.token}/files/{sent.document.file_id}"


async def test_captions_and_texts_are_edited_by_different_methods(
    api: TelegramEmulator, bot: Bot
) -> None:
    file = await bot.send_document(ANNA, InputFile(b"x", "x"))
    text = await bot.send_message(ANNA, "text")
    await bot.edit_message_caption(ANNA, file.message_id, caption="now")
    assert api.texts(ANNA) == ["now", "text"]
    with pytest.raises(BadRequest, match="not modified"):
        await bot.edit_message_caption(ANNA, file.message_id, caption="now")
    with pytest.raises(BadRequest, match="There is no text in the message"):
        await bot.edit_message_text("x", ANNA, file.message_id)
    with pytest.raises(BadRequest, match="There is no caption in the message"):
        await bot.edit_message_caption(ANNA, text.message_id, caption="x")


async def test_invalid_files_are_refused(bot: Bot) -> None:
    with pytest.raises(BadRequest, match="non-empty"):
        await bot.send_document(ANNA, InputFile(b"", "x"))
    with pytest.raises(BadRequest, match="caption is too long"):
        await bot.send_document(ANNA, InputFile(b"x", "x"), caption="x" * 1025)
    with pytest.raises(BadRequest, match="no document"):
        await bot.send_document(ANNA, "file-id")
    with pytest.raises(NetworkError, match="Too Large"):
        await bot.send_document(ANNA, InputFile(b"x" * 50_000_001, "x"))


async def test_a_reaction_replaces_the_previous_one(api: TelegramEmulator, bot: Bot) -> None:
    said = await api.says(ANNA, "hello")
    await bot.set_message_reaction(ANNA, said, "👀")
    await bot.set_message_reaction(ANNA, said, "👍")
    assert api.world.reactions == {(ANNA, said): ["👍"]}
    await bot.set_message_reaction(ANNA, said, [])
    assert api.world.reactions == {(ANNA, said): []}
    with pytest.raises(BadRequest, match="Reaction_invalid"):
        await bot.set_message_reaction(ANNA, said, "✅")
    with pytest.raises(BadRequest, match="to react not found"):
        await bot.set_message_reaction(ANNA, said + 1, "👀")


async def test_confirmed_updates_can_be_redelivered(api: TelegramEmulator, bot: Bot) -> None:
    await api.says(ANNA, "one")
    (first,) = await read(bot)
    assert await read(bot, first.update_id + 1) == ()
    await api.says(ANNA, "two")
    api.redeliver()
    again = await read(bot, first.update_id + 1)
    assert [update.message.text for update in again if update.message] == ["one", "two"]
    assert len(await read(bot, first.update_id + 1)) == 1
