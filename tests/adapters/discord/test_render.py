"""Markdown becomes Discord's text; no word is lost or becomes a command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.render import TEXT_LIMIT, measure, render
from adapters.toolkit.split_long_messages import split_markdown
from tests.adapters.markdown_texts import MARKDOWN
from tests.tables import check_each

MEANINGS = (
    ("plain words, and more", "plain words, and more"),
    ("**bold** and *italic* and ~~gone~~", "**bold** and *italic* and ~~gone~~"),
    ("**all *of* it**", "**all *of* it**"),
    ("***both***", "**_both_**"),
    ("`x = 1`", "`x = 1`"),
    ("`` a`b ``", "`` a`b ``"),
    ("# One\n\n### Three\n\n#### Four", "# One\n\n### Three\n\n**Four**"),
    ("[here](https://example.org/a_b)", "[here](https://example.org/a_b)"),
    ("[here](https://example.org/a(b))", "[here](https://example.org/a%28b%29)"),
    ("see https://example.org/a_b_c now", "see https://example.org/a_b_c now"),
    ("[mail](mailto:a@example.org)", "mail (mailto:a@example.org)"),
    ("- one\n- two\n  - inner\n- three", "- one\n- two\n  - inner\n- three"),
    ("3. three\n4. four", "3. three\n4. four"),
    ("> said\n> twice", "> said\n> twice"),
    ("> a\n> > b", "> a\n> \n> b"),
    ("```py\nx = 1\n```", "```py\nx = 1\n```"),
    ("a\n\n---\n\nb", "a\n\n———\n\nb"),
)


def test_markdown_keeps_its_meaning() -> None:
    def check(row: tuple[str, str]) -> None:
        markdown, shown = row
        assert render(markdown) == shown

    check_each(MEANINGS, check)


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("2 * 3 * 4 and snake_case_name", "2 \\* 3 \\* 4 and snake_case_name"),
        ("_under_ and __init__ and a__b", "*under* and **init** and a\\_\\_b"),
        ("_ alone_ ~ or ~~ or | or [x] (y)", "\\_ alone\\_ ~ or \\~\\~ or | or [x] (y)"),
        ("\\[no\\](https://example.org/link)", "[no\\](https://example.org/link)"),
        (
            "\\[see https://a.org/x_y\\](https://b.org)",
            "[see https://a.org/x_y\\](https://b.org)",
        ),
        ("||no spoiler||", "\\|\\|no spoiler\\|\\|"),
        ("ask <@123> or <#45> at <t:1>", "ask \\<@123> or \\<#45> at \\<t:1>"),
        ("1 < 2 and a <b> tag", "1 < 2 and a <b> tag"),
        ("\\# no title", "\\# no title"),
        ("\\- no list\n\\> no quote", "\\- no list\n\\> no quote"),
        ("-# no subtext *here*", "\\-# no subtext *here*"),
    ],
)
def test_discord_syntax_stays_text(markdown: str, shown: str) -> None:
    assert render(markdown) == shown


def test_a_table_is_monospaced() -> None:
    assert render("|a|long|\n|-|-:|\n|世界|2|") == (
        "```\na    | long\n-----+-----\n世界 |    2\n```"
    )


def test_a_fence_within_code_does_not_end_it() -> None:
    shown = render("````md\n```\ninner\n```\n````")
    assert shown.startswith("```md\n")
    assert shown.endswith("\n```")
    assert "```" not in shown[6:-4]
    assert shown.replace("\u200b", "") == "```md\n```\ninner\n```\n```"


def test_forbidden_characters_are_removed() -> None:
    assert render("a\x00b\ud800c \x1b[31m") == "abc [31m"
    assert render("[](https://example.org)") != ""


def test_an_emoji_counts_as_two() -> None:
    assert measure("👋") == 2


@given(MARKDOWN)
def test_every_part_of_any_text_fits(text: str) -> None:
    parts = split_markdown(text, limit=TEXT_LIMIT, measure=measure)
    assert all(measure(part) <= TEXT_LIMIT for part in parts)


@given(st.text(alphabet="ab *_~|>#()-+1.\n", max_size=60))
def test_no_word_is_lost(text: str) -> None:
    assert [letter for letter in render(text) if letter in "ab"] == [
        letter for letter in text if letter in "ab"
    ]
