"""Messages of every type that Meta's pages show, as they come in."""

import json
from typing import Any

import pytest

from adapters.ids import EventId
from adapters.messages import ButtonPress, DeliveryReport, EmojiReaction, InboundMessage
from adapters.whatsapp.receive import pack, pack_status, receive
from adapters.whatsapp.webhook import Batch

NUMBER = {"display_phone_number": "15550783881", "phone_number_id": "106540352242922"}
ANNA = {"profile": {"name": "Sheena Nelson"}, "wa_id": "16505551234", "user_id": "US.1349120865"}
HEAD = {"from": "16505551234", "id": "wamid.HBgL1", "timestamp": "1749416383"}


def read(content: dict[str, Any], contact: dict[str, Any] = ANNA) -> Any:
    return receive(pack(HEAD | content, contact, NUMBER))


def message(content: dict[str, Any]) -> InboundMessage:
    found = read(content)
    assert isinstance(found, InboundMessage)
    return found


def test_a_text_names_its_author_chat_and_time() -> None:
    found = message({"type": "text", "text": {"body": "Does it come in another color?"}})
    assert found.text == "Does it come in another color?"
    assert (found.address.chat_id, found.address.is_direct) == ("16505551234", True)
    assert (found.sender.user_id, found.sender.display_name) == ("16505551234", "Sheena Nelson")
    assert (found.message_id, found.sent_at) == ("wamid.HBgL1", 1749416383000)
    assert found.is_addressed


def test_who_hides_their_number_is_known_by_metas_id() -> None:
    head = {"from_user_id": "US.13491208655302741918", "id": "w", "timestamp": "1"}
    contact = {"profile": {"name": "Anna", "username": "@anna"}, "user_id": head["from_user_id"]}
    content = {"type": "text", "text": {"body": "hi"}}
    found = receive(pack(head | content, contact, NUMBER))
    assert isinstance(found, InboundMessage)
    assert found.sender.user_id == found.address.chat_id == "US.13491208655302741918"
    assert found.sender.username == "anna"


MEDIA = [
    ("image", {"id": "1", "mime_type": "image/jpeg", "sha256": "x", "caption": "a cat"}, "image"),
    ("audio", {"id": "1", "mime_type": "audio/ogg; codecs=opus", "voice": True}, "voice"),
    ("audio", {"id": "1", "mime_type": "audio/mpeg", "voice": False}, "audio"),
    ("video", {"id": "1", "mime_type": "video/mp4", "caption": "a dog"}, "video"),
    ("document", {"id": "1", "mime_type": "application/pdf", "filename": "a.pdf"}, "document"),
    ("sticker", {"id": "1", "mime_type": "image/webp", "animated": False}, "sticker"),
]


@pytest.mark.parametrize(("kind", "media", "expected"), MEDIA)
def test_media_come_with_their_words(kind: str, media: dict[str, Any], expected: str) -> None:
    found = message({"type": kind, kind: media})
    (attachment,) = found.attachments
    assert (attachment.kind, attachment.file_id) == (expected, "1")
    assert (attachment.media_type, attachment.name) == (media["mime_type"], media.get("filename"))
    assert found.text == media.get("caption", "")


DESCRIBED = [
    (
        {"type": "location", "location": {"latitude": 48.2, "longitude": 16.3, "name": "Cafe"}},
        "a location: Cafe, 48.2, 16.3",
    ),
    (
        {
            "type": "contacts",
            "contacts": [{"name": {"formatted_name": "Bob"}, "phones": [{"phone": "+1 555"}]}],
        },
        "contacts: Bob +1 555",
    ),
    (
        {"type": "order", "order": {"catalog_id": "1", "product_items": [{}, {}]}},
        "an order of 2 products",
    ),
    (
        {
            "type": "unsupported",
            "errors": [{"code": 131051, "title": "Message type unknown"}],
            "unsupported": {"type": "poll_creation"},
        },
        "a message that WhatsApp does not pass on (poll_creation)",
    ),
    ({"type": "hologram", "hologram": {}}, "a message that WhatsApp does not pass on (hologram)"),
]


@pytest.mark.parametrize(("content", "shown"), DESCRIBED)
def test_what_is_neither_text_nor_file_is_described(content: dict[str, Any], shown: str) -> None:
    (attachment,) = message(content).attachments
    assert (attachment.kind, attachment.name) == ("described", shown)


def test_presses_name_the_message_and_the_key() -> None:
    for kind in ("button_reply", "list_reply"):
        reply = {"id": "approve:1", "title": "Yes"}
        found = read(
            {
                "type": "interactive",
                "context": {"from": "15550783881", "id": "wamid.asked"},
                "interactive": {"type": kind, kind: reply},
            }
        )
        assert isinstance(found, ButtonPress)
        assert (found.key, found.message_id) == ("approve:1", "wamid.asked")


def test_an_answer_to_a_template_is_what_it_says() -> None:
    content = {"type": "button", "button": {"payload": "No", "text": "Stop"}}
    assert message(content).text == "Stop"


def test_a_reaction_ends_the_one_before_and_may_be_taken_back() -> None:
    given = read({"type": "reaction", "reaction": {"message_id": "w1", "emoji": "👍"}})
    gone = read({"type": "reaction", "reaction": {"message_id": "w1"}})
    assert isinstance(given, EmojiReaction)
    assert isinstance(gone, EmojiReaction)
    assert given.added == ("👍",)
    assert ("👎" in given.removed, "👍" in given.removed) == (True, False)
    assert (gone.added, "👍" in gone.removed) == ((), True)


def test_replies_and_forwards_say_what_they_are() -> None:
    text = {"type": "text", "text": {"body": "and this?"}}
    found = message(text | {"context": {"from": "15550783881", "id": "wamid.ours"}})
    assert found.quote is not None
    assert (found.quote.is_ours, found.quote.message_id) == (True, "wamid.ours")
    assert message(text | {"context": {"forwarded": True}}).forwarded_from == "somebody"
    assert message(text | {"context": {"frequently_forwarded": True}}).forwarded_from == "somebody"


def test_an_edit_is_the_first_message_with_new_words() -> None:
    inner = {"type": "text", "text": {"body": "first"}}
    found = message({"type": "edit", "edit": {"original_message_id": "w0", "message": inner}})
    assert (found.text, found.is_edit, found.message_id) == ("first", True, "w0")


def test_a_group_is_answered_only_when_the_bot_is_meant() -> None:
    group = {"group_id": "Y2FwaV9ncm91cDox", "type": "text"}
    idle = message(group | {"text": {"body": "hello all"}})
    named = message(group | {"text": {"body": "@15550783881 what is up?"}})
    assert (idle.address.chat_id, idle.address.is_direct) == ("Y2FwaV9ncm91cDox", False)
    assert (idle.is_addressed, named.is_addressed, named.text) == (False, True, "what is up?")


@pytest.mark.parametrize("kind", ["system", "revoke", "request_welcome"])
def test_what_nobody_said_is_no_message(kind: str) -> None:
    assert read({"type": kind, kind: {}}) is None


STATUS = {
    "id": "wamid.1",
    "timestamp": "1750263773",
    "recipient_id": "16505551234",
    "biz_opaque_callback_data": "k1",
}


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (131047, "waits"),
        (131026, "gone"),
        (131056, "again"),
        (131000, "again"),
        (131053, "refused"),
        (99, "refused"),
    ],
)
def test_a_failure_says_what_can_be_done(code: int, outcome: str) -> None:
    errors = [{"code": code, "title": "x", "error_data": {"details": "It failed."}}]
    found = receive(pack_status(STATUS | {"status": "failed", "errors": errors}, NUMBER))
    assert isinstance(found, DeliveryReport)
    assert (found.outcome, found.key, found.message_id) == (outcome, "k1", "wamid.1")
    assert found.reason.endswith((".", ")."))


@pytest.mark.parametrize("state", ["sent", "delivered", "read", "played"])
def test_whatever_arrived_was_sent(state: str) -> None:
    found = receive(pack_status(STATUS | {"status": state}, NUMBER))
    assert isinstance(found, DeliveryReport)
    assert found.outcome == "sent"


def test_a_status_of_another_program_or_of_a_new_kind_says_nothing() -> None:
    foreign = {name: value for name, value in STATUS.items() if not name.startswith("biz")}
    assert receive(pack_status(foreign | {"status": "sent"}, NUMBER)) is None
    assert receive(pack_status(STATUS | {"status": "warped"}, NUMBER)) is None


BROKEN: list[dict[str, Any]] = [
    {"type": "text"},
    {"type": "text", "text": "hi"},
    {"type": "text", "text": {"body": 7}},
    {"type": 7},
    {"type": "image", "image": {}},
    {"type": "reaction", "reaction": {}},
    {"type": "text", "text": {"body": "hi"}, "from": 7},
    {"type": "text", "text": {"body": "hi"}, "timestamp": "soon"},
    {"type": "text", "text": {"body": "hi"}, "timestamp": 1749416383},
]


@pytest.mark.parametrize("content", BROKEN)
def test_what_cant_be_read_says_so_and_harms_no_other(content: dict[str, Any]) -> None:
    good = HEAD | {"id": "wamid.good", "type": "text", "text": {"body": "hi"}}
    value = {"metadata": NUMBER, "contacts": [ANNA], "messages": [HEAD | content, good]}
    change = {"field": "messages", "value": value}
    body = {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}
    batch = Batch(json.dumps(body).encode(), NUMBER["phone_number_id"])
    events = {event.event_id: event for event in batch.list_events([])}
    assert len(events) == 2
    assert isinstance(
        receive(events.pop(EventId("106540352242922/wamid.good")).payload), InboundMessage
    )
    (bad,) = events.values()
    with pytest.raises(ValueError, match=r"\w+"):
        receive(bad.payload)
