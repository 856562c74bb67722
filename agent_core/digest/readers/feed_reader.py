"""Reader program: an RSS or Atom feed in, its newest entries out as JSON."""

import calendar
import io
import json
import sys
from collections.abc import Mapping

import feedparser

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.readers.limits import LIMITS
from agent_core.tools.readers.markup import strip

_LONGEST_TITLE = 300
_LONGEST_TEXT = 600
_LONGEST_MARKUP = 20_000
_LAST_YEAR = 9998
"""An entry with a later date, as pinned entries have, counts as undated: such a date may not exist
in every time zone."""


def read(data: bytes, url: str, since: int, most: int) -> dict[str, object]:
    """Read the feed's title and its entries since a moment (milliseconds), newest first.

    Entries without a date come last, because they may be new. Raises `ValueError` if the data
    is not a feed.
    """
    feed = feedparser.parse(io.BytesIO(data), response_headers={"content-location": url})
    if not feed.version and not feed.entries:
        raise ValueError("it is not a feed")
    entries = [_read_entry(entry) for entry in feed.entries]
    new = [entry for entry in entries if entry["at"] is None or _moment(entry) >= since]
    new.sort(key=lambda entry: -_moment(entry))
    title = strip(str(feed.feed.get("title", "")))[:_LONGEST_TITLE]
    return {"title": title, "entries": new[:most], "count": len(new)}


def _moment(entry: Mapping[str, object]) -> int:
    at = entry["at"]
    return at if isinstance(at, int) else 0


def _read_entry(entry: feedparser.FeedParserDict) -> dict[str, object]:
    at = entry.get("published_parsed") or entry.get("updated_parsed")
    at = at if at and 1 < at.tm_year <= _LAST_YEAR else None
    text = entry.get("summary") or next(
        (str(part.get("value", "")) for part in entry.get("content", ())), ""
    )
    return {
        "title": strip(str(entry.get("title", "")))[:_LONGEST_TITLE],
        "link": str(entry.get("link", "")),
        "id": str(entry.get("id", ""))[:_LONGEST_TITLE],
        "at": calendar.timegm(at) * 1000 if at else None,
        "text": strip(str(text)[:_LONGEST_MARKUP])[:_LONGEST_TEXT],
    }


if __name__ == "__main__":
    confine_reader(LIMITS)
    reported = read(sys.stdin.buffer.read(), sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(reported))
