"""What envelopes say, in signal-cli's forms."""

from typing import Any

import pytest

from adapters.messages import EmojiReaction, InboundMessage, Presence
from adapters.signal.places import name_message
from adapters.signal.receive import Account, pack, receive
from tests.emulators.signal_world import ACCOUNT, ACI, Json, SignalWorld

ME = Account(name=ACCOUNT, aci=ACI)


@pytest.fixture
def world() -> SignalWorld:
    return SignalWorld()


def read(envelope: Json, me: Account = ME) -> InboundMessage:
    found = receive(pack(envelope, me))
    assert isinstance(found, InboundMessage)
    return found


def said(world: SignalWorld, text: str | None = "hello", **fields: Any) -> Json:
    """The envelope of a message that Anna writes."""
    found: list[Json] = []
    world.notify = found.append
    world.says(world.person("+4915111111111", "Anna"), text, **fields)
    return found[0]


def test_the_example_of_the_manual_is_read() -> None:
    """signal-cli-jsonrpc(5)."""
    envelope = {
        "source": "+33123456789",
        "sourceNumber": "+33123456789",
        "sourceUuid": "uuid",
        "sourceName": "name",
        "sourceDevice": 1,
        "timestamp": 1631458508784,
        "dataMessage": {
            "timestamp": 1631458508784,
            "message": "foobar",
            "expiresInSeconds": 0,
            "viewOnce": False,
            "mentions": [],
            "attachments": [],
            "contacts": [],
        },
    }
    found = read(envelope)
    assert (found.text, found.message_id) == ("foobar", "1631458508784:uuid")
    assert (found.sender.user_id, found.sender.display_name) == ("uuid", "name")
    assert (found.address.chat_id, found.address.is_direct) == ("uuid", True)


def test_a_mention_of_us_is_removed_and_one_of_others_is_spelled_out(world: SignalWorld) -> None:
    bert = world.person("+4915122222222", "Bert")
    group = world.group("Family", [bert])
    other = {"name": bert.number, "number": bert.number, "uuid": bert.uuid, "start": 10}
    text = "😀 \ufffc ask: \ufffc!"
    ours = {**world.mention(), "start": 3}
    envelope = said(world, text, group=group, mentions=[{**other, "length": 1}, ours])
    found = read(envelope)
    assert (found.text, found.is_addressed) == ("😀 ask: @+4915122222222!", True)
    assert [one.neutral for one in found.mentions] == [f"@user {bert.uuid}"]
    assert (found.room_title, found.address.is_direct) == ("Family", False)


def test_a_group_hears_us_only_when_we_are_mentioned_or_answered(world: SignalWorld) -> None:
    group = world.group("Family", [])
    assert not read(said(world, "hello all", group=group)).is_addressed
    quote = {"id": 5, "authorNumber": ACCOUNT, "authorUuid": ACI, "text": "mine", "attachments": []}
    found = read(said(world, "yes", group=group, quote=quote))
    assert found.is_addressed
    assert found.quote
    assert (found.quote.is_ours, found.quote.message_id, found.quote.text) == (True, "5", "mine")


def test_the_quote_of_another_person_names_them(world: SignalWorld) -> None:
    files = [{"contentType": "image/png", "filename": "cat.png"}]
    quote = {"id": 5, "authorNumber": "+491", "authorUuid": "u1", "text": "", "attachments": files}
    found = read(said(world, "look", quote=quote)).quote
    assert found
    assert (found.is_ours, found.author_id, found.message_id) == (False, "u1", "5:u1")
    assert found.text == "[cat.png]"


def test_a_note_to_self_is_said_to_us_and_nothing_else_that_we_sent(world: SignalWorld) -> None:
    me = world.person(ACCOUNT, "Me")
    me.uuid = ACI
    sent = {
        **world.data(7, "remember the milk", None),
        "destination": ACCOUNT,
        "destinationNumber": ACCOUNT,
        "destinationUuid": ACI,
    }
    envelope = world.envelope(me, 7, device=1, syncMessage={"sentMessage": sent})
    found = read(envelope)
    assert (found.text, found.address.chat_id, found.sender.user_id) == (
        "remember the milk",
        ACI,
        ACI,
    )
    to_anna = {**sent, "destinationNumber": "+491", "destinationUuid": "u1"}
    envelope["syncMessage"] = {"sentMessage": to_anna}
    assert receive(pack(envelope, ME)) is None
    envelope["syncMessage"] = {"readMessages": [{"sender": "+491", "timestamp": 3}]}
    assert receive(pack(envelope, ME)) is None


def test_a_number_that_a_person_uses_too_answers_notes_to_self_only(world: SignalWorld) -> None:
    shared = Account(name=ACCOUNT, aci=ACI, is_shared=True)
    assert receive(pack(said(world), shared)) is None


@pytest.mark.parametrize(
    "body",
    [
        {"typingMessage": {"action": "STARTED", "timestamp": 5}},
        {"receiptMessage": {"when": 5, "isDelivery": True, "timestamps": [1]}},
        {"callMessage": {"offerMessage": {"id": 1, "type": "AUDIO_CALL"}}},
        {"storyMessage": {"allowsReplies": True, "textAttachment": {"text": "hi"}}},
        {"somethingNew": {"colour": "blue"}},
        {},
    ],
)
def test_what_needs_no_answer_is_nothing(world: SignalWorld, body: Json) -> None:
    anna = world.person("+4915111111111", "Anna")
    assert receive(pack(world.envelope(anna, 5, **body), ME)) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"remoteDelete": {"timestamp": 5}},
        {"isExpirationUpdate": True, "expiresInSeconds": 3600},
        {"pollVote": {"optionIndexes": [1]}},
    ],
)
def test_a_change_without_words_is_nothing_in_a_direct_chat(
    world: SignalWorld, fields: Json
) -> None:
    assert receive(pack(said(world, None, **fields), ME)) is None


def test_a_change_of_a_group_shows_who_made_it(world: SignalWorld) -> None:
    found = receive(pack(said(world, None, group=world.group("Family", [])), ME))
    assert isinstance(found, Presence)
    assert len(found.user_ids) == 1


def test_attachments_are_named_by_their_kind(world: SignalWorld) -> None:
    files = [
        world.attach(None, "audio/aac", b"1"),
        world.attach("song.mp3", "audio/mpeg", b"12"),
        world.attach("cat.png", "image/png", b"123"),
        world.attach(None, "text/x-signal-plain", b"long"),
    ]
    found = read(said(world, None, attachments=files, sticker={"emoji": "🎉", "packId": "x"}))
    assert [(one.kind, one.name, one.size) for one in found.attachments] == [
        ("voice", None, 1),
        ("audio", "song.mp3", 2),
        ("image", "cat.png", 3),
        ("sticker", "a sticker 🎉", None),
    ]


def test_what_may_be_viewed_once_is_not_kept(world: SignalWorld) -> None:
    files = [world.attach("secret.png", "image/png", b"1")]
    (found,) = read(said(world, None, attachments=files, viewOnce=True)).attachments
    assert (found.kind, found.file_id) == ("described", "")
    assert "does not keep" in (found.name or "")


def test_a_message_that_disappears_says_when(world: SignalWorld) -> None:
    assert read(said(world, expiresInSeconds=3600)).expires_in == 3600


def test_a_reaction_to_somebody_elses_message_names_them(world: SignalWorld) -> None:
    reaction = {
        "emoji": "👍",
        "targetAuthorNumber": "+491",
        "targetAuthorUuid": "u1",
        "targetSentTimestamp": 5,
        "isRemove": False,
    }
    found = receive(pack(said(world, None, reaction=reaction), ME))
    assert isinstance(found, EmojiReaction)
    assert (found.message_id, found.added) == (name_message(5, "u1"), ("👍",))


def test_a_contact_and_a_poll_are_described(world: SignalWorld) -> None:
    contact = {"name": {"given": "Bert", "family": "B"}, "phone": [{"value": "+492"}]}
    found = read(said(world, None, contacts=[contact], pollCreate={"question": "Pizza?"}))
    assert [one.name for one in found.attachments] == [
        "the contact Bert B +492",
        "the poll Pizza?",
    ]
