"""A question in anyone's words becomes something to search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.recall.query import MAX_TERMS, read_query


@given(st.text(max_size=300))
def test_any_text_with_something_in_it_becomes_a_query(text: str) -> None:
    query = read_query(text)
    assert not (query.words and query.fragments)
    assert bool(query.asked) == bool(query.words or query.fragments)
    assert len(query.words) <= MAX_TERMS
    assert len(query.fragments) <= MAX_TERMS
    if any(character.isalnum() for character in text):
        assert query.asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What is the name of my dog?", ("name", "dog")),
        ("When's Rex's birthday", ("rex", "birthday")),
        ("Wie heißt mein Hund?", ("heißt", "hund")),
        ("Quel est le nom de mon chien ?", ("nom", "chien")),
        ("как зовут мою собаку", ("зовут", "мою", "собаку")),
        ('"Rex" AND (NEAR/2 OR text:*) NOT -dog', ("rex", "near", "2", "text", "dog")),
        ("what is it", ("what", "is", "it")),
        ("a\x00b \ud800 c", ("b", "c")),
    ],
)
def test_words_in_every_sentence_are_left_out(text: str, asked: tuple[str, ...]) -> None:
    assert read_query(text).asked == asked


def test_singular_and_plural_are_looked_for_together() -> None:
    assert read_query("birthdays").words == ("birthdays", "birthday")
    assert read_query("flight").words == ("flight", "flights")
    assert read_query("Züge bus").words == ("züge", "bus")


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("我的狗叫", ("我的", "的狗", "狗叫")),
        ("狗", ("狗",)),
        ("iPhone 手机", ("iphone", "手机")),
        ("หมาชื่อ", ("หมา", "มาช", "าชื", "ชื่", "ื่อ")),
        ("🎉 🎂", ("🎉", "🎂")),
        ("???", ("???",)),
        ("x" * 200 + " 狗", ("x" * 64, "狗")),
    ],
)
def test_text_that_has_no_words_for_the_index_is_cut_into_fragments(
    text: str, fragments: tuple[str, ...]
) -> None:
    query = read_query(text)
    assert query.fragments == fragments
    assert query.words == ()


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "\u202e\ud800"])
def test_nothing_visible_is_no_query(text: str) -> None:
    assert read_query(text).asked == ()
