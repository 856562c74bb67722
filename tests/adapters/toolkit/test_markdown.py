"""Markdown becomes a tree without losing a word."""

import re
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.formatted_text import fragment_list_to_text

from adapters.discord import render as discord
from adapters.slack import render as slack
from adapters.slack.write_mrkdwn import fallback_of
from adapters.telegram import render as telegram
from adapters.toolkit.markdown import (
    Block,
    CodeBlock,
    Heading,
    Listing,
    Paragraph,
    QuoteBlock,
    Rule,
    Run,
    TableBlock,
    parse,
)
from adapters.toolkit.text import is_plain
from gateway.interfaces.terminal.render import render_markdown
from tests.adapters.markdown_texts import MARKDOWN


def words_of(blocks: Iterable[Block]) -> str:
    """Return everything readable in the tree."""
    found: list[str] = []
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                found.extend(run.text for run in block.runs)
            case CodeBlock():
                found.append(block.text)
            case QuoteBlock():
                found.append(words_of(block.blocks))
            case Listing():
                found.extend(words_of(item) for item in block.items)
            case TableBlock():
                found.extend(run.text for row in block.rows for cell in row for run in cell)
            case Rule():
                pass
        found.append("\n")
    return "".join(found)


def test_inline_marks_become_styles() -> None:
    (paragraph,) = parse("a **b *c*** ~~d~~ `e*` [f **g**](https://h.org)")
    assert isinstance(paragraph, Paragraph)
    assert paragraph.runs == (
        Run(text="a "),
        Run(text="b ", styles=frozenset({"bold"})),
        Run(text="c", styles=frozenset({"bold", "italic"})),
        Run(text=" "),
        Run(text="d", styles=frozenset({"strike"})),
        Run(text=" "),
        Run(text="e*", styles=frozenset({"code"})),
        Run(text=" "),
        Run(text="f ", link="https://h.org"),
        Run(text="g", styles=frozenset({"bold"}), link="https://h.org"),
    )


def test_blocks_become_a_tree() -> None:
    text = "## T\n\n> q\n\n3. a\n   - b\n\n```py x\n1\n```\n\n---\n\n|h|i|\n|:-:|-:|\n|1|\n"
    assert parse(text) == (
        Heading(level=2, runs=(Run(text="T"),)),
        QuoteBlock(blocks=(Paragraph(runs=(Run(text="q"),)),)),
        Listing(
            items=(
                (
                    Paragraph(runs=(Run(text="a"),)),
                    Listing(items=((Paragraph(runs=(Run(text="b"),)),),), is_tight=True),
                ),
            ),
            numbers=(3,),
            is_tight=True,
        ),
        CodeBlock(text="1", language="py"),
        Rule(),
        TableBlock(
            rows=(((Run(text="h"),), (Run(text="i"),)), ((Run(text="1"),), ())),
            alignments=("center", "right"),
        ),
    )


def test_a_list_with_blank_lines_is_loose() -> None:
    (listing,) = parse("0. a\n\n1. b")
    assert isinstance(listing, Listing)
    assert (listing.numbers[0], listing.is_tight) == (0, False)


def test_a_code_block_that_is_still_being_written_is_code_already() -> None:
    assert parse("```py\nx = 1\ny =") == (CodeBlock(text="x = 1\ny =", language="py"),)


@pytest.mark.parametrize(
    "text",
    [
        "[note]: call back",
        "<b>not bold</b>",
        "<!-- seen -->",
        "[](x",
        "a < b && c > d",
        "1986\\. A",
    ],
)
def test_what_is_no_markup_stays(text: str) -> None:
    assert words_of(parse(text)).strip() == text.replace("\\", "")


def test_a_line_below_a_paragraph_is_a_rule_and_no_heading() -> None:
    assert parse("above\n---\nbelow")[1] == Rule()


@pytest.mark.parametrize(
    "text",
    [
        "> " * 2000 + "x", "- " * 2000 + "x", "1. " * 1500 + "x", ">" * 60 + "x",
        "\n".join("  " * depth + "- x" for depth in range(60)),
        "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "|b\n" * 500,
    ],
    ids=["quotes", "lists", "numbers", "tight quotes", "indented lists", "wide table"],
)  # fmt: skip
def test_an_absurd_text_is_plain_text(text: str) -> None:
    assert re.sub(r"\s", "", words_of(parse(text))) == re.sub(r"\s", "", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mark",
    ["[", "![", "*", "**a ", "`a ", "<", "[a](", "~~a ", "*a_ ", "&", "\\", "> ", "|", "[]("],
)
def test_no_text_blocks_the_loop_for_long(mark: str) -> None:
    begun = time.process_time()
    parse(mark * (4096 // len(mark)))
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|:-:|\n| | | word",
        "> | a |\n> |---|\n> | x | word |",
        "- | a |\n  |---|\n  | x | word |",
    ],
)
def test_a_row_longer_than_its_header_loses_no_word(text: str) -> None:
    assert "word" in words_of(parse(text))


@given(MARKDOWN)
def test_every_character_of_any_text_is_in_the_tree(text: str) -> None:
    letters = set(re.findall(r"[^\W\d_]", text)) - set(re.findall(r"[^\W\d_]", _unread(text)))
    assert letters <= set(words_of(parse(text)) + _addresses(parse(text)))


def _unread(text: str) -> str:
    """What may go: names of languages, and entities that stand for another letter."""
    return " ".join(re.findall(r"(?:```|~~~)[^\n]*|&\S+;", text))


def _addresses(blocks: Iterable[Block]) -> str:
    return "".join(re.findall(r"link='([^']*)'", repr(tuple(blocks)))) + "ü"


@given(st.text(alphabet=st.sampled_from("ab .,!?()'\n😀é-1#"), max_size=60))
def test_the_fast_path_for_plain_text_matches_the_parser(text: str) -> None:
    if is_plain(text):
        by_hand = parse(text)
        # A backslash before punctuation is markup that changes nothing but the way taken.
        by_parser = parse(text + "\n\n\\.")[:-1]
        assert by_hand == by_parser


GAPS = "5. a\n6. b\n8. c\n\n> 3) x\n> 1) y"


def test_a_list_keeps_the_numbers_that_were_written() -> None:
    first, quote = parse(GAPS)
    assert isinstance(first, Listing)
    assert isinstance(quote, QuoteBlock)
    (second,) = quote.blocks
    assert isinstance(second, Listing)
    assert (first.numbers, second.numbers) == ((5, 6, 8), (3, 1))
    assert telegram.render(GAPS).text == "5. a\n6. b\n8. c\n\n3. x\n1. y"
    assert discord.render(GAPS) == "5\\. a\n6\\. b\n8\\. c\n\n> 3\\. x\n> 1\\. y"
    assert slack.words_of(GAPS) == "- 5\\. a\n- 6\\. b\n- 8\\. c\n\n> - 3\\. x\n> - 1\\. y"
    assert fallback_of(slack.words_of(GAPS)) == "• 5. a\n• 6. b\n• 8. c\n\n>• 3. x\n>• 1. y"
    shown = fragment_list_to_text(render_markdown(GAPS, width=40, indent=0))
    assert shown == "5. a\n6. b\n8. c\n\n│ 3. x\n│ 1. y\n"


def test_a_list_whose_items_all_have_one_number_is_counted() -> None:
    (listing,) = parse("1. a\n1. b\n1. c")
    assert isinstance(listing, Listing)
    assert listing.numbers == (1, 2, 3)
    for counted in ("1. a\n1. b", "4. a\n5. b", "```\n1. a\n3. b\n```"):
        assert slack.words_of(counted) == counted
