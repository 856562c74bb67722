"""Reader program: takes a web page, and prints its content as Markdown in JSON."""

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
"""If trafilatura finds less than this share of a page's text, it has missed the content."""
_SECONDS = 4.0
"""Seconds of processor time for trafilatura, as part of the reader's limit."""


class _TooSlow(BaseException):
    """Trafilatura's time is up. Not an `Exception`, because trafilatura catches those."""


def read(data: bytes, url: str, charset: str, begin: int, most: int) -> dict[str, object]:
    """Convert a page; return its title, its length and up to `most` characters from `begin` on.

    The result is plain text if trafilatura is not installed, takes too long, or finds next to
    nothing, as in lists of links.
    """
    markup = decode(data, charset)
    title, plain = read_page(markup)
    text = _convert(markup, url) if _HAS_TRAFILATURA else ""
    if len(text) < _LEAST_SHARE * len(plain):
        text = plain
    return {"title": title[:300], "length": len(text), "text": text[begin : begin + most]}


def _convert(markup: str, url: str) -> str:
    # This makes no requests: trafilatura gets the markup, and uses the address to complete links.
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
