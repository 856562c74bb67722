"""Renders Markdown as Signal's text with styles; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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
    fit,
    parse,
)
from adapters.toolkit.text import count_units, is_plain

TEXT_LIMIT = 2000
"""Bytes of a text that Signal's apps show whole; the rest is behind "Read more"
(Signal-Android, MessageUtil.MAX_INLINE_BODY_SIZE_BYTES).
"""
Style = Literal["BOLD", "ITALIC", "STRIKETHROUGH", "MONOSPACE"]
_STYLES: dict[str, Style] = {
    "bold": "BOLD",
    "italic": "ITALIC",
    "strike": "STRIKETHROUGH",
    "code": "MONOSPACE",
}
_BULLETS = ("•", "◦", "▪")
_RULE = "———"
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f]")
_BLANK_LINES = re.compile(r"\n{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A styled slice of the text, in UTF-16 units."""

    start: int
    length: int
    style: Style

    def __str__(self) -> str:
        """Return the span as signal-cli's `textStyle` wants it."""
        return f"{self.start}:{self.length}:{self.style}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A message's text and its styles."""

    text: str
    spans: tuple[Span, ...] = ()


@lru_cache(maxsize=64)
def render(markdown: str) -> Page:
    """Render a message; cached, because a text is measured, sent and edited in turn."""
    text = _CONTROLS.sub("", _UNSENDABLE.sub("\ufffd", markdown))
    if is_plain(text):
        return Page(text=_BLANK_LINES.sub("\n\n", text.strip("\n")))
    writer = _Writer()
    _write_blocks(writer, parse(text), depth=0, gap="\n\n")
    page = _trim("".join(writer.parts), writer.spans)
    # Markup around nothing, such as an empty link, is better shown raw than not at all.
    return page if page.text else Page(text=text.strip())


def measure(markdown: str) -> int:
    """Measure the bytes of a text once rendered."""
    return len(render(markdown).text.encode())


class _Writer:
    """Collects text and styles, and tracks the position in UTF-16 units."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.spans: list[Span] = []
        self.at = 0

    def write(self, text: str) -> None:
        self.parts.append(text)
        self.at += count_units(text)

    def is_at_line_start(self) -> bool:
        """False right after the mark of a list item that begins with a list."""
        return not self.parts or self.parts[-1].endswith("\n")

    def mark(self, style: Style, start: int) -> None:
        """Style the text written since `start`."""
        if self.at > start:
            self.spans.append(Span(start=start, length=self.at - start, style=style))


def _write_blocks(writer: _Writer, blocks: Sequence[Block], *, depth: int, gap: str) -> None:
    for index, block in enumerate(blocks):
        if index:
            writer.write(gap)
        _write_block(writer, block, depth)


def _write_block(writer: _Writer, block: Block, depth: int) -> None:
    start = writer.at
    match block:
        case Paragraph():
            _write_runs(writer, block.runs)
        case Heading():
            _write_runs(writer, block.runs, is_bold=True)
        case CodeBlock():
            writer.write(block.text)
            writer.mark("MONOSPACE", start)
        case TableBlock():
            fitted = fit(block, spell=_spell)
            if isinstance(fitted, Listing):
                _write_list(writer, fitted, max(depth, 0))
            else:
                writer.write(fitted)
                writer.mark("MONOSPACE", start)
        case QuoteBlock():
            writer.write("│ ")  # Signal has no quoted paragraphs
            _write_blocks(writer, block.blocks, depth=-1, gap="\n")
        case Listing():
            _write_list(writer, block, max(depth, 0))
        case Rule():
            writer.write(_RULE)


def _write_list(writer: _Writer, listing: Listing, depth: int) -> None:
    gap = "\n" if listing.is_tight else "\n\n"
    bullet = _BULLETS[min(depth, len(_BULLETS) - 1)]
    for index, item in enumerate(listing.items):
        if index:
            writer.write(gap)
        mark = listing.mark(index, bullet)
        writer.write(("  " * depth if writer.is_at_line_start() else "") + mark + " ")
        _write_blocks(writer, item, depth=depth + 1, gap="\n")


def _write_runs(writer: _Writer, runs: Sequence[Run], *, is_bold: bool = False) -> None:
    """Write runs; a style that spans several runs becomes one span."""
    opened: dict[Style, int] = {}
    for run in _spell_out(runs):
        styles = {_STYLES[style] for style in run.styles}
        if is_bold:
            styles.add("BOLD")
        for style in [style for style in opened if style not in styles]:
            writer.mark(style, opened.pop(style))
        for style in sorted(styles):
            opened.setdefault(style, writer.at)
        writer.write(run.text)
    for style, start in opened.items():
        writer.mark(style, start)


def _spell_out(runs: Sequence[Run]) -> Iterable[Run]:
    """Append the address of a link, which Signal can't hide, unless the text is the address."""
    words = ""
    for index, run in enumerate(runs):
        if run.link is None:
            yield run
            continue
        yield Run(text=run.text, styles=run.styles)
        words += run.text
        if index + 1 == len(runs) or runs[index + 1].link != run.link:
            if run.link and run.link not in (words, f"mailto:{words}"):
                yield Run(text=f" ({run.link})")
            words = ""


def _spell(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in _spell_out(runs))


def _trim(text: str, spans: Sequence[Span]) -> Page:
    """Trim blank lines and blanks at both ends, and shift the styles."""
    skipped = len(text) - len(text.lstrip("\n"))
    text = text[skipped:].rstrip()
    end = count_units(text)
    kept = []
    for span in spans:
        start = max(span.start - skipped, 0)
        stop = min(span.start - skipped + span.length, end)
        if stop > start:
            kept.append(Span(start=start, length=stop - start, style=span.style))
    return Page(text=text, spans=tuple(sorted(kept, key=lambda one: (one.start, -one.length))))
