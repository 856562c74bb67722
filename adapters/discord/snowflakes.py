"""Read snowflake ids, and replace mentions by names; without I/O."""

import re
from collections.abc import Mapping, Sequence

from adapters.messages import Mention
from adapters.toolkit.text import Json, join_around_name, plain_name, plain_text, words_in

_LONGEST = 20
"""Digits of the largest 64-bit number (Discord API, snowflakes)."""
_EPOCH = 1_420_070_400_000
"""Unix time in milliseconds at which Discord's snowflakes start."""
_QUOTES_REST = re.compile(r"^>>> ", re.MULTILINE)
_LINE_START = re.compile("^", re.MULTILINE)
_NEUTRAL = {"#": "#channel", "@&": "@role"}
_MARK = re.compile(r"<(?:(?P<kind>@[!&]?|#)(?P<id>\d{1,20})|a?:(?P<emoji>\w+):\d{1,20})>")


def id_in(source: Json, key: str) -> str:
    """Return a snowflake as text. Raises `ValueError`."""
    value = source.get(key)
    if not isinstance(value, str) or not is_snowflake(value):
        raise ValueError(f'"{key}" should be a snowflake')
    return value


def is_snowflake(text: str) -> bool:
    """Return True for a snowflake: at most a signed 64-bit number."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _LONGEST
    return is_number and int(text) < 1 << 63


def number_of(message: object) -> int:
    """Return a message's id as a number that sorts by time, 0 if it is unreadable."""
    found = message.get("id") if isinstance(message, dict) else None
    return int(found) if isinstance(found, str) and is_snowflake(found) else 0


def newest_in(page: Sequence[Json]) -> str:
    """Return the newest id on a page of messages, "0" if none is readable."""
    return str(max(map(number_of, page)))


def time_of(snowflake: str) -> int:
    """Return the creation time of a snowflake, in milliseconds since the epoch, UTC."""
    return (int(snowflake) >> 22) + _EPOCH


def snowflake_at(moment: float) -> int:
    """Return the smallest snowflake of a moment, given in seconds since the epoch."""
    return max(int(moment * 1000) - _EPOCH, 0) << 22


def name_of(user: Json, member: Json | None = None) -> str:
    """Return a user's display name, or their id if no name is readable."""
    own = words_in(member, "nick") if member else ""
    for name in (own, words_in(user, "global_name"), words_in(user, "username")):
        if plain := plain_name(name):
            return plain
    return f"user {user.get('id', 'unknown')}"


def marked_ids(text: str) -> set[str]:
    """Return the ids of roles and channels that a text mentions."""
    return {m["id"] for m in _MARK.finditer(text) if m["kind"] in ("@&", "#")}


def spell(text: str, names: Mapping[str, str], ours: frozenset[str]) -> str:
    """Replace mentions by names, remove those of the bot, and mark each line of a quotation."""
    pieces: list[str] = []
    at = 0
    for mark in _MARK.finditer(text):
        if mark["id"] in ours and mark["kind"] != "#":
            pieces.append(text[at : mark.start()])
            at = mark.end()
    words = join_around_name((*pieces, text[at:]))
    return _mark_rest(plain_text(_MARK.sub(lambda mark: _spell_mark(mark, names), words)).strip())


def list_mentions(text: str, names: Mapping[str, str]) -> tuple[Mention, ...]:
    """List what a text mentions by a name."""
    return tuple(
        Mention(
            shown=plain_text(_spell_mark(mark, names)),
            name=names.get(mark["id"] or "", mark["emoji"] or ""),
            neutral=f"{_NEUTRAL.get(mark['kind'], '@user')} {mark['id']}"
            if mark["id"]
            else ":emoji:",
        )
        for mark in _MARK.finditer(text)
        if mark["emoji"] or mark["id"] in names
    )


def _mark_rest(text: str) -> str:
    """Mark each line after ">>>", which quotes all that follows, as ">" marks one line.

    Within code, the sign has no meaning.
    """
    found = _QUOTES_REST.search(text)
    if found is None or text.count("```", 0, found.start()) % 2:
        return text
    return text[: found.start()] + _LINE_START.sub("> ", text[found.end() :])


def _spell_mark(mark: re.Match[str], names: Mapping[str, str]) -> str:
    if mark["emoji"]:
        return f":{mark['emoji']}:"
    name = names.get(mark["id"])
    if name is None:
        return mark[0]
    return f"#{name}" if mark["kind"] == "#" else f"@{name}"
