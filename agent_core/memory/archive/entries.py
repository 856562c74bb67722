"""The canonical form of archive entries: text, tags, short ids, and their ledger format."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.errors import ToolArgumentError
from agent_core.ids import ArchiveId
from agent_core.memory.files import find_flaw
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import flatten

LONGEST = 8000
"""Characters of one entry, about as much as a model writes in one call."""
MOST_TAGS = 10
LONGEST_TAG = 40
"""Characters of one tag."""

_GAPS = re.compile(r"\n{3,}")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ENTRY = re.compile(r"\[([^\]]*)\] (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveContent:
    """The text and tags of an entry."""

    text: str
    tags: tuple[str, ...]


def read_text(text: str) -> str:
    """Normalise and check the text of an entry.

    Raises `ToolArgumentError` with a sentence for the model.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    tidy = _GAPS.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()
    if not tidy:
        raise ToolArgumentError("`text` is empty: write the text to keep")
    if flaw := find_flaw(tidy):
        raise ToolArgumentError(f"the text can't be kept: {flaw}")
    if secret := find_secret(tidy):
        raise ToolArgumentError(f"the text can't be kept: it contains {secret}; remove that")
    if len(tidy) > LONGEST:
        raise ToolArgumentError(
            f"the text has {len(tidy):,} characters, and the limit is {LONGEST:,}: keep it"
            " as several entries"
        )
    return tidy


def read_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Normalise tags: lower case, sorted, unique, with hyphens for other characters.

    Raises `ToolArgumentError` for too many tags or an invalid one.
    """
    found = {_read_tag(tag) for tag in tags}
    if len(found) > MOST_TAGS:
        raise ToolArgumentError(f"{len(found)} tags are too many: at most {MOST_TAGS}")
    return tuple(sorted(found))


def write_entry(content: ArchiveContent) -> str:
    """Format an entry for the ledger: the tags in brackets, then the text."""
    return f"[{', '.join(content.tags)}] {content.text}"


def read_entry(written: str) -> ArchiveContent | None:
    """Parse the result of `write_entry`; None for any other text."""
    match = _ENTRY.fullmatch(written)
    if match is None:
        return None
    tags = tuple(match[1].split(", ")) if match[1] else ()
    return ArchiveContent(text=match[2], tags=tags)


def format_archive_entry(written: str | None) -> str | None:
    """Format a ledger entry for people: the text, then its tags in parentheses."""
    content = read_entry(written) if written is not None else None
    if content is None:
        return written
    return f"{content.text} ({', '.join(content.tags)})" if content.tags else content.text


def format_archive_id(archive_id: ArchiveId) -> str:
    """Format the id of an entry in base 36."""
    letters, rest = "", int(archive_id)
    while rest:
        rest, digit = divmod(rest, len(_DIGITS))
        letters = _DIGITS[digit] + letters
    return letters


def parse_id(name: str) -> ArchiveId | None:
    """Parse the result of `format_archive_id`; None if invalid."""
    plain = name.strip().strip("[]#`").lower()
    if not 0 < len(plain) <= 12 or not set(plain) <= set(_DIGITS):
        return None
    return ArchiveId(int(plain, len(_DIGITS)))


def _read_tag(tag: str) -> str:
    if secret := find_secret(tag):
        raise ToolArgumentError(f"a tag can't be kept: it contains {secret}; remove that")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", tag).casefold())
    marks = "".join(one if unicodedata.category(one)[0] in "LNM" else " " for one in folded)
    plain = "-".join(marks.split())
    if not plain or len(plain) > LONGEST_TAG:
        raise ToolArgumentError(
            f"`{flatten(tag, LONGEST_TAG)}` is not a valid tag: use letters and digits, at most"
            f" {LONGEST_TAG}"
        )
    return plain
