"""Fetched documents as text: pages as Markdown, PDF files page by page, and plain text."""

import json
import re
from dataclasses import dataclass

from agent_core.tools.web.faults import SourceFailed
from agent_core.tools.web.fetching import Page
from agent_core.tools.web.reader_process import ReaderCommand, ReaderPool
from agent_core.tools.web.readers.decoding import decode
from agent_core.transcript import strip_controls

_MARKDOWN_READER = "agent_core.tools.web.readers.markdown_reader"
_PDF_READER = "agent_core.tools.web.readers.pdf_reader"
_SECONDS = 20.0
_ESCAPED = 12
"""Most bytes that one character takes in JSON."""
_MOST_MARKUP = 2_000_000
"""Bytes of a page that are read."""
_MOST_PDF = 1_000_000
"""Characters of a PDF file that can be read."""
_HTML = ("text/html", "application/xhtml+xml")
_PICTURES = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,60}")
_LOOKED_AT = 8192
_MARKUP = (b"<!doctype html", b"<html")
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Byte-order marks of texts in which zeros are ordinary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """A part of a document's text. `length` is that of the whole text, in characters.

    `note` is a sentence about what was left out, or "". `pages` are those of a PDF file.
    """

    text: str
    length: int
    title: str = ""
    note: str = ""
    pages: int = 0


async def read_document(page: Page, readers: ReaderPool, begin: int, most: int) -> Extract:
    """Read up to `most` characters of a document from `begin` on. Raises `SourceFailed`."""
    media_type = _find_type(page)
    if media_type == "application/pdf":
        return await read_pdf(page.body, readers, begin, most)
    if media_type in _HTML:
        return await _read_html(page, readers, begin, most)
    size = f"{len(page.body):,} bytes"
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        raise SourceFailed(
            f"it is a picture ({media_type}, {size}), and only JPEG, PNG, GIF and WebP can be shown"
        )
    if b"\0" in page.body[:_LOOKED_AT] and not page.body.startswith(_WIDE):
        raise SourceFailed(
            f"it is a file without text ({media_type}, {size}); pages, PDF files, JSON and other"
            " texts can be read"
        )
    text = decode(page.body, page.charset)
    return Extract(text=strip_controls(text[begin : begin + most]), length=len(text))


def _find_type(page: Page) -> str:
    """Find the type of a document: by its first bytes, or as the server says."""
    begin = page.body[:_LOOKED_AT].lstrip()
    if begin.startswith(b"%PDF-"):
        return "application/pdf"
    for mark, media_type in _PICTURES:
        if begin.startswith(mark):
            return media_type
    said = page.media_type.lower()
    if said == "application/octet-stream" and begin[:20].lower().startswith(_MARKUP):
        return "text/html"
    return said if _MEDIA_TYPE.fullmatch(said) else "application/octet-stream"


async def _read_html(page: Page, readers: ReaderPool, begin: int, most: int) -> Extract:
    arguments = page.url, page.charset, str(begin), str(most)
    body = page.body[:_MOST_MARKUP]
    found = await _run(readers, _MARKDOWN_READER, body, arguments, most)
    text, length, title = found.get("text"), found.get("length"), found.get("title")
    if not isinstance(text, str) or not isinstance(length, int) or not length:
        raise SourceFailed("it contains no text; it may need a browser that runs scripts")
    cut = (
        f"Only its first {_MOST_MARKUP / 1e6:g} MB were read." if len(page.body) > len(body) else ""
    )
    return Extract(text=strip_controls(text), length=length, title=str(title), note=cut)


async def read_pdf(data: bytes, readers: ReaderPool, begin: int, most: int) -> Extract:
    """Read a part of a PDF file's text, which is "" for a scan. Raises `SourceFailed`."""
    # Reading stops one character after the wanted part, which tells that there is more.
    end = min(begin + most + 1, _MOST_PDF)
    found = await _run(readers, _PDF_READER, data, (str(end),), end)
    if found.get("fault") == "encrypted":
        raise SourceFailed("it is a PDF file with a password")
    text, count, pages = found.get("text"), found.get("read"), found.get("pages")
    if not isinstance(text, str) or not isinstance(pages, int) or not pages:
        raise SourceFailed("it is a PDF file without pages")
    shown = text[begin : begin + most] if text.strip() else ""
    note = f"Read up to page {count} of {pages}." if shown and count != pages else ""
    length = len(text) if shown else 0
    return Extract(text=strip_controls(shown), length=length, note=note, pages=pages)


async def _run(
    readers: ReaderPool, program: str, data: bytes, arguments: tuple[str, ...], most: int
) -> dict[str, object]:
    """Run a reader and return what it reports. Raises `SourceFailed`."""
    said = await readers.run(
        ReaderCommand(
            program=program,
            arguments=arguments,
            data=data,
            seconds=_SECONDS,
            most_bytes=most * _ESCAPED + 10_000,
        )
    )
    found = json.loads(said)
    return found if isinstance(found, dict) else {}
