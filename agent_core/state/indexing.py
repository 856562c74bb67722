"""What the index is told about a message: its words and tags, with its person in front."""

import re
from datetime import UTC, datetime

from agent_core.state.words import UNINDEXED, cut

_OWNER = re.compile(r"p([0-9]+) c([0-9]+)")
_NO_TAG = re.compile(r"[^a-z0-9]+")


def index_text(scope: str, role: str, platform: str, created_at: int, text: str) -> str | None:
    """The entry of a message; None for one without words, or of a tool, which has none. Pure.

    `scope` are the tokens of its row, `p<person id> c<conversation id>`; `created_at` is in
    milliseconds since the epoch. Migrations call it, too.
    """
    owner = _OWNER.fullmatch(scope)
    if owner is None or role not in ("user", "assistant") or not text.strip():
        return None
    lead = f"p{owner[1]}_"
    words = sorted(set(cut(text)) - UNINDEXED)
    month = datetime.fromtimestamp(created_at / 1000, UTC).strftime("%Y%m")
    tags = (f"c{owner[2]}", f"r{role[0]}", f"o{plain_name(platform)}", f"m{month}")
    return " ".join([lead + word for word in words] + [f"{lead}_{tag}" for tag in tags])


def plain_name(platform: str) -> str:
    """The name of a platform as a tag holds it."""
    return _NO_TAG.sub("", platform.lower())
