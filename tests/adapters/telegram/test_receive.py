"""Updates of Telegram become messages of people."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import ChatMove, EmojiReaction, InboundMessage, Presence, Quote, Sender
from adapters.telegram.receive import BotIdentity, pack, receive
from tests.adapters.telegram.updates import (
    ANNA,
    BOT,
    GROUP,
    ME,
    in_group,
    message,
    read,
    read_message,
    read_presence,
)
from tests.tables import check_each


def test_a_direct_message_is_read_whole() -> None:
    assert read({"update_id": 9, "message": message("Hi")}) == InboundMessage(
        address=Address(chat_id="11", is_direct=True),
        message_id="5",
        sender=Sender(user_id="11", display_name="Anna Lee", username="anna", language="de"),
        text="Hi",
        is_addressed=True,
        sent_at=1_763_000_000_000,
    )


def test_an_edited_message_is_an_edit_of_the_same_id() -> None:
    reported = message("Hi again", edit_date=1_763_000_060)
    found = read({"update_id": 9, "edited_message": reported})
    assert found is not None
    assert (found.is_edit, found.message_id, found.text) == (True, "5", "Hi again")
    assert found.sent_at == 1_763_000_000_000


def test_a_command_stays_text() -> None:
    entity = {"type": "bot_command", "offset": 0, "length": 6}
    assert read_message("/start abc", entities=[entity]).text == "/start abc"


def test_in_a_group_only_messages_to_the_bot_are_addressed() -> None:
    assert not in_group("hello all").is_addressed
    assert not in_group("hello @other", ("mention", 6, 6)).is_addressed
    assert in_group("hello @talaria_bot", ("mention", 6, 12)).is_addressed
    assert in_group("/stop", ("bot_command", 0, 5)).is_addressed
    answered = {"message_id": 4, "from": BOT, "chat": GROUP, "date": 1, "text": "Yes?"}
    assert read_message("go on", chat=GROUP, reply_to_message=answered).is_addressed
    other = answered | {"from": ANNA}
    assert not read_message("go on", chat=GROUP, reply_to_message=other).is_addressed


def test_a_mention_without_a_username_counts_by_its_id() -> None:
    entity = {"type": "text_mention", "offset": 0, "length": 4, "user": BOT}
    found = read_message("Tala what now", chat=GROUP, entities=[entity])
    assert (found.is_addressed, found.text) == (True, "what now")
    entity["user"] = ANNA
    assert not read_message("Anna what now", chat=GROUP, entities=[entity]).is_addressed


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("@talaria_bot, what's up?", 0, "what's up?"),
        ("@Talaria_Bot what's up?", 0, "what's up?"),
        ("hey @talaria_bot what's up?", 4, "hey what's up?"),
        ("what's up @talaria_bot?", 10, "what's up?"),
        ("@talaria_bot", 0, ""),
        ("👩‍👩‍👧 @talaria_bot ok", 9, "👩‍👩‍👧 ok"),
        ("שלום @talaria_bot מה נשמע", 5, "שלום מה נשמע"),
        ("line\n@talaria_bot\nline", 5, "line\n\nline"),
    ],
)
def test_the_bots_own_name_is_removed(text: str, place: int, words: str) -> None:
    found = in_group(text, ("mention", place, 12))
    assert (found.is_addressed, found.text) == (True, words)


def test_a_command_may_name_the_bot() -> None:
    found = in_group("/stop@Talaria_Bot now", ("bot_command", 0, 17))
    assert (found.is_addressed, found.text) == (True, "/stop now")


def test_a_command_for_another_bot_is_not_for_us() -> None:
    assert not in_group("/stop@other_bot", ("bot_command", 0, 15)).is_addressed
    answered = {"message_id": 4, "from": BOT, "chat": GROUP, "date": 1, "text": "Yes?"}
    found = in_group("/stop@other_bot", ("bot_command", 0, 15), reply_to_message=answered)
    assert not found.is_addressed


def test_a_caption_is_text_with_its_own_entities() -> None:
    entity = {"type": "mention", "offset": 0, "length": 12}
    photo = [{"file_id": "s", "width": 1}, {"file_id": "L", "width": 9, "file_size": 77}]
    found = read_message(
        chat=GROUP, photo=photo, caption="@talaria_bot look", caption_entities=[entity]
    )
    assert (found.text, found.is_addressed) == ("look", True)
    assert (found.attachments[0].file_id, found.attachments[0].size) == ("L", 77)


@pytest.mark.parametrize(
    ("text", "entity", "shown"),
    [
        (
            "😀 Ben:\nI like tea\nand rum\nOk?",
            ("blockquote", 8, 18),
            "😀 Ben:\n> I like tea\n> and rum\nOk?",
        ),
        ("I like tea", ("expandable_blockquote", 0, 10), "> I like tea"),
        ("Look:\nI like tea\nOk?", ("pre", 6, 10), "Look:\n```\nI like tea\n```\nOk?"),
        ("/goal tea", ("blockquote", 6, 3), "/goal tea"),
        ("/btw 😀 Ben:\nI like tea", ("blockquote", 13, 10), "/btw 😀 Ben:\n> I like tea"),
    ],
    ids=["quote", "long", "code", "command", "below a command"],
)
def test_quoted_lines_keep_their_signs(text: str, entity: tuple[str, int, int], shown: str) -> None:
    kind, offset, length = entity
    found = read_message(text, entities=[{"type": kind, "offset": offset, "length": length}])
    assert found.text == shown


def test_a_name_within_a_quotation_is_removed_and_the_signs_stay() -> None:
    entities = [
        {"type": "blockquote", "offset": 0, "length": 28},
        {"type": "mention", "offset": 11, "length": 12},
    ]
    found = read_message("I like tea\n@talaria_bot said\nOk?", chat=GROUP, entities=entities)
    assert (found.text, found.is_addressed) == ("> I like tea\n> said\nOk?", True)


def test_the_words_of_an_inline_bot_are_not_the_senders() -> None:
    found = read_message("I like tea", via_bot=BOT | {"id": 5, "first_name": "Wiki"})
    assert found.forwarded_from == "Wiki"


def test_a_topic_is_its_own_place() -> None:
    found = read_message("x", chat=GROUP, message_thread_id=31, is_topic_message=True)
    assert found.address == Address(chat_id="-100777", thread_id="31", is_direct=False)
    assert found.room_title == "Friends"


def test_a_chain_of_replies_is_no_topic() -> None:
    assert read_message("x", chat=GROUP, message_thread_id=31).address.thread_id is None


def test_messages_in_a_topic_are_no_replies_to_its_start() -> None:
    root = {
        "message_id": 31,
        "from": BOT,
        "chat": GROUP,
        "date": 1,
        "forum_topic_created": {"name": "T"},
    }
    found = read_message(
        "x", chat=GROUP, message_thread_id=31, is_topic_message=True, reply_to_message=root
    )
    assert (found.quote, found.is_addressed) == (None, False)


def test_a_reply_quotes_its_original() -> None:
    answered = {"message_id": 4, "from": BOT, "chat": GROUP, "date": 1, "text": "One. Two."}
    sent: dict[str, Any] = {"sent_at": 1000, "message_id": "4"}
    assert read_message("why?", reply_to_message=answered).quote == Quote(
        author="Talaria", text="One. Two.", is_ours=True, **sent
    )
    chosen = {"text": "Two.", "position": 5}
    quote = read_message("why?", reply_to_message=answered, quote=chosen).quote
    assert quote == Quote(author="Talaria", text="Two.", is_ours=True, **sent)
    voice = {"message_id": 4, "from": ANNA, "chat": GROUP, "date": 1, "voice": {"file_id": "v"}}
    quote = read_message("hm", reply_to_message=voice).quote
    sent["author_id"] = "11"
    assert quote == Quote(author="Anna Lee", text="[voice]", is_ours=False, **sent)


def test_an_answer_to_another_chat_quotes_it_too() -> None:
    origin = {"type": "hidden_user", "sender_user_name": "Carl", "date": 1}
    found = read_message("so?", external_reply={"origin": origin}, quote={"text": "Cited"})
    assert found.quote == Quote(author="Carl", text="Cited", is_ours=False)


@pytest.mark.parametrize(
    ("origin", "author"),
    [
        ({"type": "user", "sender_user": {"id": 3, "first_name": "Bo"}, "date": 1}, "Bo"),
        ({"type": "hidden_user", "sender_user_name": "Cy", "date": 1}, "Cy"),
        ({"type": "hidden_user", "sender_user_name": "\u2060\u200b", "date": 1}, "somebody"),
        ({"type": "channel", "chat": {"id": -1, "title": "News"}, "date": 1}, "News"),
        ({"type": "chat", "sender_chat": {"id": -1, "title": "Club"}, "date": 1}, "Club"),
    ],
)
def test_forwarded_text_is_not_the_senders_own(origin: dict[str, object], author: str) -> None:
    assert read_message("Fwd", forward_origin=origin).forwarded_from == author
    assert read_message("Own").forwarded_from is None


NOT_TEXT = (
    ({"voice": {"file_id": "f", "duration": 3}}, "voice", None, "audio/ogg"),
    ({"audio": {"file_id": "f", "title": "Song"}}, "audio", "Song", None),
    ({"video": {"file_id": "f"}}, "video", None, "video/mp4"),
    ({"video_note": {"file_id": "f"}}, "video", None, "video/mp4"),
    ({"animation": {"file_id": "f"}, "document": {"file_id": "f"}}, "video", None, "video/mp4"),
    (
        {"document": {"file_id": "f", "file_name": "a.pdf", "mime_type": "application/pdf"}},
        "document",
        "a.pdf",
        "application/pdf",
    ),
    (
        {"document": {"file_id": "f", "file_name": "a.png", "mime_type": "image/png"}},
        "image",
        "a.png",
        "image/png",
    ),
    ({"sticker": {"file_id": "f", "emoji": "👍"}}, "sticker", "👍", "image/webp"),
    ({"sticker": {"file_id": "f", "is_video": True}}, "sticker", None, "video/webm"),
    (
        {"sticker": {"file_id": "f", "is_animated": True}},
        "sticker",
        None,
        "application/x-tgsticker",
    ),
    (
        {"location": {"latitude": 52.1, "longitude": 13.4}},
        "described",
        "location: 52.1, 13.4",
        None,
    ),
    (
        {
            "venue": {"title": "Bar", "address": "Kai 3"},
            "location": {"latitude": 1, "longitude": 2},
        },
        "described",
        "venue: Bar, Kai 3, 1, 2",
        None,
    ),
    (
        {"contact": {"first_name": "Bo", "phone_number": "+49"}},
        "described",
        "contact: Bo, +49",
        None,
    ),
    (
        {"poll": {"question": "Why?", "options": [{"text": "So"}, {"text": "No"}]}},
        "described",
        "poll: Why?\n- So\n- No",
        None,
    ),
    ({"dice": {"emoji": "🎲", "value": 4}}, "described", "dice: 🎲 4", None),
    ({"story": {}}, "other", "story", None),
)


def test_what_is_not_text_is_an_attachment() -> None:
    def check(row: tuple[dict[str, object], str, str | None, str | None]) -> None:
        fields, kind, name, media_type = row
        (attachment,) = read_message(**fields).attachments
        assert (attachment.kind, attachment.name, attachment.media_type) == (kind, name, media_type)

    check_each(NOT_TEXT, check)


@pytest.mark.parametrize(
    "update",
    [
        {"channel_post": message("news", chat={"id": -1, "type": "channel"})},
        {"message": message("news", chat={"id": -1, "type": "channel"})},
        {"message": message("beep", **{"from": BOT})},
        {"message": {"message_id": 5, "chat": GROUP, "date": 1, "text": "nobody"}},
        {"my_chat_member": {"chat": GROUP}},
        {"something_of_next_year": [1, 2]},
        {},
    ],
)
def test_updates_not_from_people_are_ignored(update: dict[str, object]) -> None:
    assert read({"update_id": 9} | update) is None


MALFORMED = (
    {"message": "garbage"},
    {"message": ["garbage"]},
    {"message": {}},
    {"message": message("x", date="yesterday")},
    {"message": message("x", message_id=None)},
    {"message": message("x", **{"from": "Anna"})},
    {"message": message(["x"])},  # type: ignore[arg-type]
    {"message": message("x", chat={"type": "private"})},
    {"message": message("x", entities=[{"type": "mention", "offset": -4, "length": 2}])},
    {"message": message("x", entities=[{"type": "mention"}])},
    {"message": message("x", entities={"type": "mention"})},
    {"message": message(voice={"duration": 1})},
    {"message": message("x", reply_to_message="y")},
    "garbage",
    None,
    [],
)


def test_a_malformed_update_is_a_value_error() -> None:
    def check(update: object) -> None:
        with pytest.raises(ValueError):
            read(update)

    check_each(MALFORMED, check)


@pytest.mark.parametrize("payload", ["", "{", "[]", "7", "null", "{}", '{"bot": {"id": 1}}'])
def test_a_payload_that_was_never_packed_is_named_as_such(payload: str) -> None:
    with pytest.raises(ValueError):
        receive(payload)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["message", "chat", "from", "id", "text", "entities", "type", "offset", "photo", "voice",
         "reply_to_message", "quote", "date", "message_id", "forward_origin", "user", "location"]
    ), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


FIELDS = st.sampled_from(
    ["text", "entities", "chat", "quote", "photo", "reply_to_message", "external_reply", "contact",
     "sticker", "forward_origin"]
)  # fmt: skip


@pytest.mark.slow
@given(JSON, st.dictionaries(FIELDS, JSON))
def test_any_update_is_parsed_or_a_value_error(update: object, fields: dict[str, object]) -> None:
    for strange in (update, {"update_id": 1, "message": message("x", **fields)}):
        with contextlib.suppress(ValueError):
            read(strange)


def test_text_comes_in_as_it_was_written() -> None:
    for text in (
        "مرحبا بالعالم",
        "e\u0301",
        "👨‍👩‍👧‍👦" * 900,
        "a\u200bb",
        "x" * 4096,
        "  two  spaces ",
    ):
        assert read_message(text).text == text


def test_unstorable_characters_are_replaced() -> None:
    payload = pack({"message": message("placeholder")}, ME, now=0).replace(
        "placeholder", "a\\u0000\\ud83d"
    )
    found = receive(payload)
    assert found is not None
    assert found.text == "a\ufffd\ufffd"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Anna\u202egnp.exe", "Annagnp.exe"),
        ("A\u2066n\u2069na", "Anna"),
        ("Anna\U000e0041\U000e0042", "Anna"),
        ("An\nna\t\x00", "An na"),
        ("\u200b\u2060", "user 11"),
        ("\u200d", "user 11"),
        ("👩‍🚀", "👩‍🚀"),
        ("نیم\u200cفاصله", "نیم\u200cفاصله"),
        ("x" * 500, "x" * 80),
    ],
)
def test_a_display_name_can_not_deceive(name: str, shown: str) -> None:
    person = {"id": 11, "is_bot": False, "first_name": name}
    assert read_message("x", **{"from": person}).sender.display_name == shown


def test_reading_again_later_gives_the_same_even_under_a_new_name() -> None:
    entity = {"type": "mention", "offset": 0, "length": 9}
    update = {"message": message("@old_name hi", chat=GROUP, entities=[entity])}
    stored = pack(update, BotIdentity(user_id=4242, username="old_name"), now=0)
    assert json.loads(stored)["update"] == update
    found = receive(stored)
    assert found is not None
    assert found.is_addressed


BEN = {"id": 22, "is_bot": False, "first_name": "Ben"}


@pytest.mark.parametrize(
    ("fields", "ids", "user_ids"),
    [
        ({"migrate_from_chat_id": -777}, ("-777", "-100777"), ("11", "-777")),
        ({"migrate_to_chat_id": -100888}, ("-100777", "-100888"), ("11",)),
    ],
)
def test_a_new_id_of_a_group_is_a_move(
    fields: dict[str, int], ids: tuple[str, str], user_ids: tuple[str, ...]
) -> None:
    found = receive(pack({"update_id": 9, "message": message(chat=GROUP, **fields)}, ME, now=1))
    assert isinstance(found, ChatMove)
    assert (found.old_chat_id, found.new_chat_id) == ids
    assert found.user_ids == user_ids


@pytest.mark.parametrize(
    ("update", "user_ids"),
    [
        ({"message": message(chat=GROUP, new_chat_members=[BEN, BOT])}, ("11", "22")),
        ({"message": message(chat=GROUP, left_chat_member=BEN)}, ("11", "22")),
        ({"message": message(chat=GROUP, new_chat_title="Pals")}, ("11",)),
        ({"message": message("Hi", chat=GROUP, **{"from": BOT | {"id": 7}})}, ("7",)),
        ({"message": message("News", chat=GROUP, is_automatic_forward=True)}, ("11",)),
        (
            {"message_reaction": {"chat": GROUP, "message_id": 5, "user": BEN, "new_reaction": []}},
            ("22",),
        ),
        ({"message_reaction": {"chat": GROUP, "message_id": 5, "actor_chat": {"id": -9}}}, ("-9",)),
        (
            {
                "chat_member": {
                    "chat": GROUP,
                    "from": ANNA,
                    "new_chat_member": {"status": "member", "user": BEN},
                }
            },
            ("11", "22"),
        ),
    ],
)
def test_who_joins_or_reacts_is_noticed(
    update: dict[str, object], user_ids: tuple[str, ...]
) -> None:
    found = read_presence({"update_id": 9, **update})
    assert found == Presence(address=Address(chat_id="-100777", is_direct=False), user_ids=user_ids)


def test_a_reaction_is_what_changed_between_two_lists_without_pictures() -> None:
    lists = {
        "old_reaction": [{"type": "emoji", "emoji": "🔥"}, {"type": "emoji", "emoji": "👍"}],
        "new_reaction": [
            {"type": "custom_emoji", "custom_emoji_id": "9"},
            {"type": "emoji", "emoji": "👎"},
            {"type": "emoji", "emoji": "🔥"},
        ],
    }
    change = {"chat": GROUP, "message_id": 5, "user": BEN, "date": 1_763_000_000} | lists
    found = receive(pack({"update_id": 9, "message_reaction": change}, ME, now=1))
    assert found == EmojiReaction(
        address=Address(chat_id="-100777", is_direct=False),
        message_id=PlatformMessageId("5"),
        user_id=PlatformUserId("22"),
        added=("👎",),
        removed=("👍",),
    )


def test_nobody_is_noticed_in_a_direct_chat_or_where_only_the_bot_came() -> None:
    assert read_presence({"update_id": 9, "message": message(new_chat_members=[BEN])}) is None
    alone = message(chat=GROUP, new_chat_members=[BOT], **{"from": BOT})
    assert read_presence({"update_id": 9, "message": alone}) is None
