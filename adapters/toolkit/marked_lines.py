"""Writes Markdown as lines of a platform's own markup, which it shows as they are."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

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

_MARKS = (("code", "`"), ("strike", "~"), ("italic", "_"), ("bold", "*"))


class LineWriter(ABC):
    """Writes blocks as lines. Its subclass, one for each platform, says what a mark looks like."""

    bullet: str
    indent: str
    """What further lines of a list item begin with."""
    quote_mark: str

    @abstractmethod
    def write_link(self, run: Run) -> str | None:
        """Return a linked run, or None if its link is not shown."""

    @abstractmethod
    def write_table(self, table: TableBlock) -> Iterator[str]:
        """Return the lines of a table."""

    def escape(self, text: str) -> str:
        """Return words without the signs that have a meaning in the markup."""
        return text

    def write_heading(self, runs: Sequence[Run]) -> Iterator[str]:
        """Return the lines of a heading."""
        yield from self.write_words(runs).split("\n")

    def write_code(self, text: str) -> str:
        """Return a code block."""
        return f"```{self.escape(text)}```"

    def write(self, text: str) -> str:
        """Return the whole text in the platform's markup."""
        return "\n\n".join("\n".join(self.list_lines(block)) for block in parse(text))

    def list_lines(self, block: Block) -> Iterator[str]:
        """Return a block's lines."""
        match block:
            case Paragraph(runs=runs):
                yield from self.write_words(runs).split("\n")
            case Heading(runs=runs):
                yield from self.write_heading(runs)
            case CodeBlock(text=text):
                yield self.write_code(text)
            case QuoteBlock(blocks=blocks):
                for inner in blocks:
                    yield from (f"{self.quote_mark}{line}" for line in self.list_lines(inner))
            case Listing():
                for index, item in enumerate(block.items):
                    lines = [line for inner in item for line in self.list_lines(inner)]
                    yield f"{block.mark(index, self.bullet)} {lines[0] if lines else ''}"
                    yield from (f"{self.indent}{line}" for line in lines[1:])
            case TableBlock():
                yield from self.write_table(block)
            case Rule():
                yield "———"

    def write_words(self, runs: Sequence[Run]) -> str:
        """Return running text with its marks."""
        return "".join(self._write_run(run) for run in runs)

    def _write_run(self, run: Run) -> str:
        if run.link and (linked := self.write_link(run)) is not None:
            return linked
        text = self.escape(run.text)
        core = text.strip()
        if not core or "\n" in core:
            return text
        for style, mark in _MARKS:
            if style in run.styles:
                core = f"{mark}{core}{mark}"
        prefix = text[: len(text) - len(text.lstrip())]
        return prefix + core + text[len(text.rstrip()) :]
