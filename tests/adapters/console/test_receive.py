"""Lines of a terminal are parsed strictly."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.receive import Got, Hello, Said, read_line, receive
from adapters.ids import EventId
from adapters.messages import ButtonPress, InboundMessage, RawEvent
from tests.tables import check_each


def read_message(text: str) -> str:
    """Return the parsed message of a typed text."""
    said = read_line(json.dumps({"type": "message", "id": "m-1", "text": text}), now=5)
    assert isinstance(said, Said)
    found = receive(said.event)
    assert isinstance(found, InboundMessage)
    return found.text


def test_the_three_kinds_of_lines_are_distinguished() -> None:
    for line in ('{"type": "hello"}', '{"type": "hello", "buttons": "yes"}'):
        assert read_line(line, now=1) == Hello(shows_buttons=False)
    assert read_line('{"type": "hello", "buttons": true}', now=1) == Hello(shows_buttons=True)
    assert read_line('{"type": "got", "key": "k"}', now=1) == Got(key="k")
    said = read_line('{"type": "message", "id": "m-1", "text": "Hi"}', now=1_763_000_000_000)
    assert isinstance(said, Said)
    found = receive(said.event)
    assert isinstance(found, InboundMessage)
    assert said.event.event_id == found.message_id == "m-1"
    assert (found.text, found.sent_at, found.is_addressed) == ("Hi", 1_763_000_000_000, True)
    assert (found.address.chat_id, found.address.is_direct, found.sender.user_id) == (
        "local",
        True,
        "local",
    )


def test_a_press_is_read_with_its_key_and_its_message() -> None:
    line = {"type": "press", "id": "p-1", "message": "k1", "key": "yes:1"}
    said = read_line(json.dumps(line), now=5)
    assert isinstance(said, Said)
    found = receive(said.event)
    assert isinstance(found, ButtonPress)
    assert (said.event.event_id, found.key, found.message_id) == ("p-1", "yes:1", "k1")
    assert (found.address.chat_id, found.sender.user_id, found.sent_at) == ("local", "local", 5)


def test_a_messages_files_are_stored_uploads() -> None:
    files = [
        {"key": "a" * 64, "name": "cat.png", "type": "image/png", "size": 5},
        {"key": "b" * 64, "name": "", "type": ""},
    ]
    line = {"type": "message", "id": "m", "text": "", "files": files, "language": "de-AT"}
    said = read_line(json.dumps(line), now=5)
    assert isinstance(said, Said)
    found = receive(said.event)
    assert isinstance(found, InboundMessage)
    assert found.sender.language == "de-AT"
    assert [(one.kind, one.file_id, one.name, one.is_stored) for one in found.attachments] == [
        ("image", "a" * 64, "cat.png", True),
        ("document", "b" * 64, None, True),
    ]


@pytest.mark.parametrize(
    "files", ["x", [7], [{"key": "../x", "name": "", "type": ""}], [{"key": "a" * 64}]], ids=str
)
def test_other_files_are_refused(files: object) -> None:
    line = {"type": "message", "id": "m", "text": "", "files": files}
    with pytest.raises(ValueError, match="files"):
        read_line(json.dumps(line), now=5)


def test_text_is_unchanged() -> None:
    for text in ("", "  two  ", "👩‍👩‍👧 שלום", "a\nb", "x" * 1_000_000):
        assert read_message(text) == text
    assert read_message("a\0b\ud83d") == "a\ufffdb?"


BAD_LINES = (
    "",
    "too long",
    "{",
    "[]",
    "7",
    "null",
    "{}",
    '{"type": "shout"}',
    '{"type": "got"}',
    '{"type": "message"}',
    '{"type": "message", "id": "", "text": "x"}',
    '{"type": "message", "id": 7, "text": "x"}',
    '{"type": "message", "id": "a b", "text": "x"}',
    '{"type": "message", "id": "a", "text": ["x"]}',
    '{"type": "message", "id": "%s", "text": "x"}' % ("x" * 101),
    '{"type": "press", "id": "p", "key": "x"}',
    '{"type": "press", "message": "k", "key": "x"}',
    '{"type": "press", "id": "p", "message": "k", "key": 7}',
)


def test_a_bad_line_is_reported_in_a_sentence() -> None:
    def check(line: str) -> None:
        with pytest.raises(ValueError, match=r"\S+ \S+"):
            read_line(line, now=1)

    check_each(BAD_LINES, check)


@given(st.text(max_size=30))
def test_any_line_is_parsed_or_a_value_error(line: str) -> None:
    with pytest.raises(ValueError):
        read_line(line, now=1)


@pytest.mark.parametrize(
    "payload",
    ["", "{", "[]", "null", "{}", '{"id": "1", "text": "x"}',
     '{"press": true, "at": 1, "id": "1"}', '{"press": true, "message": "k", "key": "x"}'],
)  # fmt: skip
def test_an_invalid_payload_is_a_value_error(payload: str) -> None:
    with pytest.raises(ValueError):
        receive(RawEvent(event_id=EventId("1"), payload=payload))
