"""Extract the text of documents, PDF files included, in separate reader processes."""

import json
from dataclasses import dataclass

from agent_core.state.conversations.images import find_pdf_fault
from agent_core.tools.readers.faults import SourceFailed
from agent_core.tools.readers.pool import ReaderCommand, ReaderPool
from agent_core.transcript import strip_controls

_PDF_READER = "agent_core.tools.readers.pdf_reader"
_ESCAPED = 12
"""The most bytes that one character takes in JSON."""
_MOST_PDF = 1_000_000
"""Characters that can be read of a PDF file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """A part of a document's text. `length` is that of the whole text, in characters.

    `note` is a sentence about omitted parts, or "". `pages` is the number of pages of a PDF file.
    `whole` is the full text of a PDF file that can also be shown to a model.
    """

    text: str
    length: int
    title: str = ""
    note: str = ""
    pages: int = 0
    whole: str = ""


async def read_pdf(
    data: bytes,
    readers: ReaderPool,
    begin: int,
    most: int,
    pages_wanted: tuple[int, int] | None = None,
) -> Extract:
    """Read a part of a PDF file's text; a scan gives "". Raises `SourceFailed`.

    `pages_wanted` are the first and the last page to read, counted from 1.
    """
    # One character more than needed is read, to find out whether more text follows.
    end = min(begin + most + 1, _MOST_PDF)
    wanted = tuple(map(str, pages_wanted or ()))
    found = await run_reader(readers, _PDF_READER, data, (str(end), *wanted), end)
    if found.get("fault") == "encrypted":
        raise SourceFailed("it is a PDF file with a password")
    text, count, pages = found.get("text"), found.get("read"), found.get("pages")
    if not isinstance(text, str) or not isinstance(pages, int) or not pages:
        raise SourceFailed("it is a PDF file without pages")
    whole = text
    if count != pages and not pages_wanted and not find_pdf_fault(data, pages):
        found = await run_reader(readers, _PDF_READER, data, (str(_MOST_PDF),), _MOST_PDF)
        whole = str(found.get("text"))
    shown = text[begin : begin + most] if text.strip() else ""
    is_part = shown and count != pages and not pages_wanted
    note = f"Read up to page {count} of {pages}." if is_part else ""
    length = len(text) if shown else 0
    text = strip_controls(shown)
    return Extract(text=text, length=length, note=note, pages=pages, whole=whole)


async def run_reader(
    readers: ReaderPool, program: str, data: bytes, arguments: tuple[str, ...], most: int
) -> dict[str, object]:
    """Run a reader and return its report. Raises `SourceFailed`."""
    said = await readers.run(
        ReaderCommand(
            program=program,
            arguments=arguments,
            data=data,
            seconds=readers.seconds,
            most_bytes=most * _ESCAPED + 10_000,
        )
    )
    found = json.loads(said)
    return found if isinstance(found, dict) else {}
