"""What the index is told about a message: its words and tags, with its person in front."""

import re
from datetime import UTC, datetime
from functools import lru_cache

from agent_core.state.words import UNINDEXED, cut

_DAY_MS = 24 * 3_600_000
_OWNER = re.compile(r"p([0-9]+) c([0-9]+)")
_NO_TAG = re.compile(r"[^a-z0-9]+")


def index_text(scope: str, role: str, platform: str, created_at: int, text: str) -> str | None:
    """The entry of a message; None for one without words, or of a tool, which has none. Pure.

    `scope` are the tokens of its row, `p<person id> c<conversation id>`; `created_at` is in
    milliseconds since the epoch. Migrations call it, too.
    """
    if role not in ("user", "assistant") or not text.strip():
        return None
    begun = _begin(scope, role, platform)
    if begun is None:
        return None
    lead, tags = begun
    month = _name_month(created_at // _DAY_MS)
    return lead.join(["", *sorted(set(cut(text)) - UNINDEXED)]).lstrip() + tags + month


@lru_cache(maxsize=4096)
def _begin(scope: str, role: str, platform: str) -> tuple[str, str] | None:
    """What stands before every word, and all the tags, the last of them up to its month; None
    for a scope of another form.
    """
    owner = _OWNER.fullmatch(scope)
    if owner is None:
        return None
    tags = (f"c{owner[2]}", f"r{role[0]}", f"o{plain_name(platform)}", "m")
    return f" p{owner[1]}_", "".join(f" p{owner[1]}__{tag}" for tag in tags)


@lru_cache(maxsize=1024)
def _name_month(day: int) -> str:
    """The month of a day since the epoch, as a tag holds it."""
    return datetime.fromtimestamp(day * _DAY_MS / 1000, UTC).strftime("%Y%m")


def plain_name(platform: str) -> str:
    """The name of a platform as a tag holds it."""
    return _NO_TAG.sub("", platform.lower())
