"""Draws tables in letters of one width, for platforms that know no tables; pure."""

import unicodedata
from collections.abc import Callable, Sequence

from adapters.markdown import Alignment, Run, Table


def draw(table: Table, *, spell: Callable[[Sequence[Run]], str]) -> str:
    """The table as lines, each column as wide as its widest cell.

    `spell` says what the runs of a cell read like without any look.
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
    """Columns that a text takes in letters of one width: 2 for wide ones, 0 for marks."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
