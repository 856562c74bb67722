"""Renders Markdown as styled lines that fit the terminal's width."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.utils import get_cwidth

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
    draw,
    parse,
)

_NARROWEST = 10
_STYLES = {"bold": "bold", "italic": "italic", "strike": "strike", "code": "ansicyan"}
_FAINT = "ansibrightblack"
_WORDS = re.compile(r"\n|[^\S\n]+|\S+")

Fragment = tuple[str, str]
"""A prompt_toolkit style, and text without line breaks."""


def render_markdown(text: str, *, width: int, indent: int) -> StyleAndTextTuples:
    """Render Markdown with line ends; each line is indented by the given number of columns."""
    margin = ("", " " * indent)
    lines = _render(parse(text), max(width - indent, _NARROWEST), is_tight=False)
    return [fragment for line in lines for fragment in (margin, *line, ("", "\n"))]


def wrap(fragments: Iterable[Fragment], width: int) -> list[list[Fragment]]:
    """Break text into lines of at most `width` columns, between words where possible."""
    lines: list[list[Fragment]] = [[]]
    used = 0
    for style, text in fragments:
        for word in _WORDS.findall(text):
            columns = get_cwidth(word)
            if word == "\n" or used + columns > width:
                lines.append([])
                used = 0
                if word.isspace():
                    continue
            for piece in _cut(word, width):
                if used and used + get_cwidth(piece) > width:
                    lines.append([])
                    used = 0
                lines[-1].append((style, piece))
                used += get_cwidth(piece)
    return lines


def _cut(word: str, width: int) -> Iterator[str]:
    """Split a word into pieces that fit on one line each."""
    if get_cwidth(word) <= width:
        yield word
        return
    start = used = 0
    for at, letter in enumerate(word):
        columns = get_cwidth(letter)
        if used + columns > width:
            yield word[start:at]
            start, used = at, 0
        used += columns
    yield word[start:]


def _render(blocks: Sequence[Block], width: int, *, is_tight: bool) -> Iterator[list[Fragment]]:
    for number, block in enumerate(blocks):
        if number and not is_tight:
            yield []
        yield from _render_block(block, width)


def _render_block(block: Block, width: int) -> Iterator[list[Fragment]]:
    match block:
        case Paragraph():
            yield from wrap(_style(block.runs), width)
        case Heading():
            yield from wrap(((f"bold {style}", text) for style, text in _style(block.runs)), width)
        case CodeBlock():
            yield from ([("", "  "), ("ansicyan", line)] for line in block.text.split("\n"))
        case QuoteBlock():
            yield from _prefix(block.blocks, width, "│ ", is_tight=False)
        case Listing():
            for number, item in enumerate(block.items):
                mark = block.mark(number, "•") + " "
                if number and not block.is_tight:
                    yield []
                yield from _prefix(item, width, mark, is_tight=block.is_tight)
        case TableBlock():
            yield from ([("", line)] for line in draw(block, spell=_spell).split("\n"))
        case Rule():
            yield [(_FAINT, "─" * width)]
        case _:
            assert_never(block)


def _prefix(
    blocks: Sequence[Block], width: int, mark: str, *, is_tight: bool
) -> Iterator[list[Fragment]]:
    """Yield lines that follow a mark. A quote repeats its mark; a list item indents instead."""
    rest = mark if mark.startswith("│") else " " * get_cwidth(mark)
    inner = max(width - get_cwidth(mark), _NARROWEST)
    for number, line in enumerate(_render(blocks, inner, is_tight=is_tight)):
        before = rest if number else mark
        yield [(_FAINT, before), *line] if line or before.strip() else []


def _style(runs: Sequence[Run]) -> Iterator[Fragment]:
    for run in runs:
        style = " ".join(_STYLES[one] for one in sorted(run.styles))
        yield (f"{style} underline" if run.link else style), run.text
        if run.link and run.link != run.text:
            yield _FAINT, f" ({run.link})"


def _spell(runs: Sequence[Run]) -> str:
    return "".join(text for _, text in _style(runs))
