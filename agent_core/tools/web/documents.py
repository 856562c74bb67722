"""Fetched documents as text: pages as Markdown, PDF files page by page, and plain text."""

import re

from agent_core.tools.readers.decoding import decode
from agent_core.tools.readers.documents import Extract, read_pdf, run_reader
from agent_core.tools.readers.faults import SourceFailed
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.web.fetching import Page
from agent_core.transcript import strip_controls

_MARKDOWN_READER = "agent_core.tools.readers.markdown_reader"
_MOST_MARKUP = 2_000_000
"""Bytes of a page that are read."""
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
"""Byte-order marks of encodings whose texts normally contain zero bytes."""


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
    """Find a document's type by its first bytes, or else by the server's header."""
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
    found = await run_reader(readers, _MARKDOWN_READER, body, arguments, most)
    text, length, title = found.get("text"), found.get("length"), found.get("title")
    if not isinstance(text, str) or not isinstance(length, int) or not length:
        raise SourceFailed("it contains no text; it may need a browser that runs scripts")
    cut = (
        f"Only its first {_MOST_MARKUP / 1e6:g} MB were read." if len(page.body) > len(body) else ""
    )
    return Extract(text=strip_controls(text), length=length, title=str(title), note=cut)
