"""A separate program that reads an Office file or an archive and writes its text as JSON.

It is confined like the reader of PDF files, and unpacks in memory only. It exits with a code other
than 0 if it can't read the file. Run it as a program; don't import it.
"""

import json
import sys
from collections.abc import Iterable, Iterator

from agent_core.execution.subprocesses.confinement import ReaderLimits, confine_reader
from gateway.media.office_formats import find_format, read_rtf
from gateway.media.package_limits import Member, Package, PackageFault, list_tar, list_zip

_LIMITS = ReaderLimits(memory=1_000_000_000, cpu_seconds=30)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_HEAD = 8192
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def read(data: bytes, most: int) -> dict[str, object]:
    """Return at most `most` characters of the text, or the reason why there is no text."""
    try:
        if data.startswith(b"{\\rtf"):
            return _bound([read_rtf(data)], most)
        if not data.startswith(_ZIP):
            return _bound(_describe(list_tar(data)), most)
        package = Package(data)
        read_document = find_format(package)
        pieces = read_document(package) if read_document else _describe(list_zip(package))
        return _bound(pieces, most)
    except PackageFault as fault:
        return {"fault": fault.fault}


def _bound(pieces: Iterable[str], most: int) -> dict[str, object]:
    """Join pieces up to the limit, and merge consecutive empty ones."""
    kept: list[str] = []
    length = 0
    for piece in pieces:
        if piece.strip() or (kept and kept[-1]):
            kept.append(piece.rstrip())
            length += len(kept[-1]) + 1
        if length > most + 1:
            break
    text = "\n".join(kept).strip()
    return {"text": text[:most], "is_cut": len(text) > most}


def _describe(members: list[Member]) -> Iterator[str]:
    """Yield the list of the files in an archive, and then the text of those that have any."""
    texts = [(member, _decode(member.data)) for member in members]
    if any(member.name for member in members):
        yield f"Files: {len(members)}"
        for member, text in texts:
            unread = "" if text is not None else ", not read"
            yield f"- {member.name} ({member.size:,} bytes{unread})"
    for member, text in texts:
        if text:
            if member.name:
                yield f"\n== {member.name} =="
            yield text


def _decode(data: bytes | None) -> str | None:
    """Return the text of a file; None if it is no text, such as another archive."""
    if data is None:
        return None
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if encoding:
        return data.decode(encoding, "replace")
    head = data[:_HEAD]
    if 0 in head or sum(byte < 32 and byte not in b"\t\n\r\f" for byte in head) > len(head) / 100:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


if __name__ == "__main__":
    confine_reader(_LIMITS)
    sys.stdout.write(json.dumps(read(sys.stdin.buffer.read(), int(sys.argv[1]))))
