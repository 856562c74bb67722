"""Reads what Telegram says of names and places in a text: entities count in UTF-16 units; pure."""

from collections.abc import Sequence

from adapters.letters import plain_name, plain_text
from adapters.mentions import join_around_name
from adapters.untrusted import Json, words_in


def name_of(author: Json) -> str:
    """What a user or chat calls itself, or its number if that leaves nothing to read."""
    own = words_in(author, "first_name") + " " + words_in(author, "last_name")
    return (
        plain_name(own)
        or plain_name(words_in(author, "title"))
        or f"user {author.get('id', 'unknown')}"
    )


def slice_of(text: str, start: int, length: int) -> str:
    """A stretch of text by UTF-16 units, as Telegram's entities name it."""
    if start < 0 or length < 0:
        raise ValueError("an entity with a negative place")
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def cut(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    """The text without stretches given in UTF-16 units, and without the gaps they leave."""
    if not stretches:
        return plain_text(text)
    units = text.encode("utf-16-le", "surrogatepass")
    kept: list[str] = []
    at = 0
    for start, length in sorted(stretches):
        kept.append(units[2 * at : 2 * start].decode("utf-16-le", "surrogatepass"))
        at = max(at, start + length)
    kept.append(units[2 * at :].decode("utf-16-le", "surrogatepass"))
    return plain_text(join_around_name(kept)).strip()
