"""The words of a rich message: its blocks as lines, whatever their kinds. Pure."""

import re
from typing import Any

from adapters.telegram.read_entities import Words
from adapters.toolkit.text import Json, plain_text

_INLINE = ("text", "alternative_text", "expression")
"""The fields of a rich text that hold its words (Bot API 10.1: RichText)."""
_BLOCKS = ("blocks", "items", "summary", "caption", "credit")
"""The fields of a block that hold further blocks or rich texts (Bot API 10.1: RichBlock)."""
_DEEPEST = 40
"""The most blocks within each other that are read."""


def read_rich(rich: Json, *, username: str) -> Words:
    """Return the words of a rich message, without the bot's name. `username` is without the @."""
    lines = _read_blocks(rich.get("blocks"), _DEEPEST)
    text = "\n".join(line for line in lines if line.strip())
    name = re.compile(rf"@{re.escape(username)}\b", re.IGNORECASE)
    is_named = bool(username and name.search(text))
    return Words(text=plain_text(name.sub("", text) if is_named else text), is_named=is_named)


def _read_blocks(blocks: Any, depth: int) -> list[str]:
    """Return the lines of blocks; what has an unknown shape has none."""
    if isinstance(blocks, str):
        return [blocks]
    if isinstance(blocks, list):
        return [line for block in blocks for line in _read_blocks(block, depth - 1)]
    if not isinstance(blocks, dict) or depth <= 0:
        return []
    lines = [_read_inline(blocks, depth)]
    for key in _BLOCKS:
        lines += _read_blocks(blocks.get(key), depth - 1)
    cells = blocks.get("cells")
    for row in cells if isinstance(cells, list) else ():
        lines.append(" | ".join(_read_inline(cell, depth) for cell in row if isinstance(row, list)))
    return lines


def _read_inline(text: Any, depth: int) -> str:
    """Return the words of a rich text, with the addresses of its links."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(_read_inline(one, depth - 1) for one in text) if depth > 0 else ""
    if not isinstance(text, dict) or depth <= 0:
        return ""
    words = "".join(_read_inline(text.get(key), depth - 1) for key in _INLINE)
    url = text.get("url")
    return f"[{words}]({url})" if isinstance(url, str) and words not in ("", url) else words
