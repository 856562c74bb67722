"""Slack's payloads become messages and presses of people."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import Attachment, ButtonPress, InboundMessage, Presence, Quote, Sender
from adapters.slack.events import sort_event
from adapters.slack.receive import receive
from tests.adapters.slack.bodies import (
    AGENT,
    LATER,
    ME,
    TS,
    event,
    message,
    read,
    read_message,
    sort,
)

ANNA = Sender(user_id="U1", display_name="Anna Lee", username="anna", language="de-DE")


def test_a_direct_message_is_read_whole() -> None:
    assert read_message(message("Hi &amp; *bye*")) == InboundMessage(
        address=Address(chat_id="D1", is_direct=True),
        message_id=TS,
        sender=ANNA,
        text="Hi & **bye**",
        is_addressed=True,
        sent_at=1_763_000_000_000,
    )


def test_a_mention_and_the_message_that_holds_it_are_one_and_read_the_same() -> None:
    said = message("<@U0BOT> hi", "C1", channel_type="channel", blocks=[{"type": "rich_text"}])
    mention = event({**said["event"], "type": "app_mention"}, "Ev2")
    del mention["event"]["channel_type"]
    assert sort(said) == sort(mention)
    assert sort(said).event_id == f"T1/C1/{TS}"
    found = read_message(mention)
    assert (found.text, found.is_addressed) == ("hi", True)
    assert found.address == Address(chat_id="C1", thread_id=TS, is_direct=False)


def test_a_repetition_under_another_event_id_is_the_same_event() -> None:
    again = message() | {"event_id": "Ev9"}
    assert sort(again).event_id == sort(message()).event_id


def test_in_a_room_only_messages_to_the_bot_are_addressed() -> None:
    thread = {"thread_ts": LATER}
    assert not read_message(message("hello all", "C1")).is_addressed
    assert not read_message(message("hello <@U2>", "C1")).is_addressed
    assert read_message(message("hello <@U0BOT>", "C1")).is_addressed
    assert not read_message(message("I agree", "C1", parent_user_id="U2", **thread)).is_addressed
    assert read_message(message("go on", "C1", parent_user_id="U0BOT", **thread)).is_addressed


def test_a_thread_that_began_with_a_mention_is_the_bots_own() -> None:
    ours = frozenset({("C1", LATER)})
    thread = {"thread_ts": LATER, "parent_user_id": "U1"}
    found = read_message(message("go on", "C1", **thread), ours=ours)
    assert found.is_addressed
    assert found.address == Address(chat_id="C1", thread_id=LATER, is_direct=False)
    elsewhere = read_message(message("what do you say, <@U2>?", "C1", **thread), ours=ours)
    assert not elsewhere.is_addressed


def test_a_direct_conversation_is_one_stream_but_for_threads_that_people_open() -> None:
    assert read_message(message()).address.thread_id is None
    assert read_message(message(thread_ts=LATER)).address.thread_id == LATER
    assert read_message(message(thread_ts=TS)).address.thread_id is None


def test_every_conversation_with_an_agent_is_a_thread() -> None:
    assert read_message(message(), AGENT).address == Address(
        chat_id="D1", thread_id=TS, is_direct=True
    )
    assert read_message(message(thread_ts=LATER), AGENT).address.thread_id == LATER


@pytest.mark.parametrize(
    ("body", "me", "mark"),
    [
        (message(), ME, "D1"),
        (message(), AGENT, f"D1:{TS}"),
        (message(thread_ts=LATER), ME, f"D1:{LATER}"),
        (message("x", "C1"), ME, "C1"),
        (message("<@U0BOT>", "C1"), ME, f"C1:{TS}"),
        (message("x", "C1", thread_ts=LATER), ME, "C1"),
        (message("x", "C1", thread_ts=LATER, parent_user_id="U0BOT"), ME, f"C1:{LATER}"),
        (message("<@U0BOT>", "C1", thread_ts=LATER), ME, f"C1:{LATER}:guest"),
    ],
)
def test_each_place_has_its_own_read_position(body: dict[str, Any], me: Any, mark: str) -> None:
    assert sort(body, me).mark == mark


HERE: dict[str, Any] = {"team": {"id": "T1"}}


@pytest.mark.parametrize(
    "body",
    [
        message(bot_id="B2"),
        message(user="U0BOT"),
        message(user="USLACKBOT"),
        message(subtype="channel_join"),
        message(subtype="bot_message"),
        message(hidden=True),
        event({"type": "message", "subtype": "message_deleted", "channel": "D1", "ts": TS}),
        event({"type": "reaction_added", "user": "U1"}),
        event({"type": "app_home_opened", "user": "U1", "tab": "messages"}),
        {"type": "block_actions", "actions": [{"action_id": "other", "action_ts": TS}], **HERE},
        {"type": "message_action", "callback_id": "other", **HERE},
        {"type": "view_submission"},
        message() | {"team_id": "T2"},
    ],
)
def test_events_not_from_people_are_not_stored(body: dict[str, Any]) -> None:
    assert sort_event(body, ME, frozenset()) is None


@pytest.mark.parametrize(
    ("about", "author"),
    [
        (message(channel="C1", bot_id="B2"), "U1"),
        (message(channel="C1", bot_id="B2", user=None, subtype="bot_message"), "B2"),
        (message(channel="C1", subtype="channel_topic"), "U1"),
        (
            event({"type": "reaction_removed", "user": "U1", "item": {"channel": "C1"}}),
            "U1",
        ),
        (message(channel="C1", bot_id="B0BOT", user="U0BOT"), ""),
        (message(channel="C1", user="USLACKBOT"), ""),
        (message(channel="C1", bot_id="\ud800", user=None), ""),
    ],
)
def test_programs_and_notices_in_a_channel_show_who_is_there(
    about: dict[str, Any], author: str
) -> None:
    found = sort_event(about, ME, frozenset())
    assert (found.event if found else None) == (
        {"user": author, "channel": "C1"} if author else None
    )
    if author:
        address = Address(chat_id="C1", is_direct=False)
        assert read(about) == Presence(address=address, user_ids=(PlatformUserId(author),))


def changed(text: str, before: str, *, edited: str | None = LATER) -> dict[str, Any]:
    inner: dict[str, Any] = {"user": "U1", "text": text, "ts": TS}
    if edited is not None:
        inner["edited"] = {"user": "U1", "ts": edited}
    about = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": "D1"}
    return event(about | {"ts": LATER, "message": inner, "previous_message": {"text": before}})


def test_changed_text_is_an_edit_and_a_link_preview_is_not() -> None:
    found = read_message(changed("first", "frist"))
    assert (found.is_edit, found.message_id, found.text) == (True, TS, "first")
    assert sort(changed("first", "frist")).event_id == f"T1/D1/{TS}/{LATER}"
    assert sort(changed("first", "frist")).mark == ""
    assert sort_event(changed("same", "same"), ME, frozenset()) is None
    assert sort_event(changed("first", "frist", edited=None), ME, frozenset()) is None


def file(**fields: Any) -> dict[str, Any]:
    known = {"id": "F1", "name": "a.txt", "mimetype": "text/plain", "size": 7, "mode": "hosted"}
    return known | {"url_private_download": "https://files.slack.com/d/a.txt"} | fields


def test_files_are_attachments() -> None:
    files = [
        file(),
        file(name="p.png", mimetype="image/png"),
        file(name="v.m4a", mimetype="audio/mp4", subtype="slack_audio"),
        file(name="sheet", mode="external", mimetype="application/vnd"),
        {"id": "F9", "file_access": "check_file_info"},
    ]
    found = read_message(message("", files=files, subtype="file_share")).attachments
    assert [a.kind for a in found] == ["document", "image", "voice", "other", "document"]
    assert found[0] == Attachment(
        kind="document",
        file_id="https://files.slack.com/d/a.txt",
        name="a.txt",
        media_type="text/plain",
        size=7,
    )
    assert (found[3].file_id, found[4].file_id) == ("", "F9")


def test_an_empty_message_is_ignored() -> None:
    assert read(message("")) is None


def test_a_forwarded_message_is_quoted() -> None:
    shared = {"is_share": True, "author_name": "Bert", "text": "at *noon*", "fallback": "x"}
    found = read_message(message("when?", attachments=[{"text": "a link"}, shared]))
    assert found.quote == Quote(author="Bert", text="at **noon**", is_ours=False)


def command(text: str, **fields: Any) -> dict[str, Any]:
    known = {"command": "/talaria", "text": text, "user_id": "U1", "user_name": "anna"}
    place = {"channel_id": "C1", "channel_name": "general", "trigger_id": "1.2"}
    return known | place | {"response_url": "https://hooks.slack.com/x"} | fields


def test_a_command_has_its_arguments() -> None:
    found = read_message(command("new please"))
    assert (found.text, found.is_addressed, found.room_title) == ("new please", True, "general")
    assert found.is_command_line
    assert not read_message(message("new please")).is_command_line
    assert found.address == found.reply_address
    assert found.address == Address(
        chat_id="C1", is_direct=False, ticket="command:https://hooks.slack.com/x"
    )
    assert found.sent_at == 1_763_000_000_000
    assert read_message(command("")).text == "/help"


def test_a_command_in_the_bots_own_conversation_needs_no_ticket() -> None:
    found = read_message(command("new", channel_id="D1"), is_own_talk=True)
    assert found.address == Address(chat_id="D1", is_direct=True)


def test_a_command_between_two_people_is_no_direct_conversation() -> None:
    found = read_message(command("memory", channel_id="D2"), is_own_talk=False)
    assert not found.address.is_direct


def press(**fields: Any) -> dict[str, Any]:
    action = {"action_id": "t:yes:1", "action_ts": LATER, "type": "button"}
    container = {"type": "message", "message_ts": TS, "channel_id": "D1", "is_ephemeral": False}
    known = {"type": "block_actions", "user": {"id": "U1", "username": "anna"}}
    place = {"container": container, "channel": {"id": "D1"}, "message": {"thread_ts": None}}
    return known | place | {"actions": [action], "response_url": "https://hooks"} | fields


def test_a_press_is_read_whole() -> None:
    assert read(press()) == ButtonPress(
        address=Address(chat_id="D1", is_direct=True),
        message_id=TS,
        sender=ANNA,
        key="yes:1",
        sent_at=1_763_000_060_000,
    )


def test_a_press_knows_its_thread_and_whether_only_one_person_saw_it() -> None:
    found = read(press(message={"thread_ts": TS}, channel={"id": "C1"}))
    assert isinstance(found, ButtonPress)
    assert found.address == Address(
        chat_id="C1", thread_id=TS, is_direct=False, ticket="https://hooks"
    )
    whisper = read(press(container={"is_ephemeral": True, "message_ts": TS}))
    assert isinstance(whisper, ButtonPress)
    assert not whisper.address.is_direct


def test_a_press_in_the_home_is_answered_in_the_home() -> None:
    found = read(press(container={"type": "view"}, channel={}))
    assert isinstance(found, ButtonPress)
    assert (found.address, found.message_id) == (
        Address(chat_id="home:U1", is_direct=True),
        "home",
    )


def shortcut(**fields: Any) -> dict[str, Any]:
    about = {"user": "U2", "text": "At *noon*, <@U1>", "ts": TS} | fields
    known = {"type": "message_action", "callback_id": "ask_about_message", "trigger_id": "1.3"}
    place = {"channel": {"id": "C1"}, "response_url": "https://hooks", "action_ts": LATER}
    return known | place | {"user": {"id": "U1", "name": "anna"}, "message": about}


def test_the_shortcut_asks_about_the_message_that_it_quotes() -> None:
    found = read_message(shortcut())
    assert found.quote == Quote(
        author="U2",
        text="At **noon**, @Anna Lee",
        is_ours=False,
        sent_at=1_763_000_000_000,
        message_id=PlatformMessageId("1763000000.000100"),
        author_id=PlatformUserId("U2"),
    )
    assert found.address == Address(
        chat_id="C1", thread_id=TS, is_direct=False, ticket="https://hooks"
    )
    assert (found.text, found.is_addressed, found.sender) == (
        "What can you tell me about this message?",
        True,
        ANNA,
    )
    own = read_message(shortcut(user="U0BOT"), is_own_talk=True)
    assert own.quote is not None
    assert own.quote.is_ours
    assert own.address == Address(chat_id="C1", is_direct=True)


def test_a_stop_and_an_opened_home_are_messages() -> None:
    stop = event({"type": "agent_session_stopped", "user": "U1", "channel": "D1", "thread_ts": TS})
    found = read_message(stop, AGENT)
    assert (found.text, found.address.thread_id, found.is_addressed) == ("/stop", TS, True)
    home = read_message(event({"type": "app_home_opened", "user": "U1", "tab": "home"}))
    assert (home.text, home.address) == ("/home", Address(chat_id="home:U1", is_direct=True))


def test_an_unknown_person_is_named_by_id() -> None:
    assert read_message(message(user="U5")).sender == Sender(user_id="U5", display_name="user U5")


@pytest.mark.parametrize("payload", ["", "null", "[1]", "{}", '{"kind": "x"}', '{"event": 7}'])
def test_an_unreadable_event_is_a_value_error(payload: str) -> None:
    with pytest.raises(ValueError):
        receive(payload)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(JSON, st.sampled_from([*message("x", "C1")["event"], "files", "thread_ts", "subtype"]))
def test_odd_fields_of_a_message_are_refused_and_break_nothing(value: object, key: str) -> None:
    with contextlib.suppress(ValueError):
        body = event(message("x", "C1")["event"] | {key: value})
        if sort_event(body, ME, frozenset()) is not None:
            read(body)


@given(JSON, st.sampled_from(["actions", "container", "channel", "message", "user"]))
def test_odd_fields_of_a_press_are_refused_and_break_nothing(value: object, key: str) -> None:
    with contextlib.suppress(ValueError):
        body = press(**{key: value})
        if sort_event(body, ME, frozenset()) is not None:
            read(body)


@given(JSON)
def test_odd_stored_events_are_refused_and_break_nothing(value: object) -> None:
    for kind in ("message", "edit", "command", "press", "shortcut", "home", "stop"):
        with contextlib.suppress(ValueError):
            receive(json.dumps({"kind": kind, "event": value, "people": {}, "bot": value}))
