"""Renders Markdown as Signal's text with styles; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from adapters.toolkit.markdown import Run
from adapters.toolkit.spans import SpanWriter

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A message's text, and its styles as signal-cli's `textStyle` wants them."""

    text: str
    styles: tuple[str, ...] = ()


class _Writer(SpanWriter[Style]):
    """Writes Signal's styles. Signal has no quoted paragraphs, and hides no addresses."""

    quote_mark = "│ "

    def list_formats(self, run: Run, *, is_bold: bool) -> Sequence[Style]:
        styles = {_STYLES[style] for style in run.styles}
        return sorted(styles | {"BOLD"} if is_bold else styles)

    def format_code(self, language: str) -> Style:
        return "MONOSPACE"


@lru_cache(maxsize=64)
def render(markdown: str) -> Page:
    """Render a message; cached, because a text is measured, sent and edited in turn."""
    found = _Writer().lay_out(markdown)
    spans = sorted(found.spans, key=lambda one: (one.start, -one.length))
    styles = tuple(f"{one.start}:{one.length}:{one.format}" for one in spans)
    return Page(text=found.text, styles=styles)


def measure(markdown: str) -> int:
    """Measure the bytes of a text once rendered."""
    return len(render(markdown).text.encode())
