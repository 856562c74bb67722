"""Long texts in questions: nothing pushes their end, or any part of them, out of sight."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

from agent_core.localization import Plural

PAGE_BREAK = "\n\f\n"
"""Separates the messages of a question: apps fold a long message, and show its beginning only."""
_COLUMNS = 60
"""Characters of a row on a narrow screen."""
_MOST_ROWS = 24
"""Rows that a screen shows beside the buttons and the list of what a call can reach."""
_END_ROWS = 8
_MOST_EMPTY = 2
_MOST_ALIKE = 3
_GAP = re.compile(r"[ \t]{3,}")
_TAB_COLUMNS = 8
_WIDEST_GAP, _WIDEST_INDENT = 8, 24
"""Columns of blanks within a line, and in front of it, that push nothing out of sight."""
_OLD_SCRIPTS, _WIDEST_CHARACTER = "\U00010000", 6
"""The first plane of scripts such as cuneiform, and the columns of its widest characters."""
_MARKS = str.maketrans({"⟨": r"\u27e8", "⟩": r"\u27e9"})
"""No text may bring marks of its own."""
_EMPTY = Plural("⟨{n:,} empty line⟩", "⟨{n:,} empty lines⟩")
_ALIKE = Plural("⟨the same line, {n:,} more time⟩", "⟨the same line, {n:,} more times⟩")
_BLANKS = Plural("⟨{n:,} space⟩", "⟨{n:,} spaces⟩")
_LEFT_OUT = Plural("⟨{n:,} more line⟩", "⟨{n:,} more lines⟩")
_CUT = Plural("⟨{n:,} more character⟩", "⟨{n:,} more characters⟩")


def squeeze(text: str) -> str:
    """Replace long runs of blanks, of empty lines and of equal lines by marks with their number."""
    lines: list[str] = []
    for line, run in groupby(_mark_gaps(text).split("\n"), key=str.rstrip):
        count = len(list(run))
        if not line and count > _MOST_EMPTY:
            lines.append(_EMPTY(count))
        elif line and count > _MOST_ALIKE:
            lines += [line, _ALIKE(count - 1)]
        else:
            lines += [line] * count
    return "\n".join(lines)


def _mark_gaps(text: str) -> str:
    text = text.translate(_MARKS)
    return _GAP.sub(lambda gap: _mark_gap(gap, text), text)


def _mark_gap(gap: re.Match[str], text: str) -> str:
    columns = sum(_TAB_COLUMNS if one == "\t" else 1 for one in gap[0])
    begins = gap.start() == 0 or text[gap.start() - 1] == "\n"
    ends = gap.end() == len(text) or text[gap.end()] == "\n"
    widest = _WIDEST_INDENT if begins else _WIDEST_GAP
    return gap[0] if ends or columns <= widest else _BLANKS(len(gap[0]))


def is_long(text: str) -> bool:
    """Return whether a text fills a narrow screen."""
    return len(_list_rows(text)) > _MOST_ROWS


def show_ends(text: str) -> str:
    """Return the beginning and the end of a long text, with a mark that counts what is between."""
    rows = _list_rows(text)
    first, last = rows[:_END_ROWS], rows[-_END_ROWS:]
    between = rows[_END_ROWS:-_END_ROWS]
    lines = sum(begins for begins, _ in between)
    cut = sum(len(row) for _, row in between)
    return "\n".join((_join(first), _LEFT_OUT(lines) if lines else _CUT(cut), _join(last)))


def _list_rows(text: str) -> list[tuple[bool, str]]:
    """Cut a text into the rows of a narrow screen; the first value says that a line begins."""
    return [
        (number == 0, row)
        for line in text.split("\n")
        for number, row in enumerate(_cut_line(line))
    ]


def _cut_line(line: str) -> list[str]:
    rows, begin, width = list[str](), 0, 0
    for position, one in enumerate(line):
        width += _measure(one)
        if width > _COLUMNS:
            rows.append(line[begin:position])
            begin, width = position, _measure(one)
    return [*rows, line[begin:]]


def _measure(character: str) -> int:
    """Return the columns that a character may take; those of old scripts can be very wide."""
    if character.isascii():
        return 1
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return _WIDEST_CHARACTER if character >= _OLD_SCRIPTS else 1


def _join(rows: Sequence[tuple[bool, str]]) -> str:
    joined = "".join(f"\n{row}" if begins else row for begins, row in rows)
    return joined.removeprefix("\n")
