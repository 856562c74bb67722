"""Markdown in the terminal: lines that fit, with every word kept."""

import pytest
from prompt_toolkit.formatted_text import fragment_list_to_text, fragment_list_width, split_lines

from gateway.interfaces.terminal.prompt import fit_tail
from gateway.interfaces.terminal.render import render_markdown


def show(text: str, *, width: int = 40, indent: int = 0) -> str:
    return fragment_list_to_text(render_markdown(text, width=width, indent=indent))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo", "one\ntwo\n"),
        ("# Title\n\nText", "Title\n\nText\n"),
        ("- a\n- b", "• a\n• b\n"),
        ("3. a\n4. b", "3. a\n4. b\n"),
        ("> a\n> b", "│ a\n│ b\n"),
        ("- a\n\n  more\n\n- b", "• a\n\n  more\n\n• b\n"),
        ("```py\nx = 1\n```", "  x = 1\n"),
        ("[site](https://a.example)", "site (https://a.example)\n"),
        ("https://a.example", "https://a.example\n"),
        ("a | b\n--|--\n1 | 22", "a | b\n--+---\n1 | 22\n"),
        ("---", "─" * 40 + "\n"),
    ],
)
def test_markdown_becomes_plain_lines(text: str, shown: str) -> None:
    assert show(text) == shown


def test_lines_break_between_words_and_carry_the_indent() -> None:
    assert show("alpha beta gamma delta", width=14, indent=2) == "  alpha beta \n  gamma delta\n"


@pytest.mark.parametrize("text", ["x" * 55, "漢字" * 25, "> " + "word " * 30, "- " + "y" * 70])
def test_no_line_is_wider_than_the_terminal(text: str) -> None:
    lines = list(split_lines(render_markdown(text, width=20, indent=2)))
    assert max(map(fragment_list_width, lines)) <= 20
    letters = "".join(letter for letter in text if letter.isalnum())
    assert "".join(letter for letter in show(text, width=20) if letter.isalnum()) == letters


def test_styles_mark_words_without_changing_them() -> None:
    parts = render_markdown("**bold** and `code`", width=40, indent=0)
    assert ("bold", "bold") in parts
    assert ("ansicyan", "code") in parts


def test_a_growing_answer_shows_its_last_lines() -> None:
    assert fit_tail("one\ntwo\nthree", width=20, height=2) == ["two", "three"]
