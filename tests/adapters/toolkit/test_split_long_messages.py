"""Text is split without losing a word, into parts within the limit."""

import re
import time
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adapters.toolkit.markdown import Paragraph, QuoteBlock, Run, TableBlock, parse
from adapters.toolkit.split_long_messages import close_code, split_markdown
from tests.adapters.markdown_texts import MARKDOWN

FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,}).*$", re.MULTILINE)


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str, limit: int) -> tuple[str, ...]:
    return split_markdown(text, limit=limit, measure=units)


def bare(text: str) -> str:
    """A text without blanks and without the lines that open and close code."""
    return re.sub(r"[\s>]", "", FENCE.sub("", text.replace("\r", "\n")))


@pytest.mark.slow
@given(MARKDOWN, st.integers(min_value=150, max_value=300))
def test_no_text_is_lost_and_every_part_fits(text: str, limit: int) -> None:
    assume(all(2 * len(line) < limit for line in FENCE.findall(text)))
    parts = split(text, limit)
    assert bare("\n".join(parts)) == bare(text)
    assert all(units(part) <= limit for part in parts)
    assert all(part.strip() for part in parts) or parts == ("",)


@given(st.text(max_size=300), st.integers(min_value=1, max_value=40))
def test_plain_text_can_be_rejoined(text: str, limit: int) -> None:
    text = FENCE.sub("", text)
    assert re.sub(r"\s", "", "".join(split(text, limit))) == re.sub(r"\s", "", text)


LETTERS = ["👩‍👩‍👧", "🇩🇪", "🇫🇷", "👍🏽", "e\u0301\u0323", "a", "🏴\U000e0067\U000e007f"]


@given(st.lists(st.sampled_from(LETTERS), max_size=80))
def test_no_grapheme_is_cut(letters: list[str]) -> None:
    rest = letters
    for part in split("".join(letters), 24):
        taken = 0
        while len("".join(rest[:taken])) < len(part):
            taken += 1
        assert "".join(rest[:taken]) == part
        rest = rest[taken:]
    assert not rest


def test_code_is_split_between_two_functions() -> None:
    functions = [f"def f{number}():\n    x = 1\n\n    return x" for number in range(9)]
    parts = split("```py\n" + "\n\n".join(functions) + "\n```", 160)
    assert len(parts) > 2
    for part in parts:
        assert part.startswith("```py\ndef ")
        assert part.endswith("    return x\n```")


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("plain", "plain"),
        ("```\nx\n```", "```\nx\n```"),
        ("```py\nx =", "```py\nx =\n```"),
        ("````\n```\n", "````\n```\n````"),
        ("Here:\r\n```py\r\nx\r\n```\r\nDone.", "Here:\r\n```py\r\nx\r\n```\r\nDone."),
        ("> ~~~\n> x", "> ~~~\n> x"),
        ("- a\n\n  ```\n  x", "- a\n\n  ```\n  x"),
        ("1. Step:\n   ```sh\n   a\n\nThen this.", "1. Step:\n   ```sh\n   a\n\nThen this."),
    ],
)
def test_code_that_is_open_at_the_end_is_closed(text: str, closed: str) -> None:
    assert close_code(text) == closed
    assert isinstance(parse(f"{closed}\n\n(Stopped.)")[-1], Paragraph)


def test_a_text_that_fits_is_unchanged() -> None:
    assert split("  a\n\n```\nb\n```\n", 100) == ("  a\n\n```\nb\n```\n",)


@pytest.mark.parametrize("text", ["", " \n\t ", "\n" * 500])
def test_a_blank_text_is_one_empty_part(text: str) -> None:
    assert split(text, 100) == ("",)


def test_a_cut_goes_between_paragraphs_rather_than_lines_or_words() -> None:
    text = "one one one\none one\n\ntwo two\ntwo two two"
    assert split(text, 30) == ("one one one\none one", "two two\ntwo two two")
    assert split("a b c d e\nf g h i j", 14) == ("a b c d e", "f g h i j")
    assert split("aaaa bbbb cccc dddd", 12) == ("aaaa bbbb", "cccc dddd")


def test_a_cut_block_of_code_is_closed_and_opened_with_its_language() -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(12))
    parts = split(f"Look:\n\n```python title=x\n{code}\n```\n\nDone.", 80)
    assert all(part.count("```") == 2 for part in parts[:-1])
    assert parts[1].startswith("```python\nline_")
    assert "\n".join(parts).count("```python") == len(parts) - (parts[-1] == "Done.")
    shown = "\n".join(re.findall(r"```\S*[^\n]*\n(.*?)\n```", "\n".join(parts), re.DOTALL))
    assert shown == code


def test_blank_lines_and_indentation_of_code_survive_a_cut() -> None:
    code = "\n\n".join(f"    if x{number}:\n        y" for number in range(8))
    parts = split(f"```\n{code}\n```", 60)
    shown = "\n".join(re.findall(r"```\n(.*?)\n```", "\n".join(parts), re.DOTALL))
    assert shown.split() == code.split()
    assert {line for line in shown.split("\n") if line} == set(code.split("\n")) - {""}


def test_a_short_block_of_code_moves_to_the_next_part_whole() -> None:
    text = "word " * 10 + "\n```sh\nls -l\necho one\n```\nend"
    assert split(text, 70)[1] == "```sh\nls -l\necho one\n```\nend"


def test_code_in_a_list_item_goes_on_as_code_at_the_margin() -> None:
    lines = "\n".join(f"   command --number {number}" for number in range(10))
    parts = split(f"1. do this\n   ```bash\n{lines}\n   ```\n2. done", 90)
    assert parts[1].startswith("```bash\ncommand --number")
    assert parts[0].endswith("\n   ```")
    assert parts[1].endswith("\n```")
    assert "   " not in "".join(parts[1:])


def test_code_in_a_quote_stays_in_the_quote() -> None:
    lines = "\n".join(f"> echo {number}" for number in range(12))
    for part in split(f"> ```sh\n{lines}\n> ```", 60):
        assert part.startswith("> ```sh\n> echo")
        assert part.endswith("\n> ```")


def test_an_inner_list_that_begins_a_part_is_not_taken_for_code() -> None:
    items = "\n".join(f"    - item {number}" for number in range(10))
    parts = split(f"- top\n{items}\n- end", 60)
    assert len(parts) > 2
    assert all(part.startswith("- ") for part in parts)


def test_a_mark_of_code_within_a_line_opens_no_block() -> None:
    assert split("``` not `a` fence\n" + "word " * 20, 60)[1].startswith("word")


def test_a_name_of_a_language_that_is_too_long_is_not_repeated() -> None:
    parts = split("```" + "x" * 200 + "\n" + "code\n" * 40 + "```", 80)
    assert parts[-1].startswith("```\ncode")


def test_wide_letters_are_never_halved() -> None:
    parts = split("😀" * 4000, 4096)
    assert [units(part) for part in parts[:-1]] == [units(parts[0])] * (len(parts) - 1)
    assert "".join(parts) == "😀" * 4000
    assert all(unicodedata.category(letter) == "So" for part in parts for letter in part)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "lorem ipsum dolor sit amet. " * 36_000,
        "x" * 1_000_000,
        "👩‍👩‍👧" * 125_000,
        "```py\n" + "print(1)\n" * 111_000 + "```",
        "```py\n" + "print(1) " * 111_000,
        "a" + "\n" * 1_000_000 + "b",
        "🇩🇪" * 250_000,
        "e" + "\u0301" * 500_000,
        "```\n\n" * 200_000,
    ],
    ids=["prose", "word", "family", "code", "line", "blank", "flags", "accents", "fences"],
)
def test_a_megabyte_is_cut_in_linear_time(text: str) -> None:
    begun = time.process_time()
    parts = split(text, 4096)
    assert time.process_time() - begun < 3.0
    assert bare("".join(parts)) == bare(text)


HEADER = "| Town | Population |\n|---|---:|\n"
ROWS = [f"| Town {number} | {number * 1000} |\n" for number in range(40)]


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", ""),
        ("The towns:\n\n", "\nThat is all."),
        ("The towns:\n", ""),
        ("word " * 60 + "\n\n", ""),
    ],
)
def test_every_part_of_a_long_table_is_a_table_with_its_header(before: str, behind: str) -> None:
    parts = split(before + HEADER + "".join(ROWS) + behind, 300)
    tables = [block for part in parts for block in parse(part) if isinstance(block, TableBlock)]
    rows = ["".join(run.text for run in row[0]) for table in tables for row in table.rows[1:]]
    assert rows == [f"Town {number}" for number in range(40)]
    assert all(table.rows[0] == tables[0].rows[0] for table in tables)
    assert not any("|" in run.text for part in parts for run in runs_of(part))
    assert all(units(part) <= 300 for part in parts)


def runs_of(part: str) -> Iterator[Run]:
    """The runs of a part's paragraphs: where a row stands that belongs to no table."""
    for block in parse(part):
        if isinstance(block, Paragraph):
            yield from block.runs


def test_a_short_table_moves_to_the_next_part_whole() -> None:
    table = HEADER + "".join(ROWS[:5])
    assert split("word " * 40 + "\n\n" + table, 250)[-1] == table


def test_a_table_in_a_quote_keeps_its_header_and_its_quote() -> None:
    quoted = "".join(f"> {line}" for line in (HEADER + "".join(ROWS)).splitlines(keepends=True))
    parts = split(quoted, 300)
    assert len(parts) > 3
    for part in parts:
        (quote,) = parse(part)
        assert isinstance(quote, QuoteBlock)
        assert [type(block) for block in quote.blocks] == [TableBlock]


def test_a_row_longer_than_a_part_loses_no_word() -> None:
    long = f"| {'word ' * 200}| 5 |\n"
    parts = split(HEADER + ROWS[0] + long + ROWS[1], 300)
    assert "".join(parts).count("word") == 200
    assert all(units(part) <= 300 for part in parts)


@given(st.text(alphabet="a|-: \n>`", max_size=200), st.integers(min_value=12, max_value=60))
def test_whatever_looks_like_a_table_fits_and_keeps_its_letters(text: str, limit: int) -> None:
    parts = split(text, limit)
    assert all(units(part) <= limit for part in parts)
    assert "".join(parts).count("a") >= text.count("a")
