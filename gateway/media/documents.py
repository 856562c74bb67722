"""Text extraction from documents: text files here, all others in separate processes."""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import spawn
from agent_core.transcript import strip_controls
from gateway.texts.attachments import FAULTS, Fault, describe_extent

_PIECE = 65_536
_MOST_COMPLAINT = 2000
_REAP_SECONDS = 5.0

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The exit code of a program, its output, and the beginning of its error output."""

    code: int
    output: bytes
    complaint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits: `seconds` in all, and `most_bytes` of output; the rest is discarded."""

    seconds: float
    most_bytes: int


async def run(
    argv: Sequence[str],
    bounds: Bounds,
    *,
    data: bytes = b"",
    environ: Mapping[str, str],
    folder: Path | None = None,
) -> Finished:
    """Run a program without a shell. `data` is its input, and `environ` its whole environment.

    Raises `TimeoutError`, and `OSError` if it can't be started. Its process group is always killed
    at the end.
    """
    process = await spawn(argv, _end, environ=environ, folder=folder)
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None  # noqa: S101 - all three are pipes
    assert stdout is not None  # noqa: S101
    assert stderr is not None  # noqa: S101
    is_done = False
    try:
        async with asyncio.timeout(bounds.seconds):
            _, output, complaint, code = await asyncio.gather(
                _feed(stdin, data),
                _listen(stdout, bounds.most_bytes),
                _listen(stderr, _MOST_COMPLAINT),
                process.wait(),
            )
        is_done = True
    finally:
        if not is_done:
            await _end(process)
    return Finished(code=code, output=output, complaint=complaint.decode(errors="replace").strip())


async def _feed(stdin: asyncio.StreamWriter, data: bytes) -> None:
    # A program may end before it has read all its input.
    with suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(data)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()


async def _listen(stream: asyncio.StreamReader, most: int) -> bytes:
    """Read a stream to its end, and return its first bytes."""
    kept = bytearray()
    while piece := await stream.read(_PIECE):
        kept += piece[: most - len(kept)]
    return bytes(kept)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the program and its children: they form a process group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(_REAP_SECONDS):
            await process.wait()


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
        done = await run(
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
