"""Parses Markdown once into a small neutral tree that each platform renders."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.toolkit.text import is_plain

Style = Literal["bold", "italic", "strike", "code"]
Alignment = Literal["left", "center", "right"]

_DEEPEST = 40
"""Parsing depth of quotes and lists. markdown-it drops deeper content, and each level costs
several
stack frames; deeper text is therefore not parsed as Markdown.
"""

_STYLES: dict[str, Style] = {"strong": "bold", "em": "italic", "s": "strike"}
_TOO_WIDE = re.compile(r"(?:\|[^|\n]*){25}")
"""No chat shows 24 columns. The parser pads every short row to the header's width, so 3 kB of text
can produce 65,000 cells and block the event loop for a second.
"""
_LINE_END = re.compile(r"\r\n|\n|\r")
_CELL_END = re.compile(r"(?<!\\)\|")
_NUMBERED_LINE = re.compile(r"^[\s>]*(\d{1,9})[.)]\s", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{2,}")

# Left out on purpose: HTML (shown as it was typed), reference definitions (they vanish from
# the page, so "[note]: call back" would be lost) and headings made by underlining (models
# write "---" below a paragraph to part it from the next one).
_PARSER = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    .enable(["table", "strikethrough"])
    .disable(["reference", "lheading", "html_block", "html_inline"])
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Text with one format; a line break is a newline character."""

    text: str
    styles: frozenset[Style] = frozenset()
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Lines of running text."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A title; `level` is 1 to 6."""

    level: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """Preformatted text; `language` is empty when unnamed."""

    text: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteBlock:
    """Quoted blocks."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list; `numbers` are those of its items as they were written, empty for bullets."""

    items: tuple[tuple["Block", ...], ...]
    numbers: tuple[int, ...] = ()
    is_tight: bool

    @property
    def is_counted(self) -> bool:
        """True if the numbers follow each other, as a program that counts shows them."""
        return _is_counted(self.numbers)

    def mark(self, index: int, bullet: str) -> str:
        """Return the mark of an item: its number with a point, or the bullet."""
        return f"{self.numbers[index]}." if self.numbers else bullet


Cell = tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBlock:
    """Rows of cells, the header first; each row has a cell for each column."""

    rows: tuple[tuple[Cell, ...], ...]
    alignments: tuple[Alignment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A horizontal rule."""


Block = Paragraph | Heading | CodeBlock | QuoteBlock | Listing | TableBlock | Rule


def parse(text: str) -> tuple[Block, ...]:
    """Parse CommonMark with tables and strikethrough; never raises and keeps every word.

    Text stays as it is if it is nested deeper than 40 quotes and lists, or has a table of more
    than 24 columns or with a row that is longer than its header.
    """
    if is_plain(text) or _TOO_WIDE.search(text):
        return _plain(text)
    tokens = _PARSER.parse(text)
    if any(token.level >= _DEEPEST - 2 for token in tokens) or _has_lost_cells(text, tokens):
        return _plain(text)
    return _Reader(tokens).blocks()


def _has_lost_cells(text: str, tokens: Sequence[Token]) -> bool:
    """Return True if a table has a row longer than its header; the parser drops the row's end."""
    lines: list[str] = []
    columns = 0
    for token in tokens:
        if token.type == "thead_open":
            columns = 0
        elif token.type == "th_open":
            columns += 1
        elif token.type == "tbody_open" and token.map:
            lines = lines or _LINE_END.split(text)
            for line in lines[slice(*token.map)]:
                cells = _CELL_END.split(line.strip(" \t>").removeprefix("|"))
                if any(cell.strip() for cell in cells[columns:]):
                    return True
    return False


def _plain(text: str) -> tuple[Block, ...]:
    parts = _BLANK_LINES.split(text.strip("\n"))
    return tuple(Paragraph(runs=(Run(text=part),)) for part in parts if part)


class _Reader:
    """Walks markdown-it's flat token list and builds the tree."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def blocks(self, closing: str = "") -> tuple[Block, ...]:
        """Parse blocks up to the closing token and skip it."""
        found: list[Block] = []
        while self._at < len(self._tokens):
            token = self._next()
            if token.type == closing:
                break
            block = self._block(token)
            if block is not None:
                found.append(block)
        return tuple(found)

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _block(self, token: Token) -> Block | None:
        match token.type:
            case "paragraph_open":
                runs = self._inline("paragraph_close")
                return Paragraph(runs=runs) if runs else None
            case "heading_open":
                return Heading(level=int(token.tag[1:]), runs=self._inline("heading_close"))
            case "fence" | "code_block":
                language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
                return CodeBlock(text=token.content.removesuffix("\n"), language=language)
            case "blockquote_open":
                return QuoteBlock(blocks=self.blocks("blockquote_close"))
            case "bullet_list_open" | "ordered_list_open":
                return self._listing(token)
            case "table_open":
                return self._table()
            case "hr":
                return Rule()
            case _:  # an unknown kind of block: keep at least its words
                return Paragraph(runs=(Run(text=token.content),)) if token.content else None

    def _inline(self, closing: str) -> tuple[Run, ...]:
        token = self._next()
        while self._next().type != closing:
            pass
        return _runs(token.children or ())

    def _listing(self, opening: Token) -> Listing:
        closing = opening.type.replace("_open", "_close")
        start = self._at
        items: list[tuple[Block, ...]] = []
        numbers: list[int] = []
        while (token := self._next()).type != closing:
            if opening.type == "ordered_list_open":
                numbers.append(int(token.info))
            items.append(self.blocks("list_item_close"))
        paragraphs = (
            token
            for token in self._tokens[start : self._at]
            if token.type == "paragraph_open" and token.level == opening.level + 2
        )
        is_tight = all(token.hidden for token in paragraphs)
        return Listing(items=tuple(items), numbers=_count(numbers), is_tight=is_tight)

    def _table(self) -> TableBlock:
        rows: list[tuple[tuple[Run, ...], ...]] = []
        alignments: list[Alignment] = []
        cells: list[tuple[Run, ...]] = []
        while (token := self._next()).type != "table_close":
            if token.type == "th_open":
                alignments.append(_alignment(token))
            if token.type in ("th_open", "td_open"):
                cells.append(self._inline(token.type.replace("_open", "_close")))
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                cells = []
        return TableBlock(rows=tuple(rows), alignments=tuple(alignments))


def spell_numbers(text: str) -> str:
    """Rewrite lists whose numbers have gaps, for a platform that counts on from the first one.

    Each item becomes a bullet that begins with its number as text.
    """
    if _is_counted([int(number) for number in _NUMBERED_LINE.findall(text)]):
        return text
    lines = text.split("\n")
    tokens = _PARSER.parse(text)
    for at, opening in enumerate(tokens):
        if opening.type != "ordered_list_open":
            continue
        items = list(_list_items(tokens[at + 1 :], opening.level))
        if _is_counted(_count([int(item.info) for item in items])):
            continue
        for item in items:
            line = item.map[0] if item.map else 0
            mark = rf"^([\s>]*(?:(?:[-*+]|\d+[.)])\s+)*?){item.info}[.)]"
            lines[line] = re.sub(mark, rf"\g<1>- {item.info}\\.", lines[line])
    return "\n".join(lines)


def _list_items(tokens: Sequence[Token], level: int) -> Iterator[Token]:
    """Yield the items of a list that begins before the tokens."""
    for token in tokens:
        if token.level <= level:
            return
        if token.type == "list_item_open" and token.level == level + 1:
            yield token


def _is_counted(numbers: Sequence[int]) -> bool:
    return all(after == before + 1 for before, after in pairwise(numbers))


def _count(written: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of a list as they were written.

    People who write one number everywhere, such as "1.", let the reader's program count.
    """
    if len(written) > 1 and len(set(written)) == 1:
        return tuple(range(written[0], written[0] + len(written)))
    return tuple(written)


def _alignment(token: Token) -> Alignment:
    style = str(token.attrGet("style") or "")
    if style.endswith("right"):
        return "right"
    return "center" if style.endswith("center") else "left"


def _runs(tokens: Sequence[Token]) -> tuple[Run, ...]:
    """Build the runs of one line; merges neighbours with the same format."""
    found: list[Run] = []
    open_styles: list[Style] = []
    links: list[str] = []

    def add(text: str, *styles: Style, link: str | None = None) -> None:
        run = Run(
            text=text,
            styles=frozenset((*open_styles, *styles)),
            link=link or (links[-1] if links else None),
        )
        last = found[-1] if found else None
        if last is not None and (last.styles, last.link) == (run.styles, run.link):
            found[-1] = Run(text=last.text + text, styles=run.styles, link=run.link)
        elif text:
            found.append(run)

    for token in tokens:
        kind, _, end = token.type.rpartition("_")
        if kind in _STYLES and end == "open":
            open_styles.append(_STYLES[kind])
        elif kind in _STYLES:
            open_styles.remove(_STYLES[kind])
        elif token.type == "link_open":
            links.append(str(token.attrGet("href") or ""))
        elif token.type == "link_close":
            links.pop()
        elif token.type in ("softbreak", "hardbreak"):
            add("\n")
        elif token.type == "code_inline":
            add(token.content, "code")
        elif token.type == "image":
            source = str(token.attrGet("src") or "")
            add(token.content or source, link=source or None)
        else:
            add(token.content)
    return tuple(found)


_PHONE = 40
"""Columns of a monospaced font that fit a phone's line; longer lines wrap and are hard to read."""
_PAIR = 2
"""The number of columns of a table that lists names and values."""


def fit(table: TableBlock, *, spell: Callable[[Sequence[Run]], str]) -> str | Listing:
    """Draw a table if its lines fit a phone; otherwise make a list of its rows."""
    drawn = draw(table, spell=spell)
    if max(map(_width, drawn.split("\n"))) <= _PHONE:
        return drawn
    header, *rows = table.rows
    shown = [row for row in rows if any(row)] or [header]
    items = tuple(_list_row(header, row) for row in shown)
    return Listing(items=items, is_tight=True)


def _list_row(header: Sequence[Cell], row: Sequence[Cell]) -> tuple[Block, ...]:
    """Turn a row into a list item: the first cell, and below it the other cells with their
    headings.
    """
    title = tuple(replace(run, styles=run.styles | {"bold"}) for run in row[0])
    named = [
        (*name, Run(text=": "), *cell) if name else cell
        for name, cell in zip(header[1:], row[1:], strict=True)
        if cell
    ]
    if title and len(row) == _PAIR and named:
        return (Paragraph(runs=(*title, Run(text=": "), *row[1])),)
    lines = tuple(Paragraph(runs=runs) for runs in named)
    if not (title and lines):
        return (Paragraph(runs=title),) if title else lines
    below = Listing(items=tuple((line,) for line in lines), is_tight=True)
    return Paragraph(runs=title), below


def draw(table: TableBlock, *, spell: Callable[[Sequence[Run]], str]) -> str:
    """Draw a table as text, each column as wide as its widest cell.

    `spell` converts the runs of a cell to plain text.
    """
    rows = [[spell(cell).replace("\n", " ") for cell in row] for row in table.rows]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [" | ".join(map(_pad, row, widths, table.alignments)).rstrip() for row in rows]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(lines)


def _pad(text: str, width: int, alignment: Alignment) -> str:
    room = width - _width(text)
    left = {"left": 0, "center": room // 2, "right": room}[alignment]
    return " " * left + text + " " * (room - left)


def _width(text: str) -> int:
    """Return the columns of a text in a monospaced font: 2 for wide characters, 0 for marks."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
