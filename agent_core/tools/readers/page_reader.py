"""Reader program: takes a web page, and prints its readable text as JSON."""

import json
import sys

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.readers.decoding import decode
from agent_core.tools.readers.limits import LIMITS
from agent_core.tools.readers.markup import read_page


def read(data: bytes, media_type: str, most: int) -> dict[str, str]:
    """Extract the title and up to `most` characters of text. Raises `ValueError` without text."""
    text = decode(data)
    title = ""
    if "html" in media_type or "xml" in media_type or not media_type:
        title, text = read_page(text)
    if not text.strip():
        raise ValueError("it contains no text")
    return {"title": title[:300], "text": text.strip()[:most]}


if __name__ == "__main__":
    confine_reader(LIMITS)
    reported = read(sys.stdin.buffer.read(), sys.argv[1], int(sys.argv[2]))
    sys.stdout.write(json.dumps(reported))
