"""What comes from outside can't pass for the program's own words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.transcript import escape, flatten, is_hidden, quote


@pytest.mark.parametrize(
    "mark",
    [
        "<facts>",
        "</facts>",
        "< / FACTS >",
        "<Facts attribute='x'>",
        "<\nfacts>",
        "<fa\u200bcts>",
        "<\u2060/facts",
        "</fa\ufe0fcts>",
        "<\u2066/fa\u034fcts>",
        "</attached\U000e0100-file>",
        "＜facts>",
        "</context-file>",
    ],
)
def test_our_own_tags_lose_their_point(mark: str) -> None:
    assert escape(f"a {mark} b") == f"a &lt;{mark[1:]} b"


@pytest.mark.parametrize(
    "text",
    [
        "1 < 2",
        "<b>",
        "<factsheet>",
        "<file>",
        "facts>",
        "a<-facts",
        "<<facts-of-life",
        "&lt;facts>",
    ],
)
def test_everything_else_stays_as_it_is(text: str) -> None:
    expected = text.replace("<facts-", "&lt;facts-")
    assert escape(text) == expected


@given(st.text(alphabet="<>/facts \n\u200b＜", max_size=60))
def test_escaping_twice_is_escaping_once(text: str) -> None:
    assert escape(escape(text)) == escape(text)


@given(st.text(max_size=100), st.integers(2, 50))
def test_a_quote_is_one_line_and_reads_back(text: str, limit: int) -> None:
    quoted = quote(text, limit)
    assert quoted.splitlines() == [quoted]
    inner = json.loads(quoted)
    assert not any(is_hidden(character) for character in inner if character != "\n")
    assert len(inner.replace("&lt;", "<")) <= limit or "&lt;" in text


def test_a_quote_keeps_its_lines_and_is_cut_with_a_sign() -> None:
    assert quote('say "a"\nthen b', 50) == '"say \\"a\\"\\nthen b"'
    assert quote("x" * 20, 10) == json.dumps("x" * 9 + "…", ensure_ascii=False)


@given(st.text(max_size=100))
def test_a_flat_name_is_one_line_without_hidden_characters(text: str) -> None:
    flat = flatten(text, 30)
    assert not any(is_hidden(character) for character in flat)
    assert flat == flat.strip()
    assert "  " not in flat


def test_a_flat_name_keeps_joined_emoji_and_other_scripts() -> None:
    assert flatten(" A\u202enn\n 👩‍👩‍👧 می‌خواهم ", 80) == "A nn 👩‍👩‍👧 می‌خواهم"
