"""Text extraction from documents: text files here, all others in separate processes."""

import json
import logging
from dataclasses import dataclass, replace
from typing import Any

from agent_core.execution.subprocesses.program import make_command
from agent_core.transcript import strip_controls
from gateway.media import sandboxed_process
from gateway.media.sandboxed_process import Bounds
from gateway.texts.attachments import FAULTS, Fault, describe_extent

_log = logging.getLogger(__name__)

_PDF_READER = "agent_core.tools.readers.pdf_reader"
_PACKAGE_READER = "gateway.media.package_reader"
_SECONDS = 20.0
_ESCAPED = 12
"""Largest number of bytes that one character takes in JSON."""
_MOST_CLEANED = 1_000_000
"""Characters or bytes of a text that are repaired; it takes about 0.1 s, in which nobody gets an
answer. Of what follows, only the length counts.
"""
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class DocumentFault(Exception):
    """A document can't be read; `fault` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault: Fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The text of a document; `extent` says how much of it was read, "" means all of it.

    `pages` is the number of pages of a PDF file. The text of a scanned PDF file is "".
    """

    text: str
    extent: str = ""
    pages: int = 0


def read_text(data: bytes, most: int) -> Extract:
    """Decode a text file: by its byte order mark, as UTF-8, or as Windows-1252. Pure."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return bound(data.decode(encoding), most)
    except UnicodeDecodeError:
        known = "cp1252" if encoding == "utf-8" else encoding
        head = data[:_MOST_CLEANED]
        return bound(head.decode(known, "replace"), most, unread=len(data) - len(head))


async def read_pdf(data: bytes, most: int) -> Extract:
    """Extract the text of a PDF file from its first page on. Raises `DocumentFault`."""
    reported = await _run(make_command(_PDF_READER, str(most)), data, most)
    extract, pages = bound(reported["text"], most), reported["pages"]
    if reported["is_cut"] or reported["read"] < pages:
        kept = describe_extent("characters", len(extract.text), None)
        read = describe_extent("pages", reported["read"], pages)
        return Extract(text=extract.text, extent=f"{kept} ({read})", pages=pages)
    return replace(extract, pages=pages)


async def read_package(data: bytes, most: int) -> Extract:
    """Extract the text of an Office file, an e-book or an archive. Raises `DocumentFault`."""
    reported = await _run(make_command(_PACKAGE_READER, str(most), has_packages=False), data, most)
    extract = bound(reported["text"], most)
    if not extract.text:
        raise DocumentFault("empty")
    if reported["is_cut"]:
        kept = describe_extent("characters", len(extract.text), None)
        return Extract(text=extract.text, extent=kept)
    return extract


async def _run(command: tuple[str, ...], data: bytes, most: int) -> dict[str, Any]:
    """Run a reader program and return its report. Raises `DocumentFault`."""
    try:
        done = await sandboxed_process.run(
            command,
            Bounds(seconds=_SECONDS, most_bytes=most * _ESCAPED + 1000),
            data=data,
            environ={},
        )
    except TimeoutError as error:
        raise DocumentFault("slow_document") from error
    except OSError as error:
        _log.error("the reader of documents can't be started: %s", error)
        raise DocumentFault("broken_document") from error
    try:
        reported = json.loads(done.output) if done.code == 0 else None
    except ValueError:
        reported = None
    if not isinstance(reported, dict):
        _log.info("a document can't be read: %s", done.complaint.rpartition("\n")[2])
        raise DocumentFault("slow_document" if done.code < 0 else "broken_document")
    if "fault" in reported:
        fault = reported["fault"]
        raise DocumentFault(fault if fault in FAULTS else "broken_document")
    return reported


def bound(text: str, most: int, *, unread: int = 0) -> Extract:
    """Remove misleading characters from a text, and cut it at `most` characters. Pure.

    `unread` is the length of what follows the text.
    """
    head = text[:_MOST_CLEANED].replace("\f", "\n")
    clean = strip_controls(head).strip()
    length = len(clean) + len(text) - len(head) + unread
    if length <= most:
        return Extract(text=clean)
    return Extract(text=clean[:most], extent=describe_extent("characters", most, length))
