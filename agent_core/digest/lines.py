"""Lines of what was gathered: quoted, since others wrote it, and no more than there is room for."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from agent_core.tools.quoting import is_hidden

_LONGEST_LINK = 500


def fit(head: str, lines: Sequence[str], room: int) -> str:
    """A head and as many lines as there is room for, and how many are left out. Pure."""
    kept = [head]
    room -= len(head) + 40
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"… {len(lines) - number} more do not fit here."])
        kept.append(line)
    return "\n".join(kept)


def count(number: int, noun: str) -> str:
    """`1 event`, `2 events`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_link(url: str) -> str:
    """A link from outside as it may stand in a line, with a space before; "" if it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    if not is_plain or len(url) > _LONGEST_LINK:
        return ""
    if any(sign.isspace() or is_hidden(sign) or sign in '<>"\\`' for sign in url):
        return ""
    return f" {url}"
