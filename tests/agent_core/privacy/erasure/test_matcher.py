"""Which texts hold the words that somebody wants forgotten."""

import json

import pytest

from agent_core.ids import CallId
from agent_core.privacy.erasure.matcher import parse_words
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Part,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.tables import check_each

FOUND = (
    ("lisbon", "In LISBON it rained"),
    ("lisbon", "lisbon's harbour"),
    ("secret", "my_secret and secrets"),
    ("uber den", "Über den Wolken"),
    ("trip lisbon", "Lisbon, a trip"),
    ('"old  house"', "the Old\nHouse"),
    ("京都", "私は京都に住む"),
    ("กรุงเทพ", "ที่กรุงเทพมหานคร"),
    ("ann@example.org", "write to ann@example.org!"),
    ("4711", "number 4711-12"),
    ("lisbon", "lis\u200bbon and L\u00adisbon"),
    ("lis\u2060bon", "Lisbon"),
    ("bon", "lis\u200bbon"),
    ("*isbo", "Lisbon"),
    ('*"sbon tri"', "a Lisbon trip"),
    ("*isbo trip", "trip to Lisbon"),
)


def test_a_text_that_holds_the_words_is_found() -> None:
    def check(row: tuple[str, str]) -> None:
        words, text = row
        wanted = parse_words(words)
        assert wanted
        assert wanted.is_in(text)

    check_each(FOUND, check)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("art", "a party"),
        ("lisbon trip", "Lisbon only"),
        ('"old house"', "house, old"),
        ("京都", "東京に"),
        ("(.*)lisbon", "anything"),
        ("isbon", "Lisbon"),
        ("*isbo rip", "Lisbon trip"),
    ],
)
def test_a_text_without_them_is_not(words: str, text: str) -> None:
    wanted = parse_words(words)
    assert wanted
    assert not wanted.is_in(text)


@pytest.mark.parametrize("words", ["", " ", "a", "ab", '""', "!?", "'"])
def test_too_little_to_go_by_is_refused(words: str) -> None:
    assert parse_words(words) is None


@pytest.mark.parametrize(
    "part",
    [
        TextPart(text="the canary"),
        ToolCallPart(call_id=CallId("c"), name="t", arguments='{"a": ["the \\u0063anary"]}'),
        ToolResultPart(call_id=CallId("c"), name="t", text="a canary"),
        RawPart(provider="p", model="m", payload='{"thinking": "canary?"}'),
        DocumentPart(name="canary.txt", text=""),
        DocumentPart(name="a.txt", text="about a canary"),
    ],
)
def test_every_kind_of_part_is_looked_into(part: Part) -> None:
    wanted = parse_words("canary")
    assert wanted
    assert wanted.is_in_part(part)
    assert not wanted.is_in_part(ImagePart(file_key="canary", media_type="image/png", size=1))


def test_json_is_read_whatever_way_its_letters_are_written() -> None:
    wanted = parse_words("Ärger")
    assert wanted
    assert wanted.is_in_json(json.dumps({"text": ["Ärger!"]}))
    assert wanted.is_in_json("no JSON, but Ärger")
    assert not wanted.is_in_json("[" * 100_000)
