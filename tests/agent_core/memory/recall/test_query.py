"""A question in anyone's words becomes something to search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.memory.recall.query import MAX_TERMS, read_query


@given(st.text(max_size=300))
def test_any_text_with_something_in_it_becomes_a_query(text: str) -> None:
    query = read_query(text)
    assert not (query.terms and query.fragments)
    assert bool(query.asked) == bool(query.terms or query.fragments)
    assert len(query.terms) <= MAX_TERMS
    assert len(query.fragments) <= MAX_TERMS
    if any(character.isalnum() for character in text):
        assert query.asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What is the name of my dog?", ("name", "dog")),
        ("When's Rex's birthday", ("rex", "birthday")),
        ("Wie heißt mein Hund?", ("heisst", "hund")),
        ("Quel est le nom de mon chien ?", ("nom", "chien")),
        ("как зовут мою собаку", ("зовут", "мою", "собаку")),
        ('"Rex" AND (NEAR/2 OR text:*) NOT -dog', ("rex", "near", "2", "text", "dog")),
        ("what is it", ("what", "is", "it")),
        ("a\x00b \ud800 c", ("b", "c")),
    ],
)
def test_words_in_every_sentence_are_left_out(text: str, asked: tuple[str, ...]) -> None:
    assert read_query(text).asked == asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("List the order in which I brought up my plans throughout our chats", ("plans",)),
        ("My plans in order? Mention only and only five items.", ("plans",)),
        ("Give me a quick summary of the garden across all our conversations", ("give", "garden")),
        ("In welcher Reihenfolge kam der Garten in unseren Gesprächen?", ("kam", "garten")),
        ("What have I mentioned?", ("mentioned",)),
        ("Which films did Ben mention in our chats?", ("films", "ben")),
        ("What drinks are Ben and Ann discussing?", ("drinks", "ben", "ann")),
        ("a chat with the plumber", ("chat", "plumber")),
        ("the talk about sleep, in the chat's history", ("talk", "sleep", "chat", "history")),
        ("which chats list items in my order", ("chats", "list", "items", "order")),
    ],
)
def test_phrases_about_the_conversation_are_left_out(text: str, asked: tuple[str, ...]) -> None:
    assert read_query(text).asked == asked


def words(text: str) -> list[str]:
    """The words that are looked for; a star stands behind what they only begin with."""
    return [term.word + "*" * term.is_start for term in read_query(text).terms]


def test_forms_of_a_word_are_looked_for_as_one() -> None:
    assert words("birthdays") == words("birthday")
    assert words("she went running") == words("go run")
    assert words("getUserName 1,234") == ["getusernam", "1234", "get", "user", "name"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我的狗叫", ["我的", "的狗", "狗叫"]),
        ("狗", ["狗*"]),
        ("iPhone 手机", ["iphon", "手机", "phone"]),
        ("หมาชื่อ", ["หมา", "มาช", "าชื", "ชื่", "ื่อ"]),
        ("🎉 🎂!", ["🎉", "🎂"]),
        ("x" * 200 + " 狗", ["x" * 32, "狗*"]),
    ],
)
def test_every_script_is_cut_as_the_index_is(text: str, expected: list[str]) -> None:
    assert sorted(words(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "fragments"), [("???", ("???",)), ("what is it", ("what", "is", "it")), ("%", ("%",))]
)
def test_what_the_index_does_not_have_is_looked_for_as_it_stands(
    text: str, fragments: tuple[str, ...]
) -> None:
    query = read_query(text)
    assert query.fragments == fragments
    assert query.terms == ()


def test_words_of_time_are_read() -> None:
    query = read_query("When did we go to Porto in May 2023?")
    assert (query.months, query.years, query.asks_when) == ({5}, {2023}, True)


def test_words_side_by_side_are_pairs_whatever_stands_between_that_is_everywhere() -> None:
    assert read_query("the bank of the river Thames").pairs == {
        ("bank", "river"),
        ("river", "thame"),
    }


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "\u202e\ud800"])
def test_nothing_visible_is_no_query(text: str) -> None:
    assert read_query(text).asked == ()


def test_days_are_read_beside_their_months() -> None:
    for text in ("the 3rd of May", "may 3", "May 3rd, 2024", "on 3 May 2024", "2024-05-03"):
        assert read_query(f"tea {text}").days == {(5, 3)}
    assert read_query("tea from 3 May to 4 June").days == {(5, 3), (6, 4)}
    assert read_query("3 teas in May, mayor 7").days == set()


def test_a_month_in_figures_is_a_month() -> None:
    query = read_query("tea 2024-05")
    assert (query.months, query.years, query.days) == ({5}, {2024}, set())
    assert read_query("tea 2024-13").months == set()
