"""Renders Markdown as Telegram's text with entities; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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

TEXT_LIMIT = 4096
"""UTF-16 units in one message after rendering (Bot API, sendMessage: text)."""

ENTITY_LIMIT = 100
"""Entities in one message; Telegram drops the rest (core.telegram.org/api/entities)."""

EntityKind = Literal["pre", "text_link", "blockquote", "code", "bold", "italic", "strikethrough"]
_IMPORTANCE: tuple[EntityKind, ...] = (
    "pre", "text_link", "blockquote", "code", "bold", "strikethrough", "italic",
)  # fmt: skip
_CARRIES_MEANING = ("pre", "text_link")

_BULLETS = ("•", "◦", "▪")
_RULE = "———"
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n{2,}")
_CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f]")
_MAYBE_CODE = re.compile(r"```|~~~|(?:    |\t)")
_SHOWN_LINK = re.compile(
    r"(?:https?://(?:[^\s/?#@]+@)?(?:[^\s/?#@.]+\.)+[^\s/?#@.:]{2,}(?::\d+)?(?:[/?#]\S*)?"
    r"|https?://\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:[/?#]\S*)?"
    r"|tg://\S+)\Z",
    re.IGNORECASE,
)
_NO_LINK = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A formatted slice of text. `offset` and `length` are in UTF-16 units."""

    kind: EntityKind
    offset: int
    length: int
    url: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A message's text and entities."""

    text: str
    entities: tuple[Entity, ...] = ()


def render(markdown: str) -> Page:
    """Render a message with at most 100 entities; drops formatting before words."""
    page = _lay_out(markdown)
    if len(page.entities) <= ENTITY_LIMIT:
        return page
    by_importance = sorted(page.entities, key=lambda entity: _IMPORTANCE.index(entity.kind))
    return Page(text=page.text, entities=_in_order(by_importance[:ENTITY_LIMIT]))


def measure(markdown: str) -> int:
    """Measure how many of a message's 4,096 units a text needs once rendered; never too few.

    A text that certainly fits is not parsed. Telegram shows at most 100 links and code blocks, so
    each counts for at least a hundredth of a message.
    """
    bound = _bound(markdown)
    if bound <= TEXT_LIMIT:
        return bound
    page = _lay_out(markdown)
    weighty = sum(entity.kind in _CARRIES_MEANING for entity in page.entities)
    return max(count_units(page.text), -(-weighty * TEXT_LIMIT // ENTITY_LIMIT))


def _bound(markdown: str) -> int:
    """Return an upper bound of `measure` without parsing; more than the limit if none is known.

    Rendering removes marks and adds a few characters between blocks, and only a line break can
    start a block. A tab becomes up to four blanks. The size of tables and escaped links is not
    estimated.
    """
    if is_plain(markdown):
        return count_units(markdown)
    if (
        "|" in markdown
        or "](" in markdown
        or "<" in markdown
        or len(_MAYBE_CODE.findall(markdown)) > ENTITY_LIMIT
    ):
        return TEXT_LIMIT + 1
    return count_units(markdown) + 4 * markdown.count("\n") + 3 * markdown.count("\t") + 4


@lru_cache(maxsize=64)
def _lay_out(markdown: str) -> Page:
    """Lay out the page; cached, because a text is measured, sent and edited in turn."""
    text = _CONTROLS.sub("", _UNSENDABLE.sub("\ufffd", markdown))
    if is_plain(text):
        return Page(text=_BLANK_LINES.sub("\n\n", text.strip("\n")))
    writer = _Writer()
    _write_blocks(writer, parse(text), depth=0, gap="\n\n")
    page = _trim("".join(writer.parts), writer.entities)
    # Markup around nothing, such as an empty link, is better shown raw than not at all.
    return page if page.text else Page(text=text.strip())


class _Writer:
    """Collects text and entities, and tracks the position in UTF-16 units."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.entities: list[Entity] = []
        self.at = 0

    def write(self, text: str) -> None:
        self.parts.append(text)
        self.at += count_units(text)

    def is_at_line_start(self) -> bool:
        """False right after the mark of a list item that begins with a list."""
        return not self.parts or self.parts[-1].endswith("\n")

    def mark(
        self, kind: EntityKind, start: int, *, url: str | None = None, language: str | None = None
    ) -> None:
        """Apply a format to the text written since `start`."""
        if self.at > start:
            self.entities.append(
                Entity(kind=kind, offset=start, length=self.at - start, url=url, language=language)
            )


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
            writer.mark("pre", start, language=block.language or None)
        case TableBlock():
            fitted = fit(block, spell=_spell)
            if isinstance(fitted, Listing):
                _write_list(writer, fitted, max(depth, 0))
            else:
                writer.write(fitted)
                writer.mark("pre", start)
        case QuoteBlock():
            # Telegram does not nest quotes, and a quote can begin only at the start of a line.
            _write_blocks(writer, block.blocks, depth=-1, gap="\n")
            if depth == 0:
                writer.mark("blockquote", start)
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
    """Write runs; a format that spans several runs becomes one entity."""
    open_looks: dict[tuple[EntityKind, str | None], int] = {}
    for run in _spell_out(runs, shown=_SHOWN_LINK):
        looks = _looks(run, is_bold=is_bold)
        for look in [look for look in open_looks if look not in looks]:
            writer.mark(look[0], open_looks.pop(look), url=look[1])
        for look in looks:
            open_looks.setdefault(look, writer.at)
        writer.write(run.text)
    for look, start in open_looks.items():
        writer.mark(look[0], start, url=look[1])


def _looks(run: Run, *, is_bold: bool) -> list[tuple[EntityKind, str | None]]:
    """Return a run's entities. Telegram combines code with no other format or link."""
    if "code" in run.styles and run.link is None:
        return [("code", None)]
    looks: list[tuple[EntityKind, str | None]] = []
    if run.link is not None:
        looks.append(("text_link", run.link))
    if "bold" in run.styles or is_bold:
        looks.append(("bold", None))
    if "italic" in run.styles:
        looks.append(("italic", None))
    if "strike" in run.styles:
        looks.append(("strikethrough", None))
    return looks


def _spell_out(runs: Sequence[Run], *, shown: re.Pattern[str]) -> Iterable[Run]:
    """Append the address of a link that cannot be clicked, unless the text is the address."""
    words = ""
    for index, run in enumerate(runs):
        if run.link is None or shown.match(run.link):
            yield run
            continue
        yield Run(text=run.text, styles=run.styles)
        words += run.text
        if index + 1 == len(runs) or runs[index + 1].link != run.link:
            if run.link and run.link not in (words, f"mailto:{words}"):
                yield Run(text=f" ({run.link})")
            words = ""


def _spell(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in _spell_out(runs, shown=_NO_LINK))


def _trim(text: str, entities: Sequence[Entity]) -> Page:
    """Trim blanks at both ends, as Telegram does, and shift the entities.

    Telegram keeps blanks from the first entity on, so a code block keeps the indentation of its
    first line.
    """
    left = len(text) - len(text.lstrip())
    if any(entity.kind == "pre" and entity.offset < left for entity in entities):
        left = text.rfind("\n", 0, left) + 1
    text = text[left:].rstrip()
    end = count_units(text)
    kept: list[Entity] = []
    for entity in entities:
        start = max(entity.offset - left, 0)
        stop = min(entity.offset - left + entity.length, end)
        if stop > start:
            kept.append(replace(entity, offset=start, length=stop - start))
    return Page(text=text, entities=_in_order(kept))


def _in_order(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Sort by position, the outer of two that begin together first."""
    return tuple(
        sorted(
            entities,
            key=lambda entity: (entity.offset, -entity.length, _IMPORTANCE.index(entity.kind)),
        )
    )
