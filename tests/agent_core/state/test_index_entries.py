"""The entries of the full-text index: one a passage, each with its person and its tags."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.state.tokenizer import (
    PASSAGE,
    PLACES,
    cut_message,
    cut_passages,
    dump_entries,
    index_text,
    list_entries,
)

ROW = ("p1 c2", "user", "telegram", 0)
LONG = "\n\n".join(f"Point {number}: " + "tea and honey " * 30 for number in range(9))


def test_an_entry_has_the_person_in_front_of_every_word() -> None:
    reported = index_text("p1 c2", "user", "tele-gram", 1_770_000_000_000, "The dogs of Rex")
    assert reported == "p1_dog p1_rex p1__c2 p1__ru p1__otelegram p1__m202602"


@pytest.mark.parametrize(
    ("scope", "role", "text"),
    [("p1 c2", "tool", "words"), ("p1 c2", "user", " \n"), ("p1", "user", "words")],
)
def test_tools_and_empty_messages_have_no_entry(scope: str, role: str, text: str) -> None:
    assert index_text(scope, role, "telegram", 0, text) is None


def test_a_long_message_has_an_entry_for_each_passage() -> None:
    entries = list_entries(*ROW, LONG)
    assert len(entries) == len(cut_message(LONG)) > 5
    assert all("p1_tea " in entry and " p1__c2 " in entry for entry in entries)
    assert sum("p1_8 " in entry for entry in entries) == 1
    assert json.loads(dump_entries(*ROW, LONG)) == entries


def test_a_short_message_is_one_passage() -> None:
    assert cut_message(" tea ") == ["tea"]
    assert list_entries(*ROW, "tea") == [index_text(*ROW, "tea")]


def test_a_passage_ends_where_the_text_has_a_break() -> None:
    assert cut_passages("aaaa bbbb\ncccc dddd", 12) == ["aaaa bbbb", "cccc dddd"]
    assert cut_passages("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]


@given(st.text(alphabet="ab .\n。", max_size=200), st.integers(1, 40))
def test_passages_hold_the_whole_text_within_their_limits(text: str, times: int) -> None:
    whole = text * times
    passages = cut_message(whole)
    assert len(passages) <= PLACES
    assert "".join("".join(passages).split()) == "".join(whole.split())
    longest = max(PASSAGE, 2 * len(whole) // PLACES + 1)
    assert all(0 < len(one) <= longest for one in passages)
