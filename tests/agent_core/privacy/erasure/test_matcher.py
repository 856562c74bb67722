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


NOW = "Now: Monday 2026-11-30 06:48, Europe/Berlin (+0100)"


@pytest.mark.parametrize(
    ("words", "line", "cleaned"),
    [
        ("lisbon", 'Answers a message by "Ben": "to Lisbon"', "Answers a message by [forgotten]"),
        ("lisbon", 'Answers your message: "to\\nLisbon"', "Answers your message: [forgotten]"),
        ('"the trip"', 'From: "a \\"the\\ttrip\\""', "From: [forgotten]"),
        ("lisbon", '- 2 May, "Ben", fake: "Lisbon"', "- 2 May, [forgotten]"),
        ("lisbon", "You can search: 2 messages (tags: lisbon)", "You can search: [forgotten]"),
        ("lisbon", "Trip to Lisbon: at noon", "[forgotten]"),
        ("lisbon", "| Lisbon", "[forgotten]"),
        ("lisbon", "| where to: Lisbon", "[forgotten]"),
        ("ben lisbon", 'From: "Ben"\nLisbon', "From: [forgotten]\n[forgotten]"),
        (
            '"old flat"',
            'From: "old\nflat"\nPlace: Slack',
            "[forgotten]\n[forgotten]\n[forgotten]",
        ),
        ("monday", "Place: Slack, direct talk", "Place: Slack, direct talk"),
        ("forgotten", "From: [forgotten]", "From: [forgotten]"),
    ],
)
def test_of_facts_only_what_they_quote_goes(words: str, line: str, cleaned: str) -> None:
    matcher = parse_words(words)
    assert matcher
    fact = TextPart(text=f"<facts>\n{NOW}\n{line}\n</facts>", is_fact=True)
    wanted = TextPart(text=f"<facts>\n{NOW}\n{cleaned}\n</facts>", is_fact=True)
    own = TextPart(text="Lisbon, by the old flat")
    assert matcher.clean_facts((fact, own), "[forgotten]") == (wanted, own)
    assert matcher.clean_facts((wanted, own), "[forgotten]") == (wanted, own), "clean already"
    assert not matcher.is_in_part(fact)


@pytest.mark.parametrize("line", ["New in memory: ", "Now, instead of block:home in your prompt: "])
def test_a_line_that_quotes_a_note_loses_it(line: str) -> None:
    matcher = parse_words("falcon")
    assert matcher
    said = TextPart(text="My falcon is hungry")
    quoted = f'<facts>\n{line}["Keeps a falcon"]\nFrom: "Falcon"\n</facts>'
    fact = TextPart(text=quoted, is_fact=True)
    cleaned, kept = matcher.clean_notes((fact, said), "[forgotten]")
    assert isinstance(cleaned, TextPart)
    assert "Keeps a falcon" not in cleaned.text
    assert 'From: "Falcon"' in cleaned.text, "it is no note"
    assert kept == said
