"""Lays out Markdown as bare text with formatted spans; a platform says which formats it has."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

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

_BULLETS = ("•", "◦", "▪")
_RULE = "———"
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f]")
_BLANK_LINES = re.compile(r"\n{2,}")

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Span(Generic[F]):
    """A slice of the text with one format. `start` and `length` are in UTF-16 units."""

    format: F
    start: int
    length: int

    @property
    def end(self) -> int:
        """The position behind it."""
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class SpannedText(Generic[F]):
    """A message's text, and its spans in the order in which they ended."""

    text: str
    spans: tuple[Span[F], ...] = ()


class SpanWriter(ABC, Generic[F]):
    """Writes one message. Its subclass, one for each platform, names the formats."""

    quote_mark = ""
    """What begins a quote on a platform that formats none."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._spans: list[Span[F]] = []
        self._at = 0
        """The position in UTF-16 units."""

    @abstractmethod
    def list_formats(self, run: Run, *, is_bold: bool) -> Sequence[F]:
        """Return the formats of a run, the outer first."""

    @abstractmethod
    def format_code(self, language: str) -> F:
        """Return the format of a code block; without a language, it is empty."""

    def format_quote(self) -> F | None:
        """Return the format of a quote outside of other quotes and lists."""
        return None

    def is_linked(self, address: str) -> bool:
        """Return whether the platform shows a link, so that its address need not be read."""
        return False

    def find_start(self, text: str, spans: Sequence[Span[F]]) -> int:
        """Return how many characters are left out at the beginning of a text."""
        return len(text) - len(text.lstrip("\n"))

    def lay_out(self, markdown: str) -> SpannedText[F]:
        """Lay out the message. Called once."""
        text = _CONTROLS.sub("", _UNSENDABLE.sub("\ufffd", markdown))
        if is_plain(text):
            return SpannedText(_BLANK_LINES.sub("\n\n", text.strip("\n")))
        self._write_blocks(parse(text), depth=0, gap="\n\n")
        page = self._trim()
        # Markup around nothing, such as an empty link, is better shown raw than not at all.
        return page if page.text else SpannedText(text.strip())

    def _trim(self) -> SpannedText[F]:
        """Trim both ends, and shift the spans."""
        whole = "".join(self._parts)
        start = self.find_start(whole, self._spans)
        text = whole[start:].rstrip()
        end = count_units(text)
        kept: list[Span[F]] = []
        for span in self._spans:
            first, last = max(span.start - start, 0), min(span.end - start, end)
            if last > first:
                kept.append(Span(span.format, first, last - first))
        return SpannedText(text, tuple(kept))

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._at += count_units(text)

    def _mark(self, look: F, start: int) -> None:
        """Format the text written since `start`."""
        if self._at > start:
            self._spans.append(Span(look, start, self._at - start))

    def _is_at_line_start(self) -> bool:
        """False right after the mark of a list item that begins with a list."""
        return not self._parts or self._parts[-1].endswith("\n")

    def _write_blocks(self, blocks: Sequence[Block], *, depth: int, gap: str) -> None:
        for index, block in enumerate(blocks):
            if index:
                self._write(gap)
            self._write_block(block, depth)

    def _write_block(self, block: Block, depth: int) -> None:
        match block:
            case Paragraph():
                self._write_runs(block.runs)
            case Heading():
                self._write_runs(block.runs, is_bold=True)
            case CodeBlock():
                self._write_code(block.text, block.language)
            case TableBlock():
                fitted = fit(block, spell=_spell)
                if isinstance(fitted, Listing):
                    self._write_list(fitted, max(depth, 0))
                else:
                    self._write_code(fitted, "")
            case QuoteBlock():
                start = self._at
                self._write(self.quote_mark)
                self._write_blocks(block.blocks, depth=-1, gap="\n")
                # No platform nests quotes, and a quote can begin only at the start of a line.
                if depth == 0 and (look := self.format_quote()) is not None:
                    self._mark(look, start)
            case Listing():
                self._write_list(block, max(depth, 0))
            case Rule():
                self._write(_RULE)

    def _write_code(self, text: str, language: str) -> None:
        start = self._at
        self._write(text)
        self._mark(self.format_code(language), start)

    def _write_list(self, listing: Listing, depth: int) -> None:
        gap = "\n" if listing.is_tight else "\n\n"
        bullet = _BULLETS[min(depth, len(_BULLETS) - 1)]
        for index, item in enumerate(listing.items):
            if index:
                self._write(gap)
            mark = listing.mark(index, bullet)
            self._write(("  " * depth if self._is_at_line_start() else "") + mark + " ")
            self._write_blocks(item, depth=depth + 1, gap="\n")

    def _write_runs(self, runs: Sequence[Run], *, is_bold: bool = False) -> None:
        """Write runs; a format that several runs in a row have becomes one span."""
        opened: dict[F, int] = {}
        for run in _spell_out(runs, self.is_linked):
            looks = self.list_formats(run, is_bold=is_bold)
            for look in [look for look in opened if look not in looks]:
                self._mark(look, opened.pop(look))
            for look in looks:
                opened.setdefault(look, self._at)
            self._write(run.text)
        for look, start in opened.items():
            self._mark(look, start)


def _spell_out(runs: Sequence[Run], is_linked: Callable[[str], bool]) -> Iterator[Run]:
    """Append the address of a link that is not shown as one, unless the text is the address."""
    words = ""
    for index, run in enumerate(runs):
        if run.link is None or is_linked(run.link):
            yield run
            continue
        yield Run(text=run.text, styles=run.styles)
        words += run.text
        if index + 1 == len(runs) or runs[index + 1].link != run.link:
            if run.link and run.link not in (words, f"mailto:{words}"):
                yield Run(text=f" ({run.link})")
            words = ""


def _spell(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in _spell_out(runs, lambda _: False))
