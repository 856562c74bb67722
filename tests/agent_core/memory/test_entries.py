"""Entries are read leniently and written in one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.memory.files import clean, find_flaw, normalise, parse, render, size
from tests.tables import check_each


def normal_entries() -> st.SearchStrategy[tuple[str, ...]]:
    text = st.text(
        st.one_of(st.characters(), st.sampled_from("-*+#•§=_ \t\n\r\u00a0\ufeff")), max_size=40
    )
    entry = text.map(clean).map(normalise).filter(bool)
    return st.lists(entry, max_size=6).map(tuple)


@given(normal_entries())
def test_what_was_written_is_read_back_unchanged(entries: tuple[str, ...]) -> None:
    assert parse(render(entries)) == entries


@pytest.mark.slow
@given(st.text(max_size=200))
def test_reading_any_text_gives_entries_that_may_be_written(text: str) -> None:
    entries = parse(text)
    assert all(entry == normalise(entry) and not find_flaw(entry) for entry in entries)
    assert parse(render(entries)) == entries


@given(st.text(alphabet="ab-*# \n", max_size=80))
def test_no_word_of_a_hand_made_file_is_lost(text: str) -> None:
    kept = "".join(parse(text))
    assert [letter for letter in kept if letter in "ab"] == [
        letter for letter in text if letter in "ab"
    ]


HAND_MADE = (
    ("", ()),
    ("- one\n- two\n", ("one", "two")),
    ("* one\n+ two\n• three", ("one", "two", "three")),
    ("\ufeff- one\r\n- two\r\n", ("one", "two")),
    ("- one\n  goes on\n\n  after a gap\n- two", ("one\ngoes on\nafter a gap", "two")),
    ("- one\nlazily goes on\n\na paragraph", ("one\nlazily goes on", "a paragraph")),
    ("- one\n  - nested\n    - deeper\n- two", ("one\n- nested\n  - deeper", "two")),
    ("   - one\n   - two\n", ("one", "two")),
    (
        "# Title\n\nA paragraph\nof two lines.\n\n- one",
        ("Title", "A paragraph\nof two lines.", "one"),
    ),
    ("- one\n# Title\n- two", ("one", "Title", "two")),
    ("one\n§\ntwo\n---\nthree", ("one", "two", "three")),
    ("-\n- \n\n- one", ("one",)),
    ("- one\n\twith a tab", ("one\n  with a tab",)),
    ("1. first\n2. second", ("1. first\n2. second",)),
    ("- tur\u202en\u2066ed, \U000e0041tagged, \x07rung", ("turned, tagged, rung",)),
)


def test_hand_made_files_are_read_leniently() -> None:
    def check(row: tuple[str, tuple[str, ...]]) -> None:
        text, entries = row
        assert parse(text) == entries

    check_each(HAND_MADE, check)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ring\x07", "control"),
        ("nul\x00", "control"),
        ("a\u2028b", "control"),
        ("a\ud800b", "control"),
        ("turn\u202eed", "direction"),
        ("iso\u2067lated", "direction"),
        ("tag\U000e0041ged", "tag"),
    ],
)
def test_hidden_characters_are_named_as_a_flaw(text: str, word: str) -> None:
    flaw = find_flaw(text)
    assert flaw is not None
    assert word in flaw
    assert find_flaw(clean(text)) is None


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines", "família 👩‍👩‍👧", "سلام می‌خواهم", "שלום\u200f"]
)
def test_ordinary_text_of_any_script_has_no_flaw(text: str) -> None:
    assert find_flaw(text) is None


def test_size_counts_what_the_file_holds() -> None:
    assert size(()) == 0
    assert size(("one", "two\nlines")) == len("- one\n- two\n  lines\n")
