"""Stored events are parsed: text, person, place, and whether they are for the bot."""

import json
from dataclasses import replace
from typing import Any

import pytest

from adapters.discord.places import DiscordChannel
from adapters.discord.receive import Context, find_author, pack, receive
from adapters.ids import Address, PlatformUserId
from adapters.messages import Attachment, ButtonPress, InboundMessage, Quote, Sender
from tests.adapters.discord.raw import (
    ANNA,
    BEGAN,
    BEN,
    BOT,
    DM,
    MESSAGE_ID,
    ROLE,
    ROOM,
    THREAD,
    bot,
    mentioning,
    person,
    seen,
    used,
    used_in_room,
    written,
)


def read(message: dict[str, Any], context: Context, key: str = "message") -> InboundMessage:
    found = receive(pack(key, message, context))
    assert isinstance(found, InboundMessage)
    return found


def test_a_direct_message_is_read_in_full() -> None:
    assert read(written("Good morning 👋"), seen()) == InboundMessage(
        address=Address(chat_id="300", is_direct=True),
        message_id=MESSAGE_ID,  # type: ignore[arg-type]
        sender=Sender(user_id=ANNA, display_name="Anna", username="anna"),  # type: ignore[arg-type]
        text="Good morning 👋",
        is_addressed=True,
        sent_at=BEGAN,
    )


@pytest.mark.parametrize(
    ("message", "is_addressed"),
    [
        (mentioning(f"<@{BOT}> hi"), True),
        (written(f"<@&{ROLE}> hi", mention_roles=[ROLE]), True),
        (written("yes", type=19, referenced_message=written("?", author=bot())), True),
        (written("yes", type=19, referenced_message=written("?")), False),
        (written("@everyone hi", mention_everyone=True), False),
        (written("<@&151> hi", mention_roles=["151"]), False),
        (written("talaria is nice"), False),
    ],
)
@pytest.mark.parametrize("place", [ROOM, THREAD])
def test_in_a_room_only_a_mention_a_role_or_a_reply_is_for_the_bot(
    message: dict[str, Any], is_addressed: bool, place: DiscordChannel
) -> None:
    assert read(message, seen(place)).is_addressed is is_addressed


@pytest.mark.parametrize(
    "message",
    [
        mentioning("x", author=bot()),
        mentioning("x", author=person(BEN, "Ben") | {"bot": True}),
        mentioning("x", webhook_id="9"),
        mentioning("", type=7),
        written(""),
    ],
)
def test_messages_not_from_people_are_never_for_the_bot(message: dict[str, Any]) -> None:
    found = receive(pack("message", message, seen(ROOM)))
    assert found is None or (isinstance(found, InboundMessage) and not found.is_addressed)


def test_a_webhook_is_noticed_as_somebody_else() -> None:
    webhook = written("x", author=person("99", "CI") | {"bot": True}, webhook_id="99")
    answer = written("x", author=bot(), webhook_id="9")
    assert [find_author(one, BOT) for one in (webhook, answer)] == ["99", ""]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"<@{BOT}> what now?", "what now?"),
        (f"<@!{BOT}>, what now?", "what now?"),
        (f"<@&{ROLE}>: what now?", "what now?"),
        (f"what now, <@{BOT}>?", "what now,?"),
        (f"what <@{BOT}> now", "what now"),
        (f"<@{BOT}>", ""),
        (
            f"<@{BOT}> ask <@{BEN}> in <#77> or <@&78> <:wave:79>",
            "ask @Ben in #den or @cooks :wave:",
        ),
        (f"<@{BOT}> <@999> <#998>", "<@999> <#998>"),
    ],
)
def test_mentions_show_names_and_the_bots_own_is_removed(text: str, words: str) -> None:
    message = mentioning(text)
    message["mentions"].append(person(BEN, "Ben"))
    assert read(message, seen(ROOM, names={"77": "den", "78": "cooks"})).text == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Look:\n>>> I like tea\nand rum", "Look:\n> I like tea\n> and rum"),
        (">>> I like tea\n\nand rum", "> I like tea\n> \n> and rum"),
        ("```\n>>> x\n```\nI like tea", "```\n>>> x\n```\nI like tea"),
    ],
    ids=["later", "at once", "code"],
)
def test_a_quotation_of_the_rest_marks_each_line(text: str, shown: str) -> None:
    assert read(written(text), seen()).text == shown


def test_a_room_and_a_thread_are_distinguished() -> None:
    in_room, in_thread = read(mentioning("x"), seen(ROOM)), read(mentioning("x"), seen(THREAD))
    assert in_room.address == Address(chat_id="400", is_direct=False)
    assert in_thread.address == Address(chat_id="400", thread_id="450", is_direct=False)
    assert (in_room.room_title, in_thread.room_title) == ("House #general", "House #Dinner")


def test_a_private_thread_is_a_room_of_its_own() -> None:
    """Its notes must not be in the prompts of the whole channel."""
    private = replace(THREAD, kind=12)
    found = read(mentioning("x"), seen(private, threads=True))
    assert found.address == Address(chat_id="450", is_direct=False)
    assert found.room_title == "House #Dinner"


def test_a_mention_opens_a_thread_where_that_is_wanted_and_possible() -> None:
    opened = Address(chat_id="400", thread_id=MESSAGE_ID, is_direct=False)
    assert read(mentioning("x"), seen(ROOM, threads=True)).address == opened
    assert read(mentioning("x"), seen(THREAD, threads=True)).address.thread_id == "450"
    assert read(written("x"), seen(DM, threads=True)).address.thread_id is None
    voice = DiscordChannel(channel_id="460", kind=2, guild_id="500")
    assert read(mentioning("x"), seen(voice, threads=True)).address.thread_id is None


def test_a_nickname_precedes_a_name_and_an_id_comes_last() -> None:
    nicked = mentioning("x", member={"nick": "Annie\n\u202e"})
    assert read(nicked, seen(ROOM)).sender.display_name == "Annie"
    nameless = written("x", author={"id": ANNA, "username": "\u200b"})
    assert read(nameless, seen()).sender.display_name == "user 200"


def test_an_edit_has_the_moment_of_the_edit() -> None:
    edited = written("first", edited_timestamp="2023-11-14T22:14:20.000000+00:00")
    found = read(edited, seen(), "edit")
    assert (found.is_edit, found.sent_at, found.message_id) == (True, BEGAN + 60_000, MESSAGE_ID)


def test_a_reply_quotes_its_original() -> None:
    ours = written("*Sure* <@200>?", author=bot(), mentions=[person()])
    found = read(written("yes", type=19, referenced_message=ours), seen())
    sent: dict[str, Any] = {"sent_at": BEGAN, "message_id": MESSAGE_ID}
    assert found.quote == Quote(author="talaria", text="*Sure* @Anna?", is_ours=True, **sent)
    file = {"id": "1", "filename": "cat.png", "url": "https://cdn.discordapp.com/x"}
    theirs = written("", author=person(BEN, "Ben"), attachments=[file])
    found = read(written("nice", type=19, referenced_message=theirs), seen())
    sent["author_id"] = PlatformUserId(BEN)
    assert found.quote == Quote(author="Ben", text="[cat.png]", is_ours=False, **sent)
    assert read(written("gone", type=19, referenced_message=None), seen()).quote is None


def test_forwarded_text_is_not_the_persons_own() -> None:
    passed_on = written(
        "",
        message_reference={"type": 1, "message_id": "1", "channel_id": "2"},
        message_snapshots=[{"message": {"content": "Pay me <@200>", "mentions": [person()]}}],
    )
    found = read(passed_on, seen())
    assert (found.text, found.forwarded_from, found.quote) == ("Pay me @Anna", "somebody", None)
    assert read(written("mine"), seen()).forwarded_from is None


@pytest.mark.parametrize(
    ("media_type", "flags", "kind"),
    [
        ("image/png", 0, "image"),
        ("audio/mpeg", 0, "audio"),
        ("audio/ogg", 8192, "voice"),
        ("video/mp4", 0, "video"),
        ("text/plain; charset=utf-8", 0, "document"),
        ("application/pdf", 0, "document"),
        (None, 0, "document"),
    ],
)
def test_attachments_have_their_kind(media_type: str | None, flags: int, kind: str) -> None:
    url = "https://cdn.discordapp.com/attachments/300/9/a%20b?ex=1"
    file = {"id": "9", "filename": "a b", "size": 7, "url": url, "content_type": media_type}
    (found,) = read(written("", attachments=[file], flags=flags), seen()).attachments
    assert found == Attachment(
        kind=kind,  # type: ignore[arg-type]
        file_id=f"300/{MESSAGE_ID}/9/{url}",
        name="a b",
        media_type=media_type.partition(";")[0] if media_type else None,
        size=7,
    )


POLL = {
    "question": {"text": "Pizza?"},
    "answers": [{"answer_id": 1, "poll_media": {"text": "With cheese"}}],
}


def test_stickers_and_polls_are_described() -> None:
    stickers = [{"id": "8", "name": "Wave", "format_type": 1}, {"id": "9", "format_type": 3}]
    message = written("", sticker_items=stickers, poll=POLL)
    image, drawn, poll = read(message, seen()).attachments
    assert (image.kind, image.name, image.media_type) == ("sticker", "Wave", "image/png")
    assert image.file_id.endswith("/8/https://media.discordapp.net/stickers/8.png")
    assert (drawn.kind, drawn.file_id) == ("sticker", "")
    assert (poll.kind, poll.name) == ("described", "poll: Pizza?\n- With cheese")


def test_a_slash_command_is_read_as_the_equal_text() -> None:
    data = {"name": "goal", "type": 1, "options": [{"name": "text", "type": 3, "value": "tidy up"}]}
    found = read(used(data=data), seen(), "interaction")
    assert (found.text, found.is_addressed, found.sender.language) == ("/goal tidy up", True, "de")
    assert found.address == Address(chat_id="300", is_direct=True)
    assert found.reply_address == replace(found.address, ticket=f"{MESSAGE_ID}:tok")
    assert (found.message_id, found.sent_at) == ("i" + MESSAGE_ID, BEGAN)
    assert read(used("stop"), seen(), "interaction").text == "/stop"


@pytest.mark.parametrize(
    ("owners", "permissions", "has_ticket"),
    [
        ({"0": "500"}, 1 << 11, False),
        ({"0": "500", "1": ANNA}, 1 << 11, False),
        ({"0": "500"}, 0, True),
        ({"1": ANNA}, 1 << 11, True),
    ],
)
def test_a_command_has_a_ticket_only_where_the_bot_may_not_write(
    owners: dict[str, str], permissions: int, has_ticket: bool
) -> None:
    interaction = used_in_room(owners=owners, permissions=permissions)
    found = read(interaction, seen(ROOM), "interaction")
    assert found.address == Address(
        chat_id="400", is_direct=False, ticket=f"{MESSAGE_ID}:tok" if has_ticket else None
    )
    assert found.reply_address == replace(found.address, ticket=f"{MESSAGE_ID}:tok")
    assert found.sender.display_name == "Annie"


def test_a_command_between_two_people_or_in_a_group_is_no_direct_conversation() -> None:
    for channel in ({"id": "300", "type": 1}, {"id": "301", "type": 3}):
        interaction = used(channel=channel, context=2, authorizing_integration_owners={"1": ANNA})
        found = read(interaction, seen(), "interaction")
        assert (found.address.is_direct, found.address.ticket) == (False, f"{MESSAGE_ID}:tok")


def test_a_press_has_its_key_and_its_message() -> None:
    data = {"custom_id": "t:yes:1", "component_type": 2}
    pressed = used(type=3, data=data, message={"id": "88"})
    found = receive(pack("interaction", pressed, seen()))
    assert found == ButtonPress(
        address=Address(chat_id="300", is_direct=True),
        message_id="88",  # type: ignore[arg-type]
        sender=Sender(
            user_id=ANNA,  # type: ignore[arg-type]
            display_name="Anna",
            username="anna",
            language="de",
        ),
        key="yes:1",
        sent_at=BEGAN,
    )


@pytest.mark.parametrize(
    "interaction",
    [
        used(type=1, data=None),
        used(type=3, data={"custom_id": "poll:1"}, message={"id": "88"}),
        used(data={"name": "Quote", "type": 3}),
        used(type=4),
    ],
)
def test_other_interactions_are_ignored(interaction: dict[str, Any]) -> None:
    assert receive(pack("interaction", interaction, seen())) is None


def test_a_bare_read_position_is_ignored() -> None:
    assert receive(pack("mark", {"id": "1"}, Context(bot=BOT))) is None


@pytest.mark.parametrize(
    "payload",
    [
        "{",
        "[]",
        '{"message": {}}',
        '{"context": {"bot": "1"}}',
        '{"context": {"bot": "1", "place": {"kind": 1}}, "message": {}}',
        json.dumps({"context": {"bot": "x"}, "mark": {}}),
        pack("message", {"id": "1", "author": person()}, Context(bot=BOT)),
        pack("message", written("x", attachments=[{"id": 5}]), seen()),
        pack("message", written(7), seen()),  # type: ignore[arg-type]
        pack("message", written("x") | {"id": "abc"}, seen()),
        pack("edit", written("x", edited_timestamp="soon"), seen()),
        pack("interaction", used(user=None), seen()),
    ],
)
def test_an_unreadable_event_is_a_value_error(payload: str) -> None:
    with pytest.raises(ValueError):
        receive(payload)
