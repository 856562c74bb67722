"""The words of a message as its entities mark them: mentions of bots, and commands. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.messages import Mention
from adapters.toolkit.text import Json, count_units, join_around_name, number_in, part, plain_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text without the bot's name, and whether it names this bot or another one."""

    text: str
    is_named: bool = False
    is_for_another_bot: bool = False
    mentions: tuple[Mention, ...] = ()


def read_words(text: str, entities: Sequence[Json], *, user_id: int, username: str) -> Words:
    """Remove the bot's name from a text, find whom the text names, and mark quotations.

    Clients send a quotation or a block of code without its signs, so that it would look like the
    sender's own words. `username` is the bot's, without the @. Raises `ValueError`.
    """
    ours = f"@{username.lower()}"
    is_named = is_for_another = False
    cuts: list[tuple[int, int]] = []
    marks: list[tuple[int, str]] = []
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
                marks += [(start, "```\n"), (start + length, "\n```")]
    return Words(
        text=_cut(text, cuts, marks),
        is_named=is_named,
        is_for_another_bot=is_for_another,
        mentions=tuple(mentions),
    )


def _mention(shown: str, user: Json) -> Mention:
    return Mention(shown=plain_text(shown), name=shown, neutral=f"@user {user.get('id', '')}")


def _slice(text: str, start: int, length: int) -> str:
    """Return a slice of a text by UTF-16 units, as Telegram's entities measure it."""
    if start < 0 or length < 0:
        raise ValueError("an entity with a negative place")
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def _mark_lines(text: str, start: int, length: int) -> list[tuple[int, str]]:
    """Return a mark for each line of a quotation, with its place in UTF-16 units."""
    marks: list[tuple[int, str]] = []
    for line in _slice(text, start, length).splitlines(keepends=True):
        marks.append((start, "> "))
        start += count_units(line)
    return marks


def _cut(text: str, stretches: Sequence[tuple[int, int]], marks: Sequence[tuple[int, str]]) -> str:
    """Remove slices together with the gaps they leave, and insert marks; places are UTF-16 units.

    A mark within a slice is left out.
    """
    if not (stretches or marks):
        return plain_text(text)
    units = text.encode("utf-16-le", "surrogatepass")
    kept = [""]
    at = 0
    edits = [
        *((start, length, "") for start, length in stretches),
        *((at, 0, m) for at, m in marks),
    ]
    for start, length, mark in sorted(edits):
        kept[-1] += units[2 * at : 2 * start].decode("utf-16-le", "surrogatepass")
        if length:
            kept.append("")
        elif start >= at:
            kept[-1] += mark
        at = max(at, start + length)
    kept[-1] += units[2 * at :].decode("utf-16-le", "surrogatepass")
    return plain_text(join_around_name(kept)).strip()
