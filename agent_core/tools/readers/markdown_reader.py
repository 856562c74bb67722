"""Reader program: a web page in, its content as Markdown out as JSON."""

import json
import signal
import sys
from types import FrameType

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.readers.decoding import decode
from agent_core.tools.readers.limits import LIMITS
from agent_core.tools.readers.markup import read_page

try:
    from trafilatura import extract
except ImportError:  # the extra `web`
    _HAS_TRAFILATURA = False
else:
    _HAS_TRAFILATURA = True

_LEAST_SHARE = 0.1
"""The share of a page's text below which trafilatura has missed its content."""
_SECONDS = 4.0
"""Seconds of the processor for trafilatura, out of those of the whole reader."""


class _TooSlow(BaseException):
    """The time of trafilatura is up. It catches every `Exception` itself."""


def read(data: bytes, url: str, charset: str, begin: int, most: int) -> dict[str, object]:
    """Convert a page; return its title, its length and up to `most` characters from `begin` on.

    The result is the plain text without trafilatura, for pages that it takes too long for, and
    for those in which it finds next to nothing, such as lists of links.
    """
    markup = decode(data, charset)
    title, plain = read_page(markup)
    text = _convert(markup, url) if _HAS_TRAFILATURA else ""
    if len(text) < _LEAST_SHARE * len(plain):
        text = plain
    return {"title": title[:300], "length": len(text), "text": text[begin : begin + most]}


def _convert(markup: str, url: str) -> str:
    # Nothing here fetches: trafilatura gets the markup, and the address only completes links.
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        found = extract(
            markup,
            url=url,
            output_format="markdown",
            include_links=True,
            include_tables=True,
            favor_recall=True,
        )
    except _TooSlow:
        found = None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return (found or "").strip()


def _give_up(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


if __name__ == "__main__":
    confine_reader(LIMITS)
    address, charset, begin, most = sys.argv[1:5]
    reported = read(sys.stdin.buffer.read(), address, charset, int(begin), int(most))
    sys.stdout.write(json.dumps(reported))
