"""Text of Office files, e-books and RTF, from their bytes; pure, with Python's own parsers only.

Runs in the separate process of `package_reader`. Import it nowhere else.
"""

import io
import itertools
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from html.parser import HTMLParser
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from gateway.media.package_limits import Package, PackageFault

_DAY_ZERO = {"0": datetime(1899, 12, 30), "1": datetime(1904, 1, 1)}
"""Day 0 of a workbook's dates: "0" as in Excel for Windows, "1" as in old versions for the Mac."""
_DATE_FORMATS = frozenset({*range(14, 23), *range(45, 48)})
"""Built-in number formats that show a date or a time (ECMA-376, 18.8.30)."""
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_COLUMN = re.compile(r"[A-Z]{1,3}")
_MOST_COLUMNS = 256
_LEFT_OUT = frozenset({"Fallback", "del", "instrText", "rPh", "annotation", "tracked-changes"})
"""Elements to skip: fallback renderings, deleted text, field codes, phonetic guides, comments."""
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "line-break": "\n"}

Pieces = Iterator[str]
"""Paragraphs, rows and headings, in their order."""


def find_format(package: Package) -> Callable[[Package], Pieces] | None:
    """Return the function that reads a zip file as a document; None if it is no document."""
    names = package.names
    if "word/document.xml" in names:
        return _read_word
    if "xl/workbook.xml" in names:
        return _read_workbook
    if "ppt/presentation.xml" in names:
        return _read_slides
    if "META-INF/container.xml" in names and "mimetype" in names:
        return _read_book
    return _read_open_document if "content.xml" in names and "mimetype" in names else None


def _name(element: Element) -> str:
    """Return a tag without its namespace: strict and transitional files differ in nothing else."""
    return str(element.tag).rpartition("}")[2]


def _attribute(element: Element, name: str) -> str:
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return value
    return ""


def _find_all(element: Element, name: str) -> Iterator[Element]:
    return (one for one in element.iter() if _name(one) == name)


def _join(element: Element) -> str:
    """Return the text runs of a paragraph or a cell."""
    return "".join(_list_runs(element))


def _list_runs(element: Element) -> Iterator[str]:
    for child in element:
        name = _name(child)
        if name in _LEFT_OUT:
            continue
        if name == "t":
            yield child.text or ""
        elif name in _BREAKS:
            yield _BREAKS[name]
        else:
            yield from _list_runs(child)


def _make_row(cells: Iterator[str] | list[str]) -> str:
    texts = [" ".join(cell.split()) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return f"| {' | '.join(texts)} |" if texts else ""


def _read_word(package: Package) -> Pieces:
    for part in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
        if part in package.names:
            yield from _read_blocks(package.parse(part))


def _read_blocks(element: Element) -> Pieces:
    for child in element:
        name = _name(child)
        if name == "p":
            style = next((_attribute(one, "val") for one in _find_all(child, "pStyle")), "")
            level = re.fullmatch(r"[Hh]eading ?([1-6])", style)
            text = _join(child)
            yield f"{'#' * int(level[1])} {text}" if level and text else text
        elif name == "tbl":
            for row in (one for one in child if _name(one) == "tr"):
                yield _make_row([_join_blocks(cell) for cell in row if _name(cell) == "tc"])
        elif name not in _LEFT_OUT:
            yield from _read_blocks(child)


def _join_blocks(cell: Element) -> str:
    return " ".join(_read_blocks(cell))


def _list_parts(package: Package, base: str, element: str) -> Iterator[tuple[str, Element]]:
    """Yield each part that a main part lists in such elements, with the element, in order."""
    targets = dict(_list_relations(package, base))
    for listed in _find_all(package.parse(base), element):
        ids = [value for key, value in listed.attrib.items() if key.endswith("}id")]
        for part in (targets.get(one, "") for one in ids):
            if part in package.names:
                yield part, listed


def _list_relations(package: Package, part: str) -> Iterator[tuple[str, str]]:
    folder, name = posixpath.split(part)
    relations = f"{folder}/_rels/{name}.rels"
    if relations in package.names:
        for one in package.parse(relations):
            target = posixpath.normpath(posixpath.join("/", folder, one.get("Target", "")))
            yield one.get("Id", ""), target.lstrip("/")


def _read_slides(package: Package) -> Pieces:
    for number, (part, _) in enumerate(_list_parts(package, "ppt/presentation.xml", "sldId"), 1):
        yield f"## {number}"
        yield from (_join(one) for one in _find_all(package.parse(part), "p"))
        for _, notes in _list_relations(package, part):
            if notes.startswith("ppt/notesSlides/") and notes in package.names:
                yield from (_join(one) for one in _find_all(package.parse(notes), "p"))


def _read_workbook(package: Package) -> Pieces:
    shared: list[str] = []
    if "xl/sharedStrings.xml" in package.names:
        shared = [_join(one) for one in package.parse("xl/sharedStrings.xml")]
    dates = _find_date_styles(package)
    properties = next(_find_all(package.parse("xl/workbook.xml"), "workbookPr"), None)
    is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    zero = _DAY_ZERO["1" if is_1904 else "0"]
    for part, sheet in _list_parts(package, "xl/workbook.xml", "sheet"):
        yield f"## {sheet.get('name', '')}"
        # Parse row by row: the tree of a whole sheet takes twenty times its size in memory.
        for _, element in ET.iterparse(io.BytesIO(package.read(part))):  # noqa: S314 - confined
            if _name(element) == "row":
                yield _make_row(_list_cells(element, shared, dates, zero))
                element.clear()


def _find_date_styles(package: Package) -> frozenset[str]:
    """Return the cell styles that show their number as a date or a time."""
    if "xl/styles.xml" not in package.names:
        return frozenset()
    styles = package.parse("xl/styles.xml")
    own = {
        one.get("numFmtId", "")
        for one in _find_all(styles, "numFmt")
        if re.search("[ymdhs]", _LITERAL.sub("", one.get("formatCode", "").lower()))
    }
    built_in = {str(number) for number in _DATE_FORMATS}
    formats: Iterable[Element] = next(_find_all(styles, "cellXfs"), ())
    return frozenset(
        str(number)
        for number, one in enumerate(formats)
        if one.get("numFmtId", "") in own | built_in
    )


def _list_cells(
    row: Element, shared: list[str], dates: frozenset[str], zero: datetime
) -> list[str]:
    cells: list[str] = []
    for cell in row:
        letters = _COLUMN.match(cell.get("r", ""))
        column = _number(letters[0]) if letters else len(cells)
        if column >= _MOST_COLUMNS:
            break
        cells += [""] * (column - len(cells))
        cells.append(_read_cell(cell, shared, dates, zero))
    return cells


def _number(letters: str) -> int:
    """Return the number of a column from its letters: 0 for A."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _read_cell(cell: Element, shared: list[str], dates: frozenset[str], zero: datetime) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _join(cell)
    value = next((one.text or "" for one in cell if _name(one) == "v"), "")
    if kind == "s":
        return shared[int(value)] if value.isdecimal() and int(value) < len(shared) else ""
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind == "n" and value and cell.get("s", "0") in dates:
        return _show_date(value, zero)
    return value


def _show_date(value: str, zero: datetime) -> str:
    try:
        days = float(value)
        moment = zero + timedelta(seconds=round(days * 86_400))
    except (ValueError, OverflowError):
        return value
    if 0 <= days < 1:
        return f"{moment:%H:%M}"
    return f"{moment:%Y-%m-%d}" if days.is_integer() else f"{moment:%Y-%m-%d %H:%M}"


def _read_open_document(package: Package) -> Pieces:
    if b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise PackageFault("encrypted")
    yield from _read_open_blocks(package.parse("content.xml"))


def _read_open_blocks(element: Element) -> Pieces:
    for child in element:
        name = _name(child)
        if name == "h":
            level = _attribute(child, "outline-level")
            yield f"{'#' * min(int(level) if level.isdecimal() else 1, 6)} {_join_open(child)}"
        elif name == "p":
            yield _join_open(child)
        elif name == "table-row":
            yield _make_row(_list_open_cells(child))
        elif name not in _LEFT_OUT:
            if name in ("table", "page"):
                yield f"## {_attribute(child, 'name')}"
            yield from _read_open_blocks(child)


def _list_open_cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        repeated = _attribute(cell, "number-columns-repeated")
        count = int(repeated) if repeated.isdecimal() else 1
        text = " ".join(_read_open_blocks(cell))
        cells += itertools.repeat(text, min(count, _MOST_COLUMNS - len(cells)))
    return cells


def _join_open(element: Element) -> str:
    """Return the text of a paragraph: the text before, in and after its child elements."""
    pieces = [element.text or ""]
    for child in element:
        name = _name(child)
        if name == "s":
            spaces = _attribute(child, "c")
            pieces.append(" " * min(int(spaces) if spaces.isdecimal() else 1, 100))
        elif name in _BREAKS:
            pieces.append(_BREAKS[name])
        elif name not in _LEFT_OUT:
            pieces.append(_join_open(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def _read_book(package: Package) -> Pieces:
    container = package.parse("META-INF/container.xml")
    root = next((one.get("full-path", "") for one in _find_all(container, "rootfile")), "")
    book = package.parse(root)
    items = {one.get("id"): one.get("href", "") for one in _find_all(book, "item")}
    for chapter in _find_all(book, "itemref"):
        href = items.get(chapter.get("idref"), "")
        part = posixpath.normpath(posixpath.join(posixpath.dirname(root), href))
        if part in package.names:
            reader = _PageReader()
            reader.feed(package.read(part).decode("utf-8", "replace"))
            yield from "".join(reader.pieces).split("\n")


_UNSHOWN = ("title", "script", "style")


class _PageReader(HTMLParser):
    """Collects the text of a chapter, one line per block."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._is_hidden = False

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self._is_hidden = self._is_hidden or tag in _UNSHOWN
        if tag in ("p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6"):
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._is_hidden = self._is_hidden and tag not in _UNSHOWN

    def handle_data(self, data: str) -> None:
        if not self._is_hidden:
            self.pieces.append(" ".join(data.split()) + " " if data.strip() else "")


_TOKEN = re.compile(
    r"\\u(-?\d{1,6}) ?|\\'([0-9a-fA-F]{2})|\\([a-z]{1,32})(-?\d{1,10})? ?|\\(.)|([{}])"
    r"|([^\\{}\r\n]+)|[\r\n]",
    re.DOTALL,
)
_FALLBACK = re.compile(r"(\\u-?\d{1,6} ?)(?:\\'[0-9a-fA-F]{2}|[^\\{}\r\n])")
"""The character after a Unicode escape, for readers that don't support Unicode."""
_SILENT = frozenset(
    (
        *("fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "fldinst", "themedata"),
        *("listtable", "listoverridetable", "rsidtbl", "generator", "header", "footer"),
    )
)
_SIGNS = {"par": "\n", "line": "\n", "row": "\n", "sect": "\n", "page": "\n", "tab": "\t"} | {
    "cell": " | ",
    "emdash": "\N{EM DASH}",
    "endash": "\N{EN DASH}",
    "bullet": "\N{BULLET}",
    "lquote": "\N{LEFT SINGLE QUOTATION MARK}",
    "rquote": "\N{RIGHT SINGLE QUOTATION MARK}",
    "ldblquote": "\N{LEFT DOUBLE QUOTATION MARK}",
    "rdblquote": "\N{RIGHT DOUBLE QUOTATION MARK}",
}


def read_rtf(data: bytes) -> str:
    """Return the text of an RTF file; bytes outside of Unicode escapes count as Windows-1252."""
    pieces: list[str] = []
    silent = [False]
    source = data.decode("cp1252", "replace")
    if "\\uc0" not in source:
        source = _FALLBACK.sub(r"\1", source)
    for found in _TOKEN.finditer(source):
        unicode, code, word, _, sign, brace, text = found.groups()
        if brace == "{":
            silent.append(silent[-1])
        elif brace == "}":
            silent = silent[:-1] or [False]
        elif word in _SILENT or sign == "*":
            silent[-1] = True
        elif silent[-1]:
            continue
        elif unicode:
            pieces.append(chr(int(unicode) % 0x10000))
        elif code:
            pieces.append(bytes.fromhex(code).decode("cp1252", "replace"))
        elif word:
            pieces.append(_SIGNS.get(word, ""))
        elif sign:
            pieces.append(" " if sign == "~" else sign if sign in "\\{}" else "")
        elif text:
            pieces.append(text)
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
