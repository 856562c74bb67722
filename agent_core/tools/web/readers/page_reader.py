"""Reader program: a web page in, its readable text out as JSON."""

import json
import re
import sys

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.web.readers.limits import LIMITS
from agent_core.tools.web.readers.markup import read_page

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_-]{2,40})", re.IGNORECASE)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def read(data: bytes, media_type: str, most: int) -> dict[str, str]:
    """Extract the title and up to `most` characters of text. Raises `ValueError` without any."""
    text = decode(data)
    title = ""
    if "html" in media_type or "xml" in media_type or not media_type:
        title, text = read_page(text)
    if not text.strip():
        raise ValueError("it contains no text")
    return {"title": title[:300], "text": text.strip()[:most]}


def decode(data: bytes) -> str:
    """Decode a page by its byte-order mark, its declared charset, or trial."""
    named = _CHARSET.search(data[:4096])
    names = [name for mark, name in _MARKS if data.startswith(mark)]
    names += [named[1].decode("ascii")] if named else []
    for name in (*names, "utf-8"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("cp1252", "replace")


if __name__ == "__main__":
    confine_reader(LIMITS)
    reported = read(sys.stdin.buffer.read(), sys.argv[1], int(sys.argv[2]))
    sys.stdout.write(json.dumps(reported))
