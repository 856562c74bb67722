"""The words of a message as its entities mark them: mentions, commands, links. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.messages import Mention
from adapters.toolkit.text import (
    Json,
    count_units,
    join_around_name,
    number_in,
    part,
    plain_text,
    words_in,
)

_CLOSES, _OPENS_LINE, _OPENS = range(3)
"""The order of marks at one place: first what ends there, then what stands around the rest."""
_Mark = tuple[int, int, str]
"""A place in UTF-16 units, the order at that place, and the mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text without the bot's name, and whether it names this bot or another one."""

    text: str
    is_named: bool = False
    is_for_another_bot: bool = False
    mentions: tuple[Mention, ...] = ()


def read_words(text: str, entities: Sequence[Json], *, user_id: int, username: str) -> Words:
    """Remove the bot's name from a text, find whom the text names, and mark quotations and links.

    Clients send a quotation or a block of code without its signs, so that it would look like the
    sender's own words. The address of a link stands in its entity only. `username` is the bot's,
    without the @. Raises `ValueError`.
    """
    ours = f"@{username.lower()}"
    is_named = is_for_another = False
    cuts: list[tuple[int, int]] = []
    marks: list[_Mark] = []
    mentions: list[Mention] = []
    # What follows a command on its line must stay as it is.
    command = count_units(text.partition("\n")[0]) if text.startswith("/") else -1
    for entity in entities:
        start, length = number_in(entity, "offset"), number_in(entity, "length")
        shown = _slice(text, start, length)
        words = shown.lower()
        match entity.get("type"):
            case "mention" if words == ours:
                is_named = True
                cuts.append((start, length))
            case "text_mention" if (part(entity, "user") or {}).get("id") == user_id:
                is_named = True
                cuts.append((start, length))
            case "text_mention":  # the app writes the name of somebody without a username
                mentions.append(_mention(shown, part(entity, "user") or {}))
            case "bot_command" if "@" not in words:
                is_named = True
            case "bot_command" if words.endswith(ours):
                is_named = True
                cuts.append((start + length - len(ours), len(ours)))
            case "bot_command" if start == 0:
                is_for_another = True
            case "blockquote" | "expandable_blockquote" if start > command:
                marks += _mark_lines(text, start, length)
            case "pre" if start > command:
                marks += [
                    (start, _OPENS_LINE, "```\n"),
                    (start + length, _CLOSES, "\n```"),
                ]
            case "text_link" if start > 0 or not text.startswith("/"):
                marks += _mark_link(shown, start, entity)
    return Words(
        text=_cut(text, cuts, marks),
        is_named=is_named,
        is_for_another_bot=is_for_another,
        mentions=tuple(mentions),
    )


def read_linked(text: str, entities: Sequence[Json]) -> str:
    """Return a quoted text with the addresses of its links. Raises `ValueError`."""
    marks: list[_Mark] = []
    for entity in entities:
        if entity.get("type") == "text_link":
            start = number_in(entity, "offset")
            shown = _slice(text, start, number_in(entity, "length"))
            marks += _mark_link(shown, start, entity)
    return _cut(text, (), marks)


def _mark_link(shown: str, start: int, entity: Json) -> list[_Mark]:
    """Return the marks of a Markdown link; none if its words are the address."""
    address = "".join(words_in(entity, "url").split())
    words = shown.strip()
    if not address or _bare(words) == _bare(address):
        return []
    if address.count("(") != address.count(")"):
        address = f"<{address}>"
    start += count_units(shown) - count_units(shown.lstrip()) if words else 0
    end = start + count_units(words or shown)
    return [(start, _OPENS, "["), (end, _CLOSES, f"]({address})")]


def _bare(address: str) -> str:
    """Return an address without what clients leave out when they show it."""
    return address.lower().removeprefix("http://").removeprefix("https://").rstrip("/")


def _mention(shown: str, user: Json) -> Mention:
    return Mention(shown=plain_text(shown), name=shown, neutral=f"@user {user.get('id', '')}")


def _slice(text: str, start: int, length: int) -> str:
    """Return a slice of a text by UTF-16 units, as Telegram's entities measure it."""
    if start < 0 or length < 0:
        raise ValueError("an entity with a negative place")
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def _mark_lines(text: str, start: int, length: int) -> list[_Mark]:
    """Return a mark for each line of a quotation."""
    marks: list[_Mark] = []
    for line in _slice(text, start, length).splitlines(keepends=True):
        marks.append((start, _OPENS_LINE, "> "))
        start += count_units(line)
    return marks


def _cut(text: str, stretches: Sequence[tuple[int, int]], marks: Sequence[_Mark]) -> str:
    """Remove slices together with the gaps they leave, and insert marks; places are UTF-16 units.

    A mark within a slice is left out.
    """
    if not (stretches or marks):
        return plain_text(text)
    units = text.encode("utf-16-le", "surrogatepass")
    kept = [""]
    at = 0
    edits = [
        *((start, length, 0, "") for start, length in stretches),
        *((place, 0, order, mark) for place, order, mark in marks),
    ]
    for start, length, _, mark in sorted(edits):
        kept[-1] += units[2 * at : 2 * start].decode("utf-16-le", "surrogatepass")
        if length:
            kept.append("")
        elif start >= at:
            kept[-1] += mark
        at = max(at, start + length)
    kept[-1] += units[2 * at :].decode("utf-16-le", "surrogatepass")
    return plain_text(join_around_name(kept)).strip()
