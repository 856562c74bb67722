"""The entries of the full-text index: the passages of messages, with tags. Pure.

A long message has one entry for each of its passages. A search thus ranks and shows the place that
answers instead of the whole text.
"""

import json
import re
from datetime import UTC, datetime
from functools import lru_cache

from agent_core.state.tokenizer import UNINDEXED, cut

PLACES = 16
"""The largest number of passages of a message; its entries are the rows from `PLACES` times its id
on. More places make every row number longer, and the index with them.
"""
PASSAGE = 600
"""Characters of a passage."""
_BREAKS = ("\n\n", "\n", ". ", "。", " ")
_DAY_MS = 24 * 3_600_000
_OWNER = re.compile(r"p([0-9]+) c([0-9]+)")
_NO_TAG = re.compile(r"[^a-z0-9]+")


def cut_passages(text: str, length: int) -> list[str]:
    """Split a text into passages of at most `length` characters, at a natural break if the second
    half of a passage has one.
    """
    passages, start, half = [], 0, length // 2
    while len(text) - start > length:
        found = (text.rfind(one, start + half, start + length) + len(one) for one in _BREAKS)
        end = next((one for one in found if one > start + half), start + length)
        passages.append(text[start:end].strip())
        start = end
    return [one for one in (*passages, text[start:].strip()) if one]


def cut_message(text: str) -> list[str]:
    """Split a message into at most `PLACES` passages; those of a very long one are longer."""
    return cut_passages(text, max(PASSAGE, 2 * len(text) // PLACES + 1))


def list_entries(scope: str, role: str, platform: str, created_at: int, text: str) -> list[str]:
    """List the index entries of a message, one a passage; none for a message of a tool.

    `scope` are the tokens of its row, `p<person id> c<conversation id>`; `created_at` is in
    milliseconds since the epoch.
    """
    entries = [
        index_text(scope, role, platform, created_at, passage) for passage in cut_message(text)
    ]
    return [entry for entry in entries if entry is not None]


def dump_entries(scope: str, role: str, platform: str, created_at: int, text: str) -> str:
    """Return `list_entries` as JSON, for migrations."""
    return json.dumps(list_entries(scope, role, platform, created_at, text))


def index_text(scope: str, role: str, platform: str, created_at: int, text: str) -> str | None:
    """Return the index entry of one passage; None for an empty one, or one of a tool.

    Takes what `list_entries` takes. Migration 0003 calls it, too.
    """
    if role not in ("user", "assistant") or not text.strip():
        return None
    begun = _begin(scope, role, platform)
    if begun is None:
        return None
    high, tags = begun
    month = _name_month(created_at // _DAY_MS)
    return high.join(["", *sorted(set(cut(text)) - UNINDEXED)]).lstrip() + tags + month


@lru_cache(maxsize=4096)
def _begin(scope: str, role: str, platform: str) -> tuple[str, str] | None:
    """Return the prefix of every word and all tags up to the month; None for another form of
    scope.
    """
    owner = _OWNER.fullmatch(scope)
    if owner is None:
        return None
    tags = (f"c{owner[2]}", f"r{role[0]}", f"o{plain_name(platform)}", "m")
    return f" p{owner[1]}_", "".join(f" p{owner[1]}__{tag}" for tag in tags)


@lru_cache(maxsize=1024)
def _name_month(day: int) -> str:
    """Return the month of a day since the epoch, as in a tag."""
    return datetime.fromtimestamp(day * _DAY_MS / 1000, UTC).strftime("%Y%m")


def plain_name(platform: str) -> str:
    """Return the name of a platform as in a tag."""
    return _NO_TAG.sub("", platform.lower())
