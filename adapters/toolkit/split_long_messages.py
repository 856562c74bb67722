"""Splits long messages: Markdown in parts within a limit, cut where that disturbs least."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace

from adapters.toolkit.markdown import Paragraph, parse

_OPENER = re.compile(
    r"(?P<quote>[ ]{0,3}(?:>[ ]?)*)"
    r"(?P<indent>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)"
    r"(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>.*)\Z"
)
_CLOSER = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})[ \t]*\Z")
_NESTED_ITEM = re.compile(r"(?P<indent>[ \t]{2,})(?:[-*+]|\d{1,9}[.)])[ \t]")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_TABLE_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
"""The line between the header of a table and its rows."""
_CODE_GAP = re.compile(r"\n[ \t]*\n(?=\S)")
_BLANK = re.compile(r"\s")

_LONGEST_LANGUAGE = 32
"""The most characters of a fence's language, which every part of its block repeats; a longer one is
dropped.
"""
_LONGEST_CLUSTER = 64
"""Code points searched for a grapheme boundary; Unicode's longest emoji has 10."""
_PATIENT_TRIES = 8
"""The most proportional guesses; after them, a part is halved until it fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fence:
    """A code block: its opening line, and where its first line and its code start."""

    quote: str
    indent: int
    mark: str
    language: str
    starts: int
    code_starts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table: where its header, its rows and what follows start."""

    starts: int
    rows_start: int
    ends: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A text with the positions of its code blocks and tables.

    `fences[i]` applies from `borders[i]` on; None stands for running text.
    """

    text: str
    borders: list[int]
    fences: list[_Fence | None]
    tables: list[_Table]

    def fence_at(self, place: int) -> _Fence | None:
        return self.fences[bisect_right(self.borders, place) - 1]

    def table_at(self, place: int) -> _Table | None:
        """Return the table that has rows on both sides of `place`, or a part of its header."""
        after = bisect_right(self.tables, place, key=lambda table: table.starts)
        table = self.tables[after - 1] if after else None
        return table if table and table.starts < place < table.ends else None

    def header_of(self, table: _Table) -> str:
        """Return the header of a table, with the line below it."""
        return self.text[table.starts : table.rows_start]


def split_markdown(text: str, *, limit: int, measure: Callable[[str], int]) -> tuple[str, ...]:
    """Split a text into parts with `measure(part) <= limit`; a blank text is one empty part.

    It splits between paragraphs, otherwise lines, words or graphemes; in code, if possible, before
    a line at the margin. A split code block is closed and reopened with its language. Only blanks
    at a split are lost. The time is linear if `measure` is. A part exceeds the limit only if a
    single character does.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return ("",)
    if len(text) <= 2 * limit and measure(text) <= limit:
        return (text,)
    source = _survey(text)
    # The header of a table is repeated above its rows in the next part, unless it takes the room.
    short = [one for one in source.tables if measure(source.header_of(one)) * 4 <= limit]
    source = replace(source, tables=short)
    parts: list[str] = []
    start = _skip(source, 0)
    while start < len(text):
        part, end = _take(source, start, limit, measure)
        if text[start:end].strip():
            parts.append(part)
        start = _skip(source, end)
    return tuple(parts)


def close_code(text: str) -> str:
    """Close a code block that would swallow a paragraph after the text.

    A block in a list or a quote ends with the list or quote.
    """
    fence = _survey(text).fences[-1]
    if fence is None or isinstance(parse(f"{text}\n\n.")[-1], Paragraph):
        return text
    gap = "" if text.endswith("\n") else "\n"
    return f"{text}{gap}{fence.mark}"


def _survey(text: str) -> _Source:
    """Find the code blocks."""
    borders: list[int] = [0]
    fences: list[_Fence | None] = [None]
    tables: list[_Table] = []
    fence: _Fence | None = None
    start = 0
    before, before_starts = "", 0
    for line in text.split("\n"):
        end = start + len(line) + 1
        if fence is None and tables and tables[-1].ends == start and "|" in line:
            tables[-1] = replace(tables[-1], ends=end)
        elif fence is None and "|" in before and "|" in line and _TABLE_RULE.match(line):
            tables.append(_Table(starts=before_starts, rows_start=end, ends=end))
        before, before_starts = line, start
        if fence is not None and fence.quote and not line.lstrip().startswith(">"):
            fence = None  # the quote is over, and so is a block in it
            borders.append(start)
            fences.append(None)
        if fence is None:
            fence = _open(line, start, end)
            if fence is not None:
                borders.append(start + 1)
                fences.append(fence)
        elif _closes(line, fence):
            fence = None
            borders.append(end)
            fences.append(None)
        start = end
    return _Source(text=text, borders=borders, fences=fences, tables=tables)


def _open(line: str, start: int, end: int) -> _Fence | None:
    if "```" not in line and "~~~" not in line:
        return None
    found = _OPENER.match(line)
    if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
        return None
    language = found["info"].split(maxsplit=1)[0] if found["info"].strip() else ""
    return _Fence(
        quote=found["quote"] if ">" in found["quote"] else "",
        indent=len(found["indent"]) + (0 if ">" in found["quote"] else len(found["quote"])),
        mark=found["mark"],
        language=language if len(language) <= _LONGEST_LANGUAGE else "",
        starts=start,
        code_starts=end,
    )


def _closes(line: str, fence: _Fence) -> bool:
    if fence.mark not in line:
        return False
    found = _CLOSER.match(line)
    return found is not None and found["mark"].startswith(fence.mark)


def _skip(source: _Source, place: int) -> int:
    """Skip the blanks between two parts; they are invisible."""
    text = source.text
    fence = source.fence_at(place)
    if fence is not None:
        is_line_start = text[place - 1] == "\n"
        if not is_line_start and text.startswith("\n", place):
            place += 1
            is_line_start = True
        rest = text[place : text.find("\n", place) + 1 or len(text)]
        if is_line_start and _closes(rest.removesuffix("\n"), fence):
            return _skip(source, place + len(rest))
        return place
    line = place
    while place < len(text) and text[place].isspace():
        place += 1
        if text[place - 1] == "\n":
            line = place
    # The indentation of a line has a meaning; blanks between two words have none.
    is_line_start = line == 0 or text[line - 1] == "\n"
    return line if place < len(text) and is_line_start else place


def _take(
    source: _Source, start: int, limit: int, measure: Callable[[str], int]
) -> tuple[str, int]:
    """Return the next part and its end; measures only a few times."""
    window = limit
    tries = 0
    while True:
        end = _cut(source, start, window)
        part = _build(source, start, end)
        size = measure(part)
        length = end - start
        if size <= limit or length <= 1:
            return part, end
        tries += 1
        fitting = length * limit // size * 19 // 20 if tries < _PATIENT_TRIES else length // 2
        window = max(1, min(fitting, length - 1))


def _build(source: _Source, start: int, end: int) -> str:
    """Build the part from `start` to `end`; open code blocks are reopened and closed."""
    part = source.text[start:end]
    first = source.fence_at(start)
    last = source.fence_at(end) if end < len(source.text) else None
    if last is not None:
        margin = "" if last is first else " " * last.indent
        part = f"{part.rstrip(chr(10))}\n{last.quote}{margin}{last.mark}"
    elif end < len(source.text):
        part = part.rstrip()
    if first is not None:
        return f"{first.quote}{first.mark}{first.language}\n{_dedent_code(part, first)}"
    item = _NESTED_ITEM.match(part)
    if item is not None:
        return _dedent_items(part, item["indent"])
    table = source.table_at(start)
    is_row = table is not None and start >= table.rows_start and source.text[start - 1] == "\n"
    return source.header_of(table) + part if table is not None and is_row else part


def _dedent_code(part: str, fence: _Fence) -> str:
    """Move a reopened block and its lines to the margin."""
    if not fence.indent:
        return part
    lines = part.split("\n")
    for index, line in enumerate(lines):
        blanks = len(line) - len(line.lstrip(" \t"))
        lines[index] = line[min(blanks, fence.indent) :]
        if _closes(line, fence):
            break
    return "\n".join(lines)


def _dedent_items(part: str, indent: str) -> str:
    """Move inner list items at the start of a part to the margin, or they would become code."""
    lines = part.split("\n")
    for index, line in enumerate(lines):
        if line.strip() and not line.startswith(indent):
            break
        lines[index] = line.removeprefix(indent)
    return "\n".join(lines)


def _cut(source: _Source, start: int, window: int) -> int:
    """Return the best split position in `(start, start + window]`."""
    text = source.text
    end = start + window
    if end >= len(text):
        return len(text)
    middle = start + window // 2
    fence = source.fence_at(end)
    if fence is not None and fence.starts > start + window // 4:
        return fence.starts
    table = source.table_at(end)
    if table is not None and (place := _cut_table(text, table, start, end)) is not None:
        return place
    # The first line of a code block is never alone in a part: some code stays with it.
    floor = start if fence is None else max(start, fence.code_starts)
    places = (
        _last_paragraph(source, middle, end),
        None if fence is None else _last_gap(text, max(floor, start + window * 3 // 4), end),
        _after_last("\n", text, max(floor, middle), end),
        _after_last(" ", text, middle, end) if fence is None else None,
        _after_last("\n", text, floor, end),
        _last_blank(text, start, end) if fence is None else None,
        fence.starts if fence is not None and fence.starts > start else None,
    )
    return next((place for place in places if place is not None), _border(text, start, end))


def _cut_table(text: str, table: _Table, start: int, end: int) -> int | None:
    """Return the position before a table that fits in one part, else after its last whole row.

    None if a single row is longer than a part.
    """
    window = end - start
    if table.starts > start + window // 4 and table.ends - table.starts <= window:
        return table.starts
    # A header is never alone in a part: a row stays with it.
    floor = max(start, text.find("\n", table.rows_start))
    place = _after_last("\n", text, floor - 1, end)
    if place is None and table.starts > start:
        return table.starts
    return place


def _last_paragraph(source: _Source, start: int, end: int) -> int | None:
    """Return the position after the last blank line of text or the last complete code block."""
    found = None
    for match in _PARAGRAPH_END.finditer(source.text, start, end):
        if source.fence_at(match.start() + 1) is None:
            found = match.end()
    return found


def _last_gap(text: str, start: int, end: int) -> int | None:
    """Return the position after the last blank line before code at the margin."""
    return max((found.end() for found in _CODE_GAP.finditer(text, start, end)), default=None)


def _after_last(mark: str, text: str, start: int, end: int) -> int | None:
    place = text.rfind(mark, start + 1, end)
    return place + 1 if place > start else None


def _last_blank(text: str, start: int, end: int) -> int | None:
    for place in range(end - 1, start, -1):
        if _BLANK.match(text[place]):
            return place + 1
    return None


def _border(text: str, start: int, end: int) -> int:
    """Return the last grapheme boundary in `(start, end]`; `end` if none is near."""
    for place in range(end, max(start, end - _LONGEST_CLUSTER), -1):
        if not _joins(text, start, place):
            return place
    return end


def _joins(text: str, start: int, place: int) -> bool:
    """True when the characters around `place` form one grapheme (UAX 29)."""
    before, behind = text[place - 1], text[place]
    if before == "\u200d" or _extends(behind):
        return True
    if _is_flag_half(before) and _is_flag_half(behind):
        first = place - 1
        while first > start and _is_flag_half(text[first - 1]):
            first -= 1
        return (place - first) % 2 == 1
    return "\ud800" <= before <= "\udbff" and "\udc00" <= behind <= "\udfff"


def _extends(letter: str) -> bool:
    if letter.isascii():
        return False
    return (
        letter == "\u200d"
        or "\U0001f3fb" <= letter <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= letter <= "\U000e007f"  # tags of regional flags
        or unicodedata.category(letter) in ("Mn", "Me", "Mc")
    )


def _is_flag_half(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
