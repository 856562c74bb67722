"""Renders Markdown as Telegram's text with entities; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from adapters.toolkit.markdown import Run
from adapters.toolkit.spans import Span, SpanWriter
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

_MAYBE_CODE = re.compile(r"```|~~~|(?:    |\t)")
_SHOWN_LINK = re.compile(
    r"(?:https?://(?:[^\s/?#@]+@)?(?:[^\s/?#@.]+\.)+[^\s/?#@.:]{2,}(?::\d+)?(?:[/?#]\S*)?"
    r"|https?://\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:[/?#]\S*)?"
    r"|tg://\S+)\Z",
    re.IGNORECASE,
)


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
    found = _Writer().lay_out(markdown)
    entities = (
        Entity(
            kind=span.format.kind,
            offset=span.start,
            length=span.length,
            url=span.format.url,
            language=span.format.language,
        )
        for span in found.spans
    )
    return Page(text=found.text, entities=_in_order(entities))


@dataclass(frozen=True, slots=True)
class _Format:
    """Says what an entity does to its slice."""

    kind: EntityKind
    url: str | None = None
    language: str | None = None


class _Writer(SpanWriter[_Format]):
    """Writes Telegram's entities."""

    def list_formats(self, run: Run, *, is_bold: bool) -> Sequence[_Format]:
        """Return a run's formats. Telegram combines code with no other format or link."""
        if "code" in run.styles and run.link is None:
            return [_Format("code")]
        formats: list[_Format] = []
        if run.link is not None:
            formats.append(_Format("text_link", url=run.link))
        if "bold" in run.styles or is_bold:
            formats.append(_Format("bold"))
        if "italic" in run.styles:
            formats.append(_Format("italic"))
        if "strike" in run.styles:
            formats.append(_Format("strikethrough"))
        return formats

    def format_code(self, language: str) -> _Format:
        return _Format("pre", language=language or None)

    def format_quote(self) -> _Format:
        return _Format("blockquote")

    def is_linked(self, address: str) -> bool:
        return _SHOWN_LINK.match(address) is not None

    def find_start(self, text: str, spans: Sequence[Span[_Format]]) -> int:
        """Leave out blanks, as Telegram does.

        Telegram keeps blanks from the first entity on, so a code block keeps the indentation of its
        first line.
        """
        left = len(text) - len(text.lstrip())
        if any(span.format.kind == "pre" and span.start < left for span in spans):
            left = text.rfind("\n", 0, left) + 1
        return left


def _in_order(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Sort by position, the outer of two that begin together first."""
    return tuple(
        sorted(
            entities,
            key=lambda entity: (entity.offset, -entity.length, _IMPORTANCE.index(entity.kind)),
        )
    )
