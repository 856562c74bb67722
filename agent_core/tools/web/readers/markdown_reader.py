"""Reader program: a web page in, its content as Markdown out as JSON."""

import json
import sys

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.web.readers.decoding import decode
from agent_core.tools.web.readers.limits import LIMITS
from agent_core.tools.web.readers.markup import read_page

try:
    from trafilatura import extract
except ImportError:  # the extra `web`
    _HAS_TRAFILATURA = False
else:
    _HAS_TRAFILATURA = True

_LEAST_SHARE = 0.1
"""The share of a page's text below which trafilatura has missed its content."""


def read(data: bytes, url: str, charset: str, begin: int, most: int) -> dict[str, object]:
    """Convert a page; return its title, its length and up to `most` characters from `begin` on.

    Without trafilatura, and for pages in which it finds next to nothing, such as lists of links,
    the result is the plain text.
    """
    markup = decode(data, charset)
    title, plain = read_page(markup)
    text = _convert(markup, url) if _HAS_TRAFILATURA else ""
    if len(text) < _LEAST_SHARE * len(plain):
        text = plain
    return {"title": title[:300], "length": len(text), "text": text[begin : begin + most]}


def _convert(markup: str, url: str) -> str:
    # Nothing here fetches: trafilatura gets the markup, and the address only completes links.
    found = extract(
        markup,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        favor_recall=True,
    )
    return (found or "").strip()


if __name__ == "__main__":
    confine_reader(LIMITS)
    address, charset, begin, most = sys.argv[1:5]
    reported = read(sys.stdin.buffer.read(), address, charset, int(begin), int(most))
    sys.stdout.write(json.dumps(reported))
